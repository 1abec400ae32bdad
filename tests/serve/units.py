#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The units of examples/deploy are sound and confine the service; the server takes a socket that systemd passes.

usage: units.py CELLAR ROOT
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import builder

MOST_EXPOSED = 20 # tenths: docs/table-builder.md says 1.6


def check_units(cellar, root, folder):
    """What systemd says about the units, with the program of this build."""
    units = pathlib.Path(folder, "units")
    units.mkdir()
    for name in ("cellar.service", "cellar.socket"):
        text = (root / "examples/deploy" / name).read_text()
        (units / name).write_text(text.replace("/usr/bin/cellar ", f"{cellar} "))
    paths = [str(path) for path in sorted(units.iterdir())]
    for words in (["verify", *paths], ["security", "--offline=yes", f"--threshold={MOST_EXPOSED}", paths[0]]):
        found = subprocess.run(["systemd-analyze", "--no-pager", *words], capture_output=True, text=True, check=False)
        said = [line for line in found.stderr.splitlines() if "cellar" in line]
        if found.returncode != 0 or said:
            yield f"systemd-analyze {words[0]}: {found.returncode} {said or found.stdout[-500:]}"


def check_socket(cellar, folder):
    """A connection that was there before the server is answered."""
    config, _ = builder.make_budget(cellar, folder, 0.5)
    words = ["systemd-socket-activate", "-l", f"{folder}/http", cellar, "serve", str(config)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    server = builder.Server.__new__(builder.Server)
    server.url = f"unix:{folder}/http"
    try:
        while not pathlib.Path(folder, "http").exists():
            if process.poll() is not None:
                yield "systemd-socket-activate ended"
                return
            time.sleep(0.01)
        status = server.ask("/v1/health")[0]
        if status != 200:
            yield f"the first connection is answered with {status}"
        if process.stdout.readline().decode().strip() != server.url:
            yield "another address"
    finally:
        process.terminate()
        process.wait(builder.WAIT_SECONDS)
        process.stdout.close()


def main():
    cellar, root = sys.argv[1], pathlib.Path(sys.argv[2])
    if not shutil.which("systemd-analyze") or not shutil.which("systemd-socket-activate"):
        print("skipped: systemd is not on this machine")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        faults = [*check_units(cellar, root, folder), *check_socket(cellar, folder)]
    print("\n".join(faults) or "the units are sound, and the socket is taken")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
