#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check_parquet.py BUILD [duckdb|pyarrow]: Parquet files by DuckDB (from npm) or by pyarrow (which python3 has), of all types,
compressions and versions that it writes, must be counted as the CSV file is that they were made of."""
import csv
import pathlib
import random
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ROWS = 10000
# Column, DuckDB's type, and texts as Cellar writes them; "" is missing.
COLUMNS = {
    "truth": ("BOOLEAN", ["true", "false", ""]),
    "i8": ("TINYINT", [str(i) for i in range(-128, 128, 5)]),
    "i16": ("SMALLINT", ["-32768", "0", "7", "32767", ""]),
    "i32": ("INTEGER", [str(i * 1000003) for i in range(-2000, 2000, 13)]),
    "i64": ("BIGINT", ["-9223372036854775808", "1", "9223372036854775807", ""]),
    "u8": ("UTINYINT", ["0", "255"]),
    "u16": ("USMALLINT", ["0", "65535", ""]),
    "u32": ("UINTEGER", ["0", "4294967295"]),
    "u64": ("UBIGINT", ["0", "18446744073709551615", ""]),
    "f32": ("FLOAT", ["0.1", "-2.5", "3", "1e-9", ""]),
    "f64": ("DOUBLE", ["0.1", "-2.5", "3", "0.30000000000000004", "1e-9", ""]),
    "d4": ("DECIMAL(4, 2)", ["0.5", "-12.34", "7", ""]),
    "d9": ("DECIMAL(9, 3)", ["0.125", "-123456.5", "7"]),
    "d18": ("DECIMAL(18, 1)", ["0.1", "-99999999999999999.9", ""]),
    "d38": ("DECIMAL(38, 10)", ["0.0000000001", "-1234567890123456789012345678.5", ""]),
    "word": ("VARCHAR", [f"Wort {i} äöü, \"q\"" for i in range(700)] + ["", "ä" * 30000]),
    "bytes": ("BLOB", ["plain", "text", ""]),
    "choice": ("ENUM('no', 'perhaps', 'yes')", ["no", "perhaps", "yes", ""]),
    "day": ("DATE", ["1969-12-31", "2026-07-01", "0001-01-01", ""]),
    "clock": ("TIME", ["00:00:00", "23:59:59.999999", "12:30:00", ""]),
    "stamp": ("TIMESTAMP", ["1969-12-31 23:59:59", "2026-07-01 12:30:00.25", ""]),
    "stamp_s": ("TIMESTAMP_S", ["2026-07-01 12:30:00", ""]),
    "stamp_ms": ("TIMESTAMP_MS", ["2026-07-01 12:30:00.125", ""]),
    "stamp_ns": ("TIMESTAMP_NS", ["2026-07-01 12:30:00.123456789", ""]),
    "stamp_tz": ("TIMESTAMPTZ", ["2026-07-01 12:30:00", ""]),
}


def count(cellar, file, column):
    """Its categories with their counts; of a file without rows, why it has none."""
    out = file.parent / "counted.csv"
    done = subprocess.run([cellar, "tabulate", file, "--by", column, "--missing-as", "level", "-o", out, "--force"],
                          check=False, capture_output=True, text=True)
    if done.returncode != 0:
        return {"refused": done.stderr.replace(str(file), "FILE")}
    with open(out, newline="", encoding="utf-8") as lines:
        return {row[0]: row[-1] for row in list(csv.reader(lines))[1:]}


def make_texts(folder):
    """texts.csv, and empty.csv with its header alone."""
    draw = random.Random(28)
    (folder / "empty.csv").write_text(",".join(COLUMNS) + "\n")
    with open(folder / "texts.csv", "w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(COLUMNS)
        for _ in range(ROWS):
            rows.writerow(draw.choice(texts) for _, texts in COLUMNS.values())


def install_duckdb(folder):
    if shutil.which("npm") is None or shutil.which("node") is None:
        sys.exit("npm and node are not installed")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "duckdb" / name, folder / name)
    # Not `npm ci`: it wants the bindings for every system in the lock file.
    if subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=folder).returncode != 0:
        sys.exit("npm could not install DuckDB")
    shutil.copy(HERE / "write_parquet.mjs", folder)
    return ["node", "write_parquet.mjs"]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    by = sys.argv[2] if len(sys.argv) > 2 else "duckdb"
    folder = build / f"interop-parquet-{by}"
    folder.mkdir(exist_ok=True, mode=0o755)
    command = install_duckdb(folder) if by == "duckdb" else [sys.executable, HERE / "write_parquet.py"]
    make_texts(folder)
    types = [f"{name}={kind}" for name, (kind, _) in COLUMNS.items()]
    # A file, and the columns that it lacks.
    files = [line.split() for line in subprocess.run([*command, folder, *types], cwd=folder, check=True, text=True,
                                                     stdout=subprocess.PIPE).stdout.splitlines()]
    wanted = {name: {column: count(build / "cellar", folder / f"{name}.csv", column) for column in COLUMNS}
              for name in ("texts", "empty")}
    n_compared = 0
    for file, *lacks in files:
        for column in COLUMNS.keys() - lacks:
            found = count(build / "cellar", pathlib.Path(file), column)
            expected = wanted["empty" if pathlib.Path(file).stem == "empty" else "texts"][column]
            if found != expected:
                differ = [(text, found.get(text), expected.get(text)) for text in found.keys() | expected.keys()
                          if found.get(text) != expected.get(text)]
                sys.exit(f"{file}: column {column}: category, found, expected: {differ[:3]}")
            n_compared += 1
    print(f"{by}: {len(files)} files of {len(COLUMNS)} columns, {n_compared} tables: counted as their CSV file")


if __name__ == "__main__":
    main()
