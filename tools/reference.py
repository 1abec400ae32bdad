# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference of the C library, made from the public headers and their comments (for tools/docs).

A comment directly above declarations is about all of them up to the next comment or blank line; one
alone in its paragraph is about what follows; /* ---- words ---- */ begins a section. That is how the
headers are written anyway: no tags, no second copy of what a function does.
"""
import dataclasses
import html
import re

SECTION = re.compile(r"/\* -{2,} (.*?) -{2,} \*/")
DIRECTIVE = re.compile(r"#(?:[^\n\\]|\\.)*", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
NAME = re.compile(r"\b(?:cellar|CELLAR)_\w+")


@dataclasses.dataclass
class Entry:
    kind: str  # "section", "text" or "code"
    text: str = ""
    code: str = ""


def declaration_end(text, start):
    """Behind the semicolon that ends the declaration at `start`, and a comment on its last line."""
    depth, at = 0, start
    while text[at] != ";" or depth > 0:
        comment = COMMENT.match(text, at)
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at = comment.end() if comment else at + 1
    beside = re.compile(r";[ \t]*(/\*.*?\*/)?", re.DOTALL).match(text, at)
    return beside.end() if beside[1] else at + 1


def pieces(text):
    """The header as ("gap" | "comment" | "code", text), one after the other."""
    at = 0
    while at < len(text):
        blank, comment = re.compile(r"\s+").match(text, at), COMMENT.match(text, at)
        if blank:
            end = blank.end()
            if blank[0].count("\n") > 1:
                yield "gap", ""
        elif comment:
            end = comment.end()
            yield "comment", comment[0]
        else:
            directive = DIRECTIVE.match(text, at)
            end = directive.end() if directive else declaration_end(text, at)
            yield "code", text[at:end]
        at = end
    yield "gap", ""


def body(text):
    """The header without its guard, its includes and what is for C++ only."""
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.DOTALL)
    text = re.sub(r"#ifndef (CELLAR_\w+_H)\n#define \1\n", "", text)
    text = re.sub(r"\n#endif\s*\Z", "\n", text)
    return re.sub(r"#include.*\n", "", text)


def read(path):
    """The sentence a header begins with, and its entries."""
    _, purpose, text = re.split(r"(?<=\*/)\n", path.read_text(), maxsplit=2)
    entries, waiting, is_open = [], "", False
    for kind, piece in pieces(body(text)):
        if kind == "code":
            if is_open:
                entries[-1].code += "\n" + piece
            else:
                entries.append(Entry("code", waiting, piece))
            waiting, is_open = "", True
            continue
        if waiting:
            entries.append(Entry("text", waiting))
        section = SECTION.fullmatch(piece)
        if section:
            entries.append(Entry("section", section[1]))
        waiting, is_open = "" if section else piece, False
    return purpose, entries


def declared(code):
    """The names that a piece of code declares."""
    bare = COMMENT.sub("", code)
    names = re.findall(r"^CELLAR_API[^;(]*?\b(cellar_\w+)\(", bare, re.M)
    names += re.findall(r"^typedef [^;{(]*?\b(cellar_\w+);", bare, re.M)
    names += re.findall(r"^typedef [^;{]*?\(\*(cellar_\w+)\)\(", bare, re.M)
    names += re.findall(r"^} (cellar_\w+);", bare, re.M)
    names += re.findall(r"^#define (CELLAR_\w+)", bare, re.M)
    for inside in re.findall(r"\benum\b[^{;]*\{(.*?)\}", bare, re.DOTALL):
        names += re.findall(r"(?:^|,)\s*(CELLAR_\w+)", inside)
    return list(dict.fromkeys(names))


class Reference:
    """All public headers, read once; renders a page for each and an index."""

    def __init__(self, folder):
        self.headers = {path.name: read(path) for path in sorted(folder.glob("*.h"))}
        self.home = {}
        for header, (_, entries) in self.headers.items():
            for entry in entries:
                for name in declared(entry.code):
                    self.home.setdefault(name, header)

    def link(self, name, here):
        if name not in self.home:
            return name
        page = "" if self.home[name] == here else self.home[name] + ".html"
        return f'<a href="{page}#{name}">{name}</a>'

    def linked(self, text, here):
        return NAME.sub(lambda match: self.link(match[0], here), html.escape(text, quote=False))

    def prose(self, comment, here):
        """A comment as paragraphs; `words` in backticks are code, indented lines stay as they are."""
        lines = [re.sub(r"^ \* ?", "", line) for line in comment[2:-2].strip(" ").split("\n")]
        parts = re.split(r"\n\s*\n", "\n".join(lines).strip("\n"))
        out = []
        for part in parts:
            text = re.sub(r"`([^`]*)`", r"<code>\1</code>", self.linked(part.rstrip(), here))
            out.append(f"<pre>{text}</pre>" if part.startswith("   ") else f"<p>{text.strip()}</p>")
        return "\n".join(out)

    def code(self, code, here):
        """Declarations, with the names they declare marked and all others linked."""
        own = {name for name in declared(code) if self.home[name] == here}
        # marks for the compiler go, and with them the indentation that they gave to further lines
        code = re.sub(r"\s*CELLAR_NONNULL\([^)]*\)", "", code)
        code = re.sub(r"^((?:CELLAR_(?:API|NODISCARD) )+)([^;]*;)",
                      lambda match: match[2].replace("\n" + " " * len(match[1]), "\n"), code, flags=re.M)

        def name(match):
            if match[0] not in own:
                return self.link(match[0], here)
            own.remove(match[0])
            return f'<b id="{match[0]}">{match[0]}</b>'

        out, at = [], 0
        for comment in COMMENT.finditer(code):
            out += [NAME.sub(name, html.escape(code[at:comment.start()], quote=False)),
                    f'<span class="co">{self.linked(comment[0], here)}</span>']
            at = comment.end()
        out.append(NAME.sub(name, html.escape(code[at:], quote=False)))
        return f'<pre><code>{"".join(out)}</code></pre>'

    def page(self, header):
        """The page of one header."""
        purpose, entries = self.headers[header]
        out = [f"<h1>cellar/{header}</h1>", self.prose(purpose, header),
               f"<pre><code>#include &lt;cellar/{header}&gt;</code></pre>"]
        for entry in entries:
            if entry.kind == "section":
                out.append(f"<h2>{html.escape(entry.text.capitalize())}</h2>")
            elif entry.text:
                out.append(self.prose(entry.text, header))
            if entry.code:
                out.append(self.code(entry.code, header))
        return "\n".join(out)

    def index(self):
        """Every header with its sentence, and every name."""
        rows = "".join(f'<tr><td><a href="{header}.html">{header}</a></td>'
                       f"<td>{self.prose(purpose, None)}</td></tr>\n"
                       for header, (purpose, _) in self.headers.items() if header != "cellar.h")
        items = "".join(f"<li><code>{self.link(name, None)}</code></li>\n"
                        for name in sorted(self.home, key=str.lower) if name.startswith("cellar_"))
        return ("<h1>Reference of the C library</h1>\n"
                '<p><code>#include &lt;<a href="cellar.h.html">cellar/cellar.h</a>&gt;</code> includes all.'
                f"</p>\n<table>\n{rows}</table>\n<h2>Functions and types</h2>\n"
                f'<ul class="names">\n{items}</ul>\n')
