#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads px files as PxWeb's library (PCAxis.Core) does: check_px.py FILE...

It takes keywords one by one, in the order of the file. What must be there is there, what refers to a
variable or a value comes after it, and a keyword that it does not know is kept as a property. Prints
what it would refuse or warn about, or a summary."""
import re
import sys

MANDATORY = "MATRIX SUBJECT-CODE SUBJECT-AREA CONTENTS UNITS DECIMALS TITLE".split()
KNOWN = MANDATORY + """CHARSET AXIS-VERSION CODEPAGE LANGUAGE LANGUAGES CREATION-DATE SHOWDECIMALS LAST-UPDATED SOURCE
    STUB HEADING CONTVARIABLE VALUES CODES ELIMINATION VARIABLE-TYPE DATASYMBOL1 DATASYMBOL2 DATASYMBOL3 DATASYMBOL4
    NOTE""".split()
ENTRY = re.compile(r'\s*([A-Z0-9-]+)(?:\[([^]]*)\])?(?:\("([^"]*)"\))?=((?:"[^"]*"|[^";])*);', re.S)
STRING = re.compile(r'"[^"]*"(?:\s*"[^"]*")*')


def strings(text):
    return ["".join(re.findall(r'"([^"]*)"', piece)) for piece in STRING.findall(text)] or [text.strip()]


def problems(text, seen):
    head, data = text.split("DATA=", 1)
    names, values, contents, at, unknown = {}, {}, {}, 0, []
    while head[at:].strip():
        entry = ENTRY.match(head, at)
        if not entry:
            yield f"not a keyword: {head[at:at + 40]!r}"
            return
        at = entry.end()
        keyword, language, key, value = entry[1], entry[2] or "", entry[3], strings(entry[4])
        if any(len(line) > 256 for line in entry[0].split("\n")):
            yield f"{keyword}: a line of more than 256 characters"
        if keyword not in KNOWN:
            unknown.append(keyword)
        elif key is None and not language:
            seen[keyword] = value
        if keyword in ("STUB", "HEADING"):
            names.setdefault(language, []).extend(value)
        elif keyword == "CONTVARIABLE":
            contents[language] = value[0]
        elif keyword in ("UNITS", "LAST-UPDATED") and key is not None:
            if key not in values.get((language, contents.get(language)), []):
                yield f"{keyword}({key}): comes before its value"
        elif key is not None and key not in names.get(language, []):
            yield f"{keyword}({key}): comes before its variable"
        if keyword == "VALUES":
            values[language, key] = value
        if keyword == "CODES" and len(value) != len(values[language, key]):
            yield f"CODES({key}): not as many as there are values"
        if keyword == "ELIMINATION" and value[0] not in values[language, key]:
            yield f"ELIMINATION({key}): is no value"
    if len(unknown) != len(set(unknown)):
        yield "an unknown keyword is there twice"
    for keyword in MANDATORY:
        if not seen.get(keyword, [""])[0]:
            yield f"{keyword} is missing"
    if not 0 <= int(seen["SHOWDECIMALS"][0]) <= min(6, int(seen["DECIMALS"][0])):
        yield "SHOWDECIMALS is wrong"
    cells = 1
    for name in names[""]:
        cells *= len(values["", name])
    found = data.rsplit(";", 1)[0].split()
    if len(found) != cells or any(not re.fullmatch(r'-?[0-9]+(\.[0-9]+)?|"\.{1,6}"', c) for c in found):
        yield "DATA is wrong"
    seen["summary"] = f"{cells} cells, unknown keywords {' '.join(unknown)}"


for path in sys.argv[1:]:
    about = {}
    with open(path, encoding="utf-8") as file:
        wrong = list(problems(file.read(), about))
    print(f"{path}:", "; ".join(wrong) or about["summary"])
