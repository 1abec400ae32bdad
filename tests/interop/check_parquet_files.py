#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check_parquet_files.py BUILD FOLDER: in the Parquet files of other people under FOLDER (those of Apache's
parquet-testing) every column that is counted must be counted as pyarrow reads it. Prints for each file what was
equal and why the others were refused, and what pyarrow says of those."""
import collections
import csv
import datetime
import fractions
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet


def count(cellar, file, column, out):
    """Categories with their counts, or why they are refused."""
    done = subprocess.run([cellar, "tabulate", file, "--by", column, "--missing-as", "level", "--count", "none", "-o", out,
                           "--force"], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode not in (0, 1, 2):
        sys.exit(f"{file}: {column}: ended with {done.returncode}: {done.stderr}")
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1].replace(str(file), file.name)
    with open(out, newline="", encoding="utf-8") as lines:
        rows = list(csv.reader(lines))[1:]
    return {row[0]: int(row[-1]) for row in rows}, None


def ticks(text, unit):
    """A time or a time stamp as a whole number of units since midnight or 1970."""
    found = re.fullmatch(r"(?:(-?\d+)-(\d\d)-(\d\d) )?(\d\d):(\d\d):(\d\d)(?:\.(\d+))?", text)
    year, month, day = map(int, found.group(1, 2, 3)) if found[1] else (1970, 1, 1)
    turns = (year - 1) // 400  # Python's years end with 9999, and its calendar repeats after 400
    days = datetime.date(year - 400 * turns, month, day).toordinal() - datetime.date(1970, 1, 1).toordinal() + 146097 * turns
    parts = fractions.Fraction(int(found[7] or 0), 10 ** len(found[7] or ""))
    seconds = 86400 * days + 3600 * int(found[4]) + 60 * int(found[5]) + int(found[6])
    return math.floor((seconds + parts) * {"s": 1, "ms": 10 ** 3, "us": 10 ** 6, "ns": 10 ** 9}[unit])


def read_texts(texts, kind):
    """The values that these texts are in a column of this type."""
    if pa.types.is_time(kind) or pa.types.is_timestamp(kind):
        return [ticks(text, kind.unit) for text in texts]
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return [text.encode() for text in texts]
    return pa.compute.cast(pa.array(texts, type=pa.string()), kind).to_pylist()


def same(found, values):
    """Whether the categories are the texts of these values."""
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_time(kind) or pa.types.is_timestamp(kind):
        values = values.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    wanted, found = collections.Counter(values.to_pylist()), dict(found)
    missing = wanted.pop(None, 0) + wanted.pop("", 0) + wanted.pop(b"", 0)
    if missing != (found.pop("missing", 0) if missing else 0):
        return False
    nans = sum(n for value, n in wanted.items() if value != value)
    if nans != (found.pop("nan", 0) if nans else 0):
        return False
    wanted = {value: n for value, n in wanted.items() if value == value}
    read = collections.Counter()
    for value, n in zip(read_texts(list(found), kind) if found else [], found.values()):
        read[value] += n
    return read == wanted


def check(cellar, file, scratch):
    """How many columns are equal, why others are refused here or by pyarrow, and which differ."""
    equal, refused, differ = 0, collections.defaultdict(list), []
    try:
        schema = pa.parquet.read_schema(file)
        names = schema.names
    except (pa.ArrowException, OSError) as error:
        names, said = ["x"], str(error).splitlines()[0]
        _, why = count(cellar, file, names[0], scratch)
        return 0, {f"{why}; pyarrow: {said[:100]}": ["the file"]}, [] if why else ["the file is read"]
    for name in names:
        found, why = count(cellar, file, name, scratch)
        try:
            # Days far from 1970 do not fit into billionths of a second.
            values = pa.parquet.read_table(file, columns=[name], coerce_int96_timestamp_unit="us").column(name).combine_chunks()
            if isinstance(values, pa.ChunkedArray):
                values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], type=values.type)
            said = str(values.type)
        except (pa.ArrowException, OSError, KeyError) as error:
            values, said = None, "refused: " + str(error).splitlines()[0][:100]
        if why is not None:
            refused[f"{why.replace(repr(name), 'C')}; pyarrow: {said}"].append(name)
        elif values is None:
            refused[f"counted here; pyarrow {said}"].append(name)
        elif same(found, values):
            equal += 1
        else:
            differ.append(f"{name}: {dict(list(found.items())[:3])}, pyarrow: {values[:5].to_string()}")
    return equal, refused, differ


def main():
    cellar, folder = pathlib.Path(sys.argv[1]).resolve() / "cellar", pathlib.Path(sys.argv[2])
    files = sorted(folder.rglob("*.parquet*"))
    totals, n_wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as scratch:
        for file in files:
            equal, refused, differ = check(cellar, file, pathlib.Path(scratch) / "counted.csv")
            totals.update(equal=equal, refused=sum(map(len, refused.values())), differ=len(differ))
            n_wrong += bool(differ)
            print(f"{file.relative_to(folder)}: {equal} equal" + "".join(f"\n    differs: {what}" for what in differ) +
                  "".join(f"\n    refused: {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}: {why}"
                          for why, names in refused.items()))
    print(f"{len(files)} files; columns: {totals['equal']} equal, {totals['refused']} refused, {totals['differ']} differ")
    return 1 if n_wrong or not totals["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
