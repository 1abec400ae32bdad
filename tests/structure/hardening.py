#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program and the libraries are built hardened, and the program hardens its process.

usage: hardening.py SOURCE CELLAR SHARED_LIBRARY STATIC_LIBRARY

Read from the binaries: position-independent, all relocations read-only once it runs, no executable
stack, the stack protector, checked sizes of copies, and branch protection where the processor has
it. Read from /proc: a verb at work cannot gain privileges and has a filter of system calls; loading
the shared library into another process changes nothing there.
"""
import ctypes
import platform
import re
import subprocess
import sys
import time

faults = []


def expect(holds, what):
    if not holds:
        faults.append(what)


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True,
                          check=True).stdout


def check_binary(path, is_program):
    headers, dynamic = readelf("-l", path), readelf("-d", path)
    symbols = readelf("--dyn-syms", path)
    expect("GNU_RELRO" in headers, f"{path}: no RELRO")
    expect("BIND_NOW" in dynamic or re.search(r"Flags:.*NOW", dynamic), f"{path}: binds late")
    expect(re.search(r"GNU_STACK.* RW ", headers), f"{path}: its stack can be executed")
    expect("__stack_chk_fail" in symbols, f"{path}: no stack protector")
    expect(re.search(r"__(memcpy|snprintf|vsnprintf|read)_chk", symbols), f"{path}: no FORTIFY")
    expect("TEXTREL" not in dynamic, f"{path}: relocations in code")
    if is_program:
        expect(re.search(r"Flags:.*PIE", dynamic), f"{path}: not position-independent")


def check_objects(path):
    """What a whole program has depends on the system's start files too; ours are in the library."""
    wanted = {"x86_64": "IBT, SHSTK", "aarch64": "BTI, PAC"}.get(platform.machine())
    notes = readelf("-n", path)
    if wanted is not None:
        n_objects = len(re.findall(r"^File: ", notes, re.M))
        expect(n_objects > 100 and notes.count(wanted) == n_objects,
               f"{path}: {notes.count(wanted)} of {n_objects} objects have {wanted}")


def status_of(process):
    with open(f"/proc/{process}/status", encoding="ascii") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def check_process(cellar):
    """A verb that waits for its input."""
    for verb in (["tabulate", "-", "--by", "sex"],
                 ["protect", "-", "--mechanism", "discrete-laplace:epsilon=1"]):
        with subprocess.Popen([cellar, *verb], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as child:
            for _ in range(200): # until it has begun
                found = status_of(child.pid)
                if found.get("Seccomp") == "2" or child.poll() is not None:
                    break
                time.sleep(0.01)
            child.stdin.close()
        expect(found.get("NoNewPrivs") == "1", f"{verb[0]}: may gain privileges")
        expect(found.get("Seccomp") == "2", f"{verb[0]}: has no filter of system calls")


def check_library(path):
    before = status_of("self")
    ctypes.CDLL(path).cellar_version()
    after = status_of("self")
    for name in ("NoNewPrivs", "Seccomp", "Umask"):
        expect(before[name] == after[name], f"{path}: changes {name} of a process that loads it")


def main():
    cellar, shared, static = sys.argv[2:5]
    check_binary(cellar, True)
    check_binary(shared, False)
    check_objects(static)
    check_process(cellar)
    check_library(shared)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
