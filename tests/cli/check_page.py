#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a page that `cellar report` wrote: check_page.py PAGE [--words]

It must be well-formed, stand for itself, run nothing, be readable without seeing it, and (--words)
promise nothing that was not proved. Prints what is wrong, or a summary."""
import base64
import hashlib
import re
import sys
import xml.etree.ElementTree as tree

FORBIDDEN = r"\b(safe|safely|anonymous|anonymi[sz]ed|risk-free|harmless|guaranteed)\b"


def problems(text, with_words):
    page = tree.fromstring(text.split("\n", 1)[1])
    elements = list(page.iter())
    ids = [e.get("id") for e in elements if e.get("id")]
    parent = {child: e for e in elements for child in e}
    if page.get("lang") != "en":
        yield "no language"
    if len(ids) != len(set(ids)):
        yield "an id is there twice"
    for e in elements:
        if e.tag in ("script", "link", "iframe", "object", "embed", "img", "form", "base"):
            yield f"<{e.tag}>"
        for name, value in e.attrib.items():
            if name.startswith("on") or name in ("src", "style", "srcset", "action"):
                yield f"attribute {name}"
            if "url(" in value.replace("url(#", ""):
                yield f"a reference in {name}"
            if name in ("href", "aria-labelledby"):
                for target in value.replace("#", "").split():
                    if target not in ids or (name == "href" and value[0] != "#"):
                        yield f"{name} {value} leads nowhere"
        if e.tag == "svg" and (e.find("title") is None or e.find("desc") is None):
            yield "a chart without words"
        if e.tag == "svg" and parent[e].find(".//table") is None:
            yield "a chart without numbers"
        if e.tag == "svg" and (e.get("role") != "img" or not e.get("aria-labelledby")):
            yield "a chart that is no image"
        if e.tag == "th" and e.get("scope") not in ("row", "col"):
            yield "a heading of nothing"
        if e.tag == "tr" and e.find("th") is None and "".join(e.itertext()).strip():
            yield "a row without a heading"
        if e.get("class") == "wide" and (e.get("tabindex") != "0" or not e.get("aria-label")):
            yield "what scrolls is out of reach"
        if e.tag == "table" and (e.find("caption") is None or e.find(".//th") is None):
            yield "a table without caption or headings"
    yield from policy(page)
    yield from contrast(page)
    yield from drawn(page)
    yield from headings(elements)
    visible = " ".join(page.find("body").itertext())
    for word in re.findall(FORBIDDEN, visible, re.I) if with_words else []:
        yield f"the word {word}"


def policy(page):
    style = page.find("head/style").text
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    wanted = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    found = [m.get("content") for m in page.iter("meta")
             if m.get("http-equiv") == "Content-Security-Policy"]
    if found != [wanted]:
        yield "the policy is another one"
    if "url(" in style or "@import" in style:
        yield "the style sheet loads something"


def light(colour):
    """The relative luminance of a colour #rrggbb."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(page):
    """Text on every ground it stands on, by day and by night."""
    style = page.find("head/style").text
    for name, rules in zip(("day", "night"), re.findall(r":root\{(.*?)\}", style)):
        colours = dict(re.findall(r"--([a-z-]+):(#[0-9a-f]{6})", rules))
        for ink in ("ink", "soft", "accent"):
            for ground in ("ground", "card", "warn-ground"):
                if ink != "ink" and ground == "warn-ground":
                    continue
                a, b = light(colours[ink]) + 0.05, light(colours[ground]) + 0.05
                if max(a / b, b / a) < 7:
                    yield f"{ink} on {ground} by {name}: {max(a / b, b / a):.1f} : 1"


def drawn(page):
    """Curves, dots and bars on the ground of their figure, by day and by night. Surfaces have a scale and all their numbers."""
    style = page.find("head/style").text
    grounds = re.findall(r"--card:(#[0-9a-f]{6})", style)
    night = dict(re.findall(r"svg \[stroke='(#[0-9a-f]{6})'\]\{stroke:(#[0-9a-f]{6})\}", style))
    for colour in {e.get("stroke") for svg in page.iter("svg") for e in svg.iter("path")} - {None, "none", "currentColor"}:
        for shade, ground in ((colour, grounds[0]), (night.get(colour, colour), grounds[1])):
            a, b = light(shade) + 0.05, light(ground) + 0.05
            if max(a / b, b / a) < 3:
                yield f"{shade} drawn on {ground}: {max(a / b, b / a):.1f} : 1"


def headings(elements):
    levels = [int(e.tag[1]) for e in elements if re.fullmatch("h[1-6]", e.tag)]
    if levels.count(1) != 1 or levels[0] != 1:
        yield "not one first heading"
    if any(b > a + 1 for a, b in zip(levels, levels[1:])):
        yield "a level of headings is left out"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    found = list(problems(text, "--words" in sys.argv))
    print("\n".join(found) if found else f"well-formed, {text.count('<figure>')} charts")


main()
