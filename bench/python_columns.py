#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts 8.2 million rows of five columns from a CSV file and from pandas Categoricals in memory, in one run with two
threads, and prints the best of three of each on the wall and of the processor, their ratios, and the memory that counting
took beyond the data.

usage: PYTHONPATH=build/dev/python bench/python_columns.py [ROWS]
"""
import os
import pathlib
import sys
import tempfile
import time

import numpy
import pandas

import cellar

BLOCK = 82_000
LEVELS = {"region": 16, "sex": 2, "age": 21, "work": 5, "household": 7}
CODES = {name: [f"{name}{i:02d}" for i in range(n)] for name, n in LEVELS.items()}


def memory_kib(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))


def best(count):
    walls, processors = [], []
    for _ in range(3):
        wall, processor = time.monotonic(), time.process_time()
        table = count()
        walls.append(time.monotonic() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors), table.true_counts()


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100 * BLOCK
    rng = numpy.random.default_rng(1)
    block = {name: rng.integers(0, n, BLOCK, dtype="i1") for name, n in LEVELS.items()}
    frame = pandas.DataFrame({name: pandas.Categorical.from_codes(numpy.tile(codes, rows // BLOCK), CODES[name])
                              for name, codes in block.items()})
    how = {"by": list(LEVELS), "codelists": CODES, "threads": 2}
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = memory_kib("VmRSS")
    in_memory, in_memory_processor, counts = best(lambda: cellar.tabulate(frame, **how))
    beyond = (memory_kib("VmHWM") - before) / 1024
    text = frame[:BLOCK].to_csv(index=False).encode()
    head, body = text.split(b"\n", 1)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/dev/shm")) as folder:
        path = pathlib.Path(folder) / "rows.csv"
        with open(path, "wb") as file:
            file.write(head + b"\n")
            for _ in range(rows // BLOCK):
                file.write(body)
        from_file, from_file_processor, same = best(lambda: cellar.tabulate(path, **how))
    if same != counts:
        sys.exit("the two tables differ")
    print(f"{len(frame)} rows: Categoricals {in_memory:.3f} s, CSV {from_file:.3f} s ({from_file / in_memory:.1f}x); of the "
          f"processor {in_memory_processor:.3f} s, {from_file_processor:.3f} s ({from_file_processor / in_memory_processor:.1f}x); "
          f"{beyond:.0f} MiB beyond the data")


if __name__ == "__main__":
    main()
