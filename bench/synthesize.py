#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a CSV of people to a CSV of synthetic people: count, protect by Poisson synthesis, write records.

usage: synthesize.py PROGRAM FILE

Works in the folder of FILE. Beside it numpy, where it is installed, with fast and insecure noise: it draws
the same number of Poisson cells and repeats the codes of the cells, and writes the rows as bytes."""
import os
import pathlib
import resource
import subprocess
import sys
import time

BY = ["area", "sex", "age", "occupation", "industry"]
LEVELS = [152, 2, 95, 12, 10]


def row(what, start, before):
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"  {what:<58} {time.monotonic() - start:10.3f} s        ({used:.3f} s of processor time)", flush=True)


def step(what, *words):
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    row(what, start, before)


def beside(counts):
    try:
        import numpy
    except ImportError:
        print("  numpy is not installed: no figure beside")
        return
    start, used = time.monotonic(), time.process_time()
    random = numpy.random.default_rng(1)
    drawn = random.poisson(counts(numpy) + 1.0)
    cells = numpy.repeat(numpy.arange(drawn.size), drawn)
    columns = []
    for n in reversed(LEVELS):
        columns.append(numpy.array([f"{code:03d}," for code in range(n)], dtype="S4")[cells % n])
        cells //= n
    rows = numpy.stack(columns[::-1], axis=1)
    pathlib.Path("numpy.csv").write_bytes(rows.tobytes())
    print(f"  {'numpy: draw, repeat, write (no count, no quoting, insecure)':<58} {time.monotonic() - start:10.3f} s"
          f"        ({time.process_time() - used:.3f} s of processor time)")
    os.unlink("numpy.csv")


def main():
    program, data = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    os.chdir(data.parent)
    step("count: CSV to table", program, "tabulate", data.name, "--by", ",".join(BY), "--domain-public", "-o", "synthesize.json",
         "--sparse", "--force")
    step("protect: Poisson synthesis of every cell, certified", program, "protect", "synthesize.json", "--mechanism",
         "poisson:alpha=1", "--negatives", "keep", "--domain-public", "-o", "synthesize.release.csv", "--force")
    step("synthesize: release to records", program, "synthesize", "synthesize.release.csv", "-o", "synthesize.csv", "--force")
    step("the same, shuffled by the secure generator", program, "synthesize", "synthesize.release.csv", "-o", "synthesize.csv",
         "--shuffle", "--force")
    beside(lambda numpy: numpy.bincount(numpy.random.default_rng(2).integers(0, 3465600, 8200000), minlength=3465600))


main()
