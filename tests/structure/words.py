# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps words that readers stumble over out of what users read: usage: words.py SOURCE_FOLDER

Reads the comments of public headers, the strings of the library and of the program (messages,
notes, pages, --help), the manual and the pages of docs/ (but not their code). words.txt beside this file lists how many of these words each
file still has; the test fails when a file has more, and when the list could be lowered."""
import pathlib
import re
import subprocess
import sys

# What is not said, and what is said instead.
WORDS = [
    (r"tells? of\b", "shows, is about"),
    (r"(?:un)?told\b(?! apart| from)", "reported, known, given; by default"),
    (r"tells?\b(?!(?: \w+){0,4} (?:apart|from)\b)", "shows, says, reports"),
    (r"may leave\b|(?:can|may) go out\b", "can be published"),
    (r"will be listed\b.*?empty ones", "false positives"),
    (r"lets? out\b", "publishes"),
    (r"double-words?\b", "double-double"),
    (r"laws?\b", "distribution"),
    (r"stakes?\b", "component"),
    (r"interior\b", "inner cells"),
    (r"(?:released|published|perturbed|noisy|negative|fitted) numbers?\b", "released value"),
    (r"(?:released|true) (?:and (?:the )?true )?number\b", "released value, true count"),
    (r"(?:about|with|on) these numbers\b", "these values"),
    (r"numbers? below (?:zero|%)", "values below"),
    (r"lists? of tables\b|whole list\b", "set of tables"),
    (r"(?:too|so) wide (?:to be|says)\b", "takes too many values"),
    (r"takes? too long\b", "exceeds the limit that is meant, named"),
    (r"leaves? no room\b", "buffer, tolerance, budget"),
    (r"(?:the|a|its) reach\b", "neighbour relation"),
    (r"speaks? of\b", "is about"),
    (r"sees? to it\b", "enforces"),
    (r"sees? them whole\b", "no party sees a whole record"),
]
PATTERNS = [(re.compile(r"\b(?:" + pattern + ")", re.I), better) for pattern, better in WORDS]
COMMENT = re.compile(r"/\*.*?\*/", re.S)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*(?:PRI\w+\s*)?"(?:[^"\\\n]|\\.)*")*')
CODE = re.compile(r"^```.*?^```$|``.*?``|`[^`\n]*`|\]\([^)\n]*\)", re.S | re.M)


def blank(match):
    """Spaces instead of the text, so that lines keep their numbers."""
    return re.sub(r"[^\n]", " ", match[0])


def only(pattern, text):
    """What matches the pattern, everything else blank."""
    at, parts = 0, []
    for match in pattern.finditer(text):
        parts += [re.sub(r"[^\n]", " ", text[at:match.start()]), match[0]]
        at = match.end()
    return "".join(parts)


def strings(text):
    """Literals one after the other, joined as the compiler joins them."""
    text = COMMENT.sub(blank, text)
    text = re.sub(r'^#include.*$', "", text, flags=re.M)
    return re.sub(r'"(\s*)"', lambda m: re.sub(r"[^\n]", " ", m[0]), only(STRING, text))


def comments(text):
    return re.sub(r"\n( *)\* ", r"\n\1  ", only(COMMENT, text))


def prose(text):
    return CODE.sub(blank, text)


READ = [("include/cellar/*.h", comments), ("cli/*.c", strings), ("src/*.c", strings),
        ("src/*.h", strings), ("man/*.1", str), ("docs/*.md", prose)]


def found_in(text):
    """(line, words, what to say instead) of all that is found; words may stand on two lines."""
    flat = re.sub(r"\s", " ", text)
    flat = re.sub(r" +", lambda m: " " + "\0" * (len(m[0]) - 1), flat)
    kept = [i for i, c in enumerate(flat) if c != "\0"]
    flat = flat.replace("\0", "")
    taken = set()
    for pattern, better in PATTERNS:
        for match in pattern.finditer(flat):
            if match.start() not in taken:
                taken.add(match.start())
                yield text.count("\n", 0, kept[match.start()]) + 1, match[0], better


def read_allowed(path):
    allowed = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            count, name = line.split()
            allowed[name] = int(count)
    return allowed


def main():
    root = pathlib.Path(sys.argv[1])
    allowed = read_allowed(pathlib.Path(__file__).with_suffix(".txt"))
    complaints, n_files = [], 0
    for pattern, read in READ:
        names = subprocess.run(["git", "ls-files", "--", pattern], cwd=root, check=True, text=True,
                               stdout=subprocess.PIPE).stdout.split()
        for name in names:
            n_files += 1
            found = sorted(found_in(read((root / name).read_text())))
            most = allowed.pop(name, 0)
            if len(found) > most:
                complaints += [f"{name}:{line}: '{words}': {better}" for line, words, better in found]
            if len(found) != most:
                complaints.append(f"{name}: {len(found)} such words, words.txt says {most}")
    complaints += [f"{name}: in words.txt, but there is no such file" for name in allowed]
    print("\n".join(complaints + [f"{n_files} files read"]))
    sys.exit(bool(complaints) or n_files == 0)


main()
