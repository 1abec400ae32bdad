#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the same records from a CSV file and from a Parquet file, in turn, and prints the processor time of each (the
median of five, which other work on the machine disturbs little) and their ratio. The tables must be the same.

usage: bench/parquet.py CELLAR CSV PARQUET
"""
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

RUNS = 5


def count(cellar, file, columns, out):
    """Processor seconds; a new process each time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([cellar, "tabulate", file, "--by", columns, "-o", out, "--force"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(cellar, *files):
    with open(files[0], encoding="utf-8") as lines:
        columns = lines.readline().strip()
    with tempfile.TemporaryDirectory() as folder:
        out = [pathlib.Path(folder, name) for name in ("csv.csv", "parquet.csv")]
        times = [[count(cellar, file, columns, path) for file, path in zip(files, out)] for _ in range(RUNS)]
        tables = [sorted(path.read_text(encoding="utf-8").splitlines()) for path in out]
    if tables[0] != tables[1]:
        sys.exit("the tables differ")
    csv, parquet = (statistics.median(column) for column in zip(*times))
    print(f"  {len(tables[0]) - 1} cells; processor seconds: CSV {csv:.3f}, Parquet {parquet:.3f}: {csv / parquet:.2f} x faster")


if __name__ == "__main__":
    main(*sys.argv[1:])
