#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that the shared library exports what the public headers declare, no more and no less.

usage: exports.py ROOT LIBRARY
"""
import pathlib
import re
import subprocess
import sys


def declared(root):
    names = set()
    for path in sorted((root / "include/cellar").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        text = re.sub(r"^\s*#.*(\\\n.*)*", "", text, flags=re.M)
        names |= set(re.findall(r"\bCELLAR_API\b[^;(]*?\b(\w+)\s*\(", text))
    return names


def exported(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines()}


def main():
    wanted = declared(pathlib.Path(sys.argv[1]))
    given = exported(sys.argv[2])
    for name in sorted(given - wanted):
        print(f"exported, but in no public header: {name}")
    for name in sorted(wanted - given):
        print(f"declared, but not exported: {name}")
    print(f"{len(wanted)} declared, {len(given)} exported")
    return 0 if given == wanted and wanted else 1


if __name__ == "__main__":
    sys.exit(main())
