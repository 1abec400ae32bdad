#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that what judges a table before it is drawn can hold no count.

usage: rules.py ROOT

Follows every #include of the sources below and fails when one leads to a header that declares
values of cells, releases, cubes or stores.
"""
import pathlib
import re
import sys

JUDGES = ["src/serve/rules.c", "src/serve/rules_read.c"]
HOLD_COUNTS = re.compile(r"serve/(answer|source|released|site|vault)\.h"
                         r"|(release|cube|store|ledger|inference)/.*"
                         r"|cellar/(release|release_file|cube|estimate|charged|tabulate|microdata|vault)\.h")


def closure(root, path, seen):
    for found in re.finditer(r'#\s*include\s*[<"]([^>"]+)[>"]', (root / path).read_text()):
        for folder in ("src", "include"):
            name = f"{folder}/{found[1]}"
            if (root / name).is_file() and name not in seen:
                seen[name] = path
                closure(root, name, seen)
    return seen


def main():
    root = pathlib.Path(sys.argv[1])
    faults = []
    for judge in JUDGES:
        seen = closure(root, judge, {})
        if "src/serve/dataset.h" not in seen:
            faults.append(f"{judge}: no include of serve/dataset.h was found: is this test blind?")
        faults += [f"{judge}: sees {name}, included by {by}" for name, by in seen.items()
                   if HOLD_COUNTS.fullmatch(name.split("/", 1)[1])]
    print("\n".join(faults) or f"{len(JUDGES)} sources judge tables and see no count")
    return 1 if faults else 0


sys.exit(main())
