#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs examples/papers/reproduce without data and compares its rows with docs/papers.md.

usage: papers.py ROOT BUILD_FOLDER OUTPUT_FOLDER

Every row must be there with the same published number, verdict and (to 1 part in 1000) numbers of
ours. Rows of docs/papers.md that the run does not have need data.
"""
import pathlib
import re
import subprocess
import sys


def rows(text):
    """{(paper, item, quantity, published): (numbers and words of ours, verdict)}, in order."""
    paper = item = None
    found = {}
    for line in text.splitlines():
        if line.startswith("## "):
            paper = line[3:]
        line = re.sub(r'<a id="[^"]*"></a>', "", line)
        cells = [cell.strip() for cell in line.split("|")][1:-1]
        if not cells or cells[1] in ("quantity", "---"):
            continue
        if len(cells) != 7:
            sys.exit(f"not seven cells: {line}")
        item = cells[0] or item
        key = (paper, item, cells[1], cells[2])
        if key in found:
            sys.exit(f"two rows are called {key}")
        found[key] = (cells[3:5], cells[6])
    return found


def same(a, b):
    """The same words, and numbers that are close."""
    number = r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?"
    if re.sub(number, "#", a) != re.sub(number, "#", b):
        return False
    pairs = zip(map(float, re.findall(number, a)), map(float, re.findall(number, b)))
    return all(abs(x - y) <= 1e-3 * max(abs(x), abs(y)) + 1e-12 for x, y in pairs)


def main():
    root, build, output = map(pathlib.Path, sys.argv[1:4])
    run = subprocess.run([root / "examples/papers/reproduce", "--build", build, output],
                         stdout=subprocess.PIPE, text=True, check=False)
    ours = rows((output / "summary.md").read_text())
    golden = rows((root / "docs/papers.md").read_text())
    faults = [f"exit status {run.returncode}"] if run.returncode else []
    for key, (values, verdict) in ours.items():
        if verdict.endswith("(--data)"):
            continue
        if key not in golden:
            faults.append(f"docs/papers.md lacks {key}")
        elif verdict != golden[key][1] or not all(map(same, values, golden[key][0])):
            faults.append(f"{key}: {values}, {verdict}; docs/papers.md has {golden[key]}")
    print("\n".join(faults) or f"{len(ours)} rows of {len(golden)} compared")
    return bool(faults) or len(ours) < 100


if __name__ == "__main__":
    sys.exit(main())
