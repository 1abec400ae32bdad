# SPDX-License-Identifier: GPL-3.0-or-later
"""Every link between the pages leads somewhere: usage: links.py SOURCE_FOLDER

A link to a file must name one of the project's files or folders, a link to a heading (#...) one that
is there, named as GitHub and pandoc name it. Addresses elsewhere are not visited."""
import pathlib
import re
import sys

import pages

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def headings(path):
    """The names of a page's headings: lower case, blanks to hyphens, only letters, digits, - and _."""
    names = {}
    for kind, _, lines in pages.split(path.read_text()):
        if kind is not None:
            continue
        for line in lines:
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
    print(f"{checked} links, {failed} wrong")
    sys.exit(failed > 0 or checked == 0)


main()
