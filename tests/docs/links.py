# SPDX-License-Identifier: GPL-3.0-or-later
"""Every link between the pages leads somewhere: usage: links.py SOURCE_FOLDER

A link to a file must name one of the project's files or folders, a link to a heading (#...) one that
is there, named as GitHub and pandoc name it. Addresses elsewhere are not visited. Tests and files that
are named in a page (`unit/text`, `src/math/run.h`) must exist, too."""
import pathlib
import re
import sys

import pages

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def headings(path):
    """The names of a page's headings (lower case, blanks to hyphens, only letters, digits, - and _), and
    of the places in it that have names of their own (<a id="...">)."""
    names = {}
    for kind, _, lines in pages.split(path.read_text()):
        if kind is not None:
            continue
        for line in lines:
            names.update({name: 0 for name in re.findall(r'<a id="([^"]*)"></a>', line)})
            found = re.match(r"#+ +(.*?) *#*$", line)
            if found:
                text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found[1]).lower()
                name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
                names[name] = names.get(name, -1) + 1
    return {f"{name}-{i}" if i else name for name, last in names.items() for i in range(last + 1)}


def links(path):
    for kind, first, lines in pages.split(path.read_text()):
        if kind is None:
            for number, line in enumerate(lines, first):
                for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                    yield number, target


def wrong(root, path, target):
    """What is wrong with a link, or None."""
    if re.match(r"[a-z]+:", target):
        return None
    name, _, heading = target.partition("#")
    file = (path.parent / name).resolve() if name else path
    if not file.exists():
        return "no such file"
    if root not in file.parents:
        return "outside the project"
    if heading and heading not in headings(file):
        return "no such heading"
    return None


# How the name of a test is made into that of its file.
TESTS = {"unit": "tests/unit/test_{}.c", "property": "tests/property/*{}*.c", "docs": "tests/docs/{}.*",
         "cli": "tests/cli/cases/{}.sh", "structure": "tests/structure/{}.py"}
NAMED = re.compile(r"`((?:src|cli|include|tests|tools|man|examples|docs|unit|property|structure|cli)/[\w./-]+)`")


def missing(root, path):
    """Tests and files that a page names and that do not exist."""
    for kind, first, lines in pages.split(path.read_text()):
        for number, line in enumerate(lines, first):
            for name in NAMED.findall(line) if kind is None else []:
                folder, _, rest = name.partition("/")
                patterns = [name.rstrip("/")] + ([TESTS[folder].format(rest)] if folder in TESTS else [])
                if not any(list(root.glob(pattern)) for pattern in patterns):
                    yield f"{path.relative_to(root)}:{number}: `{name}`: no such file or test"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    failed, checked = 0, 0
    for path in pages.tracked(root, "*.md"):
        for number, target in links(path):
            checked += 1
            reason = wrong(root, path, target)
            if reason:
                failed += 1
                print(f"{path.relative_to(root)}:{number}: {target}: {reason}")
        for complaint in missing(root, path):
            failed += 1
            print(complaint)
    print(f"{checked} links, {failed} wrong")
    sys.exit(failed > 0 or checked == 0)


main()
