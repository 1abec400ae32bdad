#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that every file of the project names its licence in one of its first three lines.

usage: licences.py ROOT

Data has no room for comments: JSON, pictures, and what lies in a corpus, golden or data folder of tests/, and the
test vectors of participant/.
"""
import pathlib
import subprocess
import sys

LINE = "SPDX-License-Identifier: GPL-3.0-or-later"
DATA_FOLDERS = {"corpus", "golden", "data"}


def is_data(path):
    return (path.suffix in (".json", ".csv", ".png", ".stdout", ".stderr", ".exit") or path.name == "LICENSE"
            or path.parts[:2] == ("participant", "vectors")
            or path.parts[0] == "tests" and DATA_FOLDERS & set(path.parts))


def main():
    root = pathlib.Path(sys.argv[1])
    listed = subprocess.run(["git", "ls-files", "-z"],
                            cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
    files = [pathlib.Path(name) for name in listed.split("\0") if name and (root / name).is_file()]
    wrong = 0
    for path in files:
        if not is_data(path):
            with open(root / path, encoding="utf-8", errors="replace") as file:
                head = "".join(file.readline() for _ in range(3))
            if LINE not in head:
                print(f"{path}: no '{LINE}'")
                wrong += 1
    print(f"{len(files)} files, {wrong} without a licence line")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
