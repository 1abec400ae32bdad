#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison of cubes is what its page shows:  cube_comparison.py PROGRAM PAGE

Every row of a table that the program prints stands in the page, its numbers within 1 per cent: the
optimiser of the design may stop elsewhere within its proven gap."""
import pathlib
import re
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def rows(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()
            if line.startswith("|") and not line.startswith("|---")]


def is_same(printed, shown):
    if len(printed) != len(shown) or printed[0] != shown[0]:
        return False
    for one, other in zip(printed[1:], shown[1:]):
        if not NUMBER.fullmatch(one) or not NUMBER.fullmatch(other):
            if one != other:
                return False
        elif abs(float(one) - float(other)) > 0.01 * abs(float(other)) + 0.006:
            return False
    return True


def main():
    program, page = sys.argv[1:]
    shown = rows(pathlib.Path(page).read_text())
    with tempfile.TemporaryDirectory() as folder:
        printed = rows(subprocess.run([program, folder], check=True, text=True, stdout=subprocess.PIPE).stdout)
        charts = sorted(path.name for path in pathlib.Path(folder).glob("*.svg"))
    missing = [row for row in printed if not any(is_same(row, other) for other in shown)]
    for row in missing:
        print("the page lacks:", " | ".join(row))
    for chart in charts:
        if not (pathlib.Path(page).parent / chart).is_file():
            sys.exit(f"{chart} is not beside the page")
    sys.exit(bool(missing) or not printed or len(charts) != 2)


main()
