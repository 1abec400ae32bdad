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


def main():
    cellar, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        config = builder.make(cellar, folder)
        state = pathlib.Path(folder, "state")
        state.mkdir()
        (state / "query.json").write_text("{}")
        config.write_text(config.read_text().replace("site:\n", "site:\n  state: ../state\n", 1))
        secret = [str(pathlib.Path(folder, name)) for name in
                  ("people.csv", "cube.ledger", "cube.ledger.key", "plans/small_country.yaml", "country.cube")]
        secret += [str(config), "/etc/passwd", "/proc/self/environ"]
        found = subprocess.run([program, str(config), *secret, str(state / "query.json")], capture_output=True, text=True)
        if found.returncode == 77:
            print("skipped: " + found.stderr)
            return 77
        if found.returncode != 0:
            print(found.stderr)
            return 1
    said = dict(line.rsplit(": ", 1) for line in found.stdout.splitlines())
    faults = [f"{what} is possible" for what, how in said.items()
              if how == "possible" and str(state) not in what]
    faults += [f"{what} was not tried" for what in
               MUST_FAIL | {f"read {path}" for path in secret} | {f"write {path}" for path in secret} if what not in said]
    faults += [f"{what}: {said[what]}" for what in (f"read {state}/query.json", f"write {state}/query.json")
               if said[what] != "possible"]
    print("\n".join(faults) or f"{len(said)} attempts, {len(said) - 2} of them refused")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
