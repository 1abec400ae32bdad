#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks every #include against layers.txt.

usage: layers.py ROOT

A file of a layer includes that layer and those below it, base includes nothing but libc besides, a
public header includes only standard C and public headers, a program only public headers and libc.
Headers of FLINT and Arb are included by math/flint.h alone, which knows where each version has them.
"""
import pathlib
import re
import sys

STANDARD = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp
    signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath
    threads time uchar wchar wctype""".split())
SYSTEM = STANDARD | set("""dirent dlfcn fcntl fnmatch ftw getopt glob grp iconv langinfo libgen link
    malloc netdb poll pthread pwd regex sched semaphore spawn strings syslog termios unistd""".split())
FLINT = re.compile(r"flint/.*|(arb|arf|acb|bernoulli|mag|fmpz|fmpq)(_\w+)?\.h")
SYSTEM_FOLDERS = ("sys/", "netinet/", "arpa/", "linux/", "net/")


def is_libc(name):
    return name.removesuffix(".h") in SYSTEM or name.startswith(SYSTEM_FOLDERS)


def read_rules(path):
    sees, owner, programs = {}, {}, {}
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "program":
            programs[words[1]] = set(words[3:])
            continue
        split = words.index("headers")
        layer = words[1]
        sees[layer] = {layer} | set(words[3:split]) - {"-"}
        owner.update({header: layer for header in words[split + 1:] if header != "-"})
    return sees, owner, programs


def includes(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found[1] == "<", found[2]


class Checker:
    def __init__(self, root):
        self.root = root
        self.sees, self.owner, self.programs = read_rules(root / "tests/structure/layers.txt")
        self.n_includes = 0
        self.faults = []

    def fault(self, path, line, text):
        self.faults.append(f"{path.relative_to(self.root)}:{line}: {text}")

    def public_owner(self, path, line, name):
        header = name.removeprefix("cellar/").removesuffix(".h")
        if header not in self.owner and header != "cellar":
            self.fault(path, line, f"<{name}> belongs to no layer in tests/structure/layers.txt")
        return self.owner.get(header)

    def check_layer(self, path, layer):
        for line, angled, name in includes(path):
            self.n_includes += 1
            if name.startswith("cellar/") and angled:
                target = self.public_owner(path, line, name)
                if name == "cellar/cellar.h":
                    self.fault(path, line, "the library includes the headers it needs, not all")
            elif not angled:
                target = name.split("/")[0] if "/" in name else "?"
                if target not in self.sees:
                    self.fault(path, line, f'"{name}" is not a path that begins with a layer')
                    continue
            else:
                target = None
                if layer == "base" and not is_libc(name):
                    self.fault(path, line, f"base includes libc only, not <{name}>")
                if FLINT.fullmatch(name) and path != self.root / "src/math/flint.h":
                    self.fault(path, line, f'include "math/flint.h", not <{name}>')
            if target is not None and target not in self.sees[layer]:
                self.fault(path, line, f"{layer} may not see {target} ({name})")

    def check_public(self, path):
        layer = self.public_owner(path, 1, f"cellar/{path.name}")
        for line, angled, name in includes(path):
            self.n_includes += 1
            if not angled:
                self.fault(path, line, f'a public header writes <cellar/...>, not "{name}"')
            elif name.startswith("cellar/"):
                target = self.public_owner(path, line, name)
                if layer is not None and target is not None and target not in self.sees[layer]:
                    self.fault(path, line, f"{layer} may not see {target} ({name})")
            elif name.removesuffix(".h") not in STANDARD:
                self.fault(path, line, f"a public header includes standard C only, not <{name}>")

    def check_program(self, path, program):
        for line, angled, name in includes(path):
            self.n_includes += 1
            known = name.startswith("cellar/") or is_libc(name) or name in self.programs[program]
            if angled and not known:
                self.fault(path, line, f"{program} may not use <{name}>: the library does such work")
            if not angled and not (path.parent / name).exists():
                self.fault(path, line, f'{program} sees its own and public headers, not "{name}"')
            if not angled and ".." in name:
                self.fault(path, line, f'"{name}" leaves the folder')

    def run(self):
        for folder in sorted(p for p in (self.root / "src").iterdir() if p.is_dir()):
            if folder.name not in self.sees:
                self.fault(folder, 1, "a folder of src/ that tests/structure/layers.txt lacks")
                continue
            for path in sorted(folder.rglob("*.[ch]")):
                self.check_layer(path, folder.name)
        for path in sorted((self.root / "include/cellar").glob("*.h")):
            self.check_public(path)
        for program in sorted(self.programs):
            for path in sorted((self.root / program).rglob("*.[ch]")):
                self.check_program(path, program)
        for layer in self.sees:  # the order of the list is the order of the layers: no cycles
            above = list(self.sees)[list(self.sees).index(layer) + 1:]
            for target in self.sees[layer] & set(above):
                self.faults.append(f"tests/structure/layers.txt: {layer} sees {target} above it")


def main():
    checker = Checker(pathlib.Path(sys.argv[1]).resolve())
    checker.run()
    print("\n".join(checker.faults + [f"{checker.n_includes} includes, {len(checker.faults)} faults"]))
    return 1 if checker.faults or checker.n_includes == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
