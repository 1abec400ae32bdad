#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A front that was taken over opens neither data nor keys nor the ledger: tested by trying.

usage: sandbox.py CELLAR TRY_SANDBOX
"""
import pathlib
import subprocess
import sys
import tempfile

import builder

MUST_FAIL = {"socket", "unix socket", "code in memory", "debug", "signal others", "start a process", "start a program"}


def attempts(program, config, paths):
    """What a front of the configuration could do; None when the kernel cannot confine it."""
    found = subprocess.run([program, str(config), *paths], capture_output=True, text=True, check=False)
    if found.returncode == 77:
        print("skipped: " + found.stderr)
        return None
    if found.returncode != 0:
        raise SystemExit(found.stderr)
    return dict(line.rsplit(": ", 1) for line in found.stdout.splitlines())


def look(said, secret, public, own):
    """What is wrong: secrets are neither read nor written, what is public is read, what is its own is written."""
    can = lambda what: said.get(what) == "possible"
    for what in MUST_FAIL | {f"{do} {path}" for path in secret for do in ("read", "write")} | {f"write {p}" for p in public}:
        if what not in said or can(what):
            yield f"{what} is possible, or was not tried"
    for what in {f"read {path}" for path in public + own} | {f"write {path}" for path in own}:
        if not can(what):
            yield f"{what}: {said.get(what)}"


def of_cube(cellar, folder):
    config = builder.make(cellar, folder)
    state = pathlib.Path(folder, "state")
    state.mkdir()
    (state / "query.json").write_text("{}")
    config.write_text(config.read_text().replace("site:\n", "site:\n  state: ../state\n", 1))
    secret = ["people.csv", "cube.ledger", "cube.ledger.key", "plans/small_country.yaml", "country.cube"]
    return config, secret, [], ["state/query.json"]


def of_budget(cellar, folder):
    """The front of a vault: what the vault holds, and what it published."""
    config, token = builder.make_budget(cellar, folder, 0.5)
    with builder.Server([cellar, "serve", config, "--listen", "127.0.0.1:0"]) as server:
        server.ask("/v1/draws", "POST", '{"dataset": "census", "table": "sex", "max_cost": "1"}',
                   {"Authorization": f"Bearer {token}"})
    release, = pathlib.Path(folder, "public").iterdir()
    return config, ["people.csv", "ledger", "ledger-lock", "key", "witness", "list.csv"], [f"public/{release.name}", "access/tokens"], []


def main():
    cellar, program = sys.argv[1:]
    faults, n = [], 0
    for make in (of_cube, of_budget):
        with tempfile.TemporaryDirectory() as folder:
            config, *lists = make(cellar, folder)
            secret, public, own = ([f"{folder}/{name}" for name in names] for names in lists)
            secret += [str(config), "/etc/passwd", "/proc/self/environ"]
            said = attempts(program, config, secret + public + own)
            if said is None:
                return 77
            faults += [f"{make.__name__}: {fault}" for fault in look(said, secret, public, own)]
            n += len(said)
    print("\n".join(faults) or f"{n} attempts, as they should end")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
