# SPDX-License-Identifier: GPL-3.0-or-later
"""Every mutant of tests/mutants/list.py is about a line that is there exactly once, and changes it.

usage: mutants.py SOURCE_FOLDER"""
import pathlib
import sys

source = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(source / "tests/mutants"))

from list import MUTANTS  # noqa: E402

complaints = []
for mutant in MUTANTS:
    path = source / mutant.file
    n = path.read_text().count(mutant.old) if path.exists() else 0
    if n != 1:
        complaints.append(f"{mutant.file}: the line of a mutant occurs {n} times: {mutant.old}")
    if mutant.old == mutant.new:
        complaints.append(f"{mutant.file}: a mutant changes nothing: {mutant.old}")
print("\n".join(complaints + [f"{len(MUTANTS)} mutants, {len(complaints)} complaints"]))
sys.exit(bool(complaints))
