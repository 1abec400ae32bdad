# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the pages of the documentation: which there are, their fenced blocks and their text."""
import os
import re
import subprocess

FENCE = re.compile(r"^ *(`{3,}|~{3,})(.*)$")


def tracked(root, *patterns):
    """The project's files that match, as paths; whatever repository a hook of git is about."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
                            stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return [root / name for name in listed.stdout.splitlines() if (root / name).exists()]


def split(text):
    """The page as (kind, first line number, lines): kind is None for text, else what stands behind
    the opening fence."""
    parts, kind, fence, lines, first = [], None, None, [], 1
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        opens = found and fence is None
        closes = found and fence is not None and found[1].startswith(fence) and not found[2].strip()
        if opens or closes:
            parts.append((kind, first, lines))
            kind, fence = (found[2].strip(), found[1]) if opens else (None, None)
            lines, first = [], number + 1
        else:
            lines.append(line)
    parts.append((kind, first, lines))
    return parts
