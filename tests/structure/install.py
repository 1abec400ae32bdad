#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs a build aside and uses it as a stranger would: with pkg-config and a C compiler, and with
CMake's find_package().

usage: install.py ROOT BUILD CC
"""
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include <cellar/cellar.h>
int main(void)
{
    puts(cellar_version());
    return strcmp(cellar_version(), CELLAR_VERSION) != 0;
}
"""

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(stranger LANGUAGES C)
find_package(cellar 0.1 REQUIRED COMPONENTS shared static)
foreach(kind cellar static)
  add_executable(p-${kind} ../p.c)
  target_link_libraries(p-${kind} PRIVATE cellar::${kind})
endforeach()
"""


def run(*command, **settings):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **settings).stdout


def use_cmake(prefix, compiler):
    """Builds and runs the program with the shared and the static library, as find_package() has them."""
    folder = prefix / "stranger"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(PROJECT)
    run("cmake", "-S", str(folder), "-B", str(folder / "build"), "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={compiler}")
    run("cmake", "--build", str(folder / "build"))
    for kind in ("cellar", "static"):
        run(str(folder / "build" / f"p-{kind}"))


def main():
    root, build, compiler = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    with tempfile.TemporaryDirectory(prefix="cellar-install-") as name:
        prefix = pathlib.Path(name)
        run("cmake", "--install", build, "--prefix", str(prefix))
        found = list(prefix.rglob("cellar.pc"))
        if len(found) != 1:
            print("cellar.pc is not installed once")
            return 1
        environment = {**os.environ, "PKG_CONFIG_PATH": str(found[0].parent),
                       "LD_LIBRARY_PATH": str(found[0].parent.parent)}
        (prefix / "p.c").write_text(PROGRAM)
        for kind, query in (("shared", []), ("static", ["--static"])):
            flags = run("pkg-config", *query, "--cflags", "--libs", "cellar", env=environment).split()
            if kind == "static":
                at = flags.index("-lcellar")  # whole: every library it needs must be named
                flags[at:at + 1] = ["-Wl,--whole-archive", "-l:libcellar.a",
                                    "-Wl,--no-whole-archive"]
            program = str(prefix / f"p-{kind}")
            run(compiler, "-std=c11", "-o", program, str(prefix / "p.c"), *flags)
            run(program, env=environment)
        use_cmake(prefix, compiler)
        installed = {path.name for path in prefix.rglob("*")}
        wanted = {path.name for path in (root / "include/cellar").glob("*.h")}
        wanted |= {path.name for path in (root / "man").glob("*.1")} | {"cellar", "cellar-statread"}
        wanted |= {"_cellar", "cellar.fish"}
        for missing in sorted(wanted - installed):
            print(f"not installed: {missing}")
        completion = prefix / "share/bash-completion/completions/cellar"
        if not completion.is_file() or "complete -o bashdefault" not in completion.read_text():
            print("bash completion is not installed")
            return 1
        run(str(prefix / "bin/cellar"), "--version", env={})  # needs no path to its libraries
        run(str(prefix / "bin/cellar"), "demo-data", str(prefix / "country"), "--people", "100", env={},
            stderr=subprocess.DEVNULL, umask=0o022)
        run(str(prefix / "bin/cellar"), "plan", "check", str(prefix / "country/plans/small_country.yaml"))
        (prefix / "people.sav").write_text("no SPSS file" * 100)
        refused = subprocess.run([str(prefix / "bin/cellar"), "describe", "people.sav"], cwd=prefix,
                                 text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        if "people.sav: not an SPSS file" not in refused.stderr:
            print(f"the installed cellar-statread does not answer: {refused.stderr}")
            return 1
        return 1 if wanted - installed else 0


if __name__ == "__main__":
    sys.exit(main())
