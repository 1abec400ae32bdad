#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check_server.py BUILD_FOLDER: do clients of PxWeb and SDMX, which others wrote, read from our server what the
command line writes? Those that are not at hand are skipped. In the environment:

    PXAPI=FILE            the OpenAPI definition of PxWebApi 2, for npm's openapi-response-validator
    PXWEB_SOURCE=FOLDER   the source of R's pxweb, where it is not installed
    PXWEBPY_SOURCE=FOLDER the source of Python's pxwebpy, where it is not installed
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "serve"))
import builder  # noqa: E402
import formats  # noqa: E402

NPM = {"jsonstat-toolkit": "2.2.2", "openapi-response-validator": "12.1.3", "js-yaml": "4.1.0"}
SKIPPED = 77


def has_npm(work):
    """Whether the packages of NPM lie below the folder; gets them where that can be done."""
    if not shutil.which("npm") or not shutil.which("node"):
        return False
    missing = [f"{name}@{version}" for name, version in NPM.items() if not (work / "node_modules" / name).is_dir()]
    return not missing or subprocess.run(
        ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", work, *missing],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def clients(work):
    """(name, command without its arguments, or None)"""
    node = ["node"] if has_npm(work) else None
    r = ["Rscript"] if shutil.which("Rscript") else None
    python = ["/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable]
    yield "jsonstat-toolkit", node and node + ["server_jsonstat.js"]
    yield "openapi-response-validator", node and os.environ.get("PXAPI") and node + ["server_openapi.js"]
    yield "rsdmx", r and r + ["server_rsdmx.R"]
    yield "pxweb", r and r + ["server_pxweb.R"]
    yield "pxwebpy", python + ["server_pxwebpy.py"]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    cellar, work = str(build / "cellar"), build / "interop"
    work.mkdir(exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        config = builder.make(cellar, folder)
        config.write_text(config.read_text().replace("site:\n", f"site:\n  state: {folder}/saved\n", 1))
        os.mkdir(f"{folder}/saved", 0o700)
        formats.expected(cellar, f"{folder}/country.cube", folder)
        with builder.Server([cellar, "serve", config, "--listen", "127.0.0.1:0"]) as server:
            for name, command in clients(work):
                if not command:
                    print(f"{name}: skipped, not at hand")
                    continue
                command[1] = str(HERE / command[1])
                done = subprocess.run(
                    command + [server.url.rstrip("/"), f"{folder}/expected.csv"], cwd=work, check=False,
                    env=dict(os.environ, NODE_PATH=str(work / "node_modules")),
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
                if done.returncode == SKIPPED:
                    print(f"{name}: skipped, not at hand")
                else:
                    failed += done.returncode != 0
                    print(f"{name}: {done.stdout.strip() if done.returncode == 0 else 'FAILED' + chr(10) + done.stdout}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
