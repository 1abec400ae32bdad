# SPDX-License-Identifier: GPL-3.0-or-later
"""Formulas in the pages are typeset: usage: formulas.py SOURCE_FOLDER

What needs more than a line of plain letters (exponents, sums, roots, integrals) stands between dollar
signs, as TeX, which pandoc and the usual hosts of repositories turn into formulas. Code is code."""
import pathlib
import re
import sys

import pages

PLAIN = re.compile(r"\^[{(A-Za-z\u0370-\u03ff\u2212]|_\{|[\u2211\u03a3\u222b\u221a\u230a\u03a0]")


def bare(line):
    """The line without code and formulas."""
    return re.sub(r"\$\$.*?\$\$|\$[^$ ](?:[^$]*[^$ ])?\$", "", re.sub(r"`[^`]*`", "", line))


def complaints(path):
    for kind, first, lines in pages.split(path.read_text()):
        for number, line in enumerate(lines, first):
            found = PLAIN.search(bare(line)) if kind is None else None
            if found:
                yield f"{path}:{number}: '{found[0]}' is part of a formula: write it as TeX between dollar signs"


root = pathlib.Path(sys.argv[1]).resolve()
wrong = [text for path in pages.tracked(root, "README.md", "docs/*.md") for text in complaints(path)]
print("\n".join(wrong))
sys.exit(bool(wrong))
