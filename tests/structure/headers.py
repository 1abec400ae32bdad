#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that every header compiles alone: public ones as C11 and as C++, internal ones as C11.
An internal one that some source file includes before anything else was compiled alone by the build.

usage: headers.py ROOT CC CXX

Public headers are compiled without feature macros: they may not lean on POSIX. cellar.h must
include every other public header, and its version must be the build's. Public headers are short,
every struct of options or of a spec has a default, every status has to be looked at, and every
function has a comment, of its own or for the run of declarations it stands in.
"""
import pathlib
import re
import subprocess
import sys

STRICT = ["-fsyntax-only", "-pedantic-errors", "-Wall", "-Wextra", "-Werror"]
AS_C = ["-std=c11", "-Wstrict-prototypes", "-x", "c"]
AS_CXX = ["-std=c++11", "-x", "c++"]


def compiles(compiler, flags, root, include):
    process = subprocess.run(
        [compiler, *STRICT, *flags, "-I", str(root / "include"), "-I", str(root / "src"), "-"],
        input=f"#include {include}\nextern int something;\n", text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False)
    if process.returncode != 0:
        print(f"{include} does not compile alone with {compiler}\n{process.stdout}")
    return process.returncode == 0


def included_first(source):
    """The headers that some file of C includes before any other."""
    found = set()
    for path in source.rglob("*.c"):
        first = re.search(r"^#include (\S)([^>\"]+)", path.read_text(), re.M)
        if first and first[1] == '"':
            found |= {(path.parent / first[2]).resolve(), (source / first[2]).resolve()}
    return found


LONGEST = 299


def complaints(text):
    """What is wrong with the text of a public header, as sentences."""
    if text.count("\n") > LONGEST:
        yield f"has {text.count(chr(10))} lines: at most {LONGEST}"
    for name in re.findall(r"^} (cellar_\w+_(?:options|spec));", text, re.M):
        if f" {name}_default(void)" not in " ".join(text.split()):
            yield f"{name} has no {name}_default()"
    for found in re.finditer(r"^CELLAR_API cellar_status[^;]*?(\w+)\(", text, re.M):
        yield f"{found[1]}() needs CELLAR_NODISCARD"
    for run in re.split(r"\n\s*\n", text):
        bare = re.sub(r"/\* ----.*?\*/", "", run)
        first = re.search(r"^CELLAR_API[^;]*?(cellar_\w+)\([^;]*;(.*)", bare, re.M)
        if first and "/*" not in bare[:first.start()] and "/*" not in first[2]:
            yield f"{first[1]}() has no comment"


def main():
    root, c, cxx = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    good = True
    public = sorted(path.name for path in (root / "include/cellar").glob("*.h"))
    for name in public:
        good &= compiles(c, AS_C, root, f"<cellar/{name}>")
        good &= compiles(cxx, AS_CXX, root, f"<cellar/{name}>")
    for path in sorted(set((root / "src").resolve().rglob("*.h")) - included_first(root / "src")):
        good &= compiles(c, ["-D_GNU_SOURCE", *AS_C], root, f'"{path.relative_to((root / "src").resolve())}"')

    for name in public:
        for complaint in complaints((root / "include/cellar" / name).read_text()):
            print(f"{name}: {complaint}")
            good = False

    everything = (root / "include/cellar/cellar.h").read_text()
    for name in set(public) - {"cellar.h"}:
        if f"<cellar/{name}>" not in everything:
            print(f"cellar.h does not include <cellar/{name}>")
            good = False
    header = re.search(r'CELLAR_VERSION "([^"]+)"', (root / "include/cellar/version.h").read_text())
    built = re.search(r"project\(cellar VERSION (\S+)", (root / "CMakeLists.txt").read_text())
    if header[1] != built[1]:
        print(f"version.h says {header[1]}, CMakeLists.txt {built[1]}")
        good = False
    return 0 if good and public else 1


if __name__ == "__main__":
    sys.exit(main())
