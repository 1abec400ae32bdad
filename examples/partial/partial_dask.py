#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: partial_dask.py PARTS CODELISTS TRUE.json   (Dask)

The workers see the folders of the client; DASK_SCHEDULER names the scheduler.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from dask.distributed import Client


def count(part, codelists, table):
    subprocess.run(["cellar", "tabulate", part, "--by", "region,sex", "--domain", codelists, "-o", table], check=True)
    return table


def main():
    parts, codelists, out = sys.argv[1:]
    with Client(os.environ["DASK_SCHEDULER"]) as client, tempfile.TemporaryDirectory(dir=".") as folder:
        here = pathlib.Path(folder).resolve()
        tables = [client.submit(count, str(part.resolve()), str(pathlib.Path(codelists).resolve()),
                                str(here / (part.stem + ".json")), pure=False)
                  for part in sorted(pathlib.Path(parts).glob("part-*.csv"))]
        subprocess.run(["cellar", "merge", *client.gather(tables), "-o", out], check=True)


if __name__ == "__main__":
    main()
