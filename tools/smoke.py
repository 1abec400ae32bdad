#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Uses an installed Cellar as somebody new to it would, for tools/deb-test and tools/tarball-test.

usage: smoke.py FOLDER     with `cellar` on PATH and its Python package on PYTHONPATH; FOLDER is made
"""
import os
import pathlib
import subprocess
import sys
import urllib.request

import cellar


def run(*words, **settings):
    return subprocess.run(["cellar", *words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          **settings).stdout


def protect_a_table():
    run("tabulate", "people.csv", "--by", "region,sex", "--domain", "codelists", "--margins", "all", "-o", "true.json")
    run("protect", "true.json", "--mechanism", "discrete-laplace", "--total-epsilon", "1", "--negatives", "keep", "-o", "out.csv")
    rows = pathlib.Path("out.csv").read_text().splitlines()
    assert rows[0] == "region,sex,released" and len(rows) > 10, rows[:2]


def protect_in_python():
    table = cellar.tabulate("people.csv", ["region", "sex"], margins="all", domain_public=True)
    release = cellar.protect(table, "discrete-laplace:epsilon=0.25", negatives="keep", total_epsilon="1")
    assert release.verdict == "holds" and len(release.rows()) > 10, release
    assert cellar.__version__ in run("--version")


def ask_statread():
    """The program that reads files of statistical packages is found, and answers."""
    pathlib.Path("people.sav").write_text("no SPSS file" * 100)
    try:
        cellar.tabulate("people.sav", ["sex"])
    except cellar.Error as error:
        assert "not an SPSS file" in str(error), error
    refused = subprocess.run(["cellar", "describe", "people.sav"], stderr=subprocess.PIPE, text=True, check=False)
    assert "not an SPSS file" in refused.stderr, refused.stderr


def ask_server():
    """The table builder serves a table, and its page."""
    with subprocess.Popen(["cellar", "serve", "--demo", "served", "--people", "2000", "--listen", "127.0.0.1:0"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip()
            assert address, server.stderr.read()
            asked = "api/v2/tables/country/data?valuecodes[sex]=*&valuecodes[ContentsCode]=*&outputFormat=csv"
            with urllib.request.urlopen(address + asked, timeout=60) as answer:
                assert len(answer.read().decode().splitlines()) >= 3
            with urllib.request.urlopen(address, timeout=60) as answer:
                page = answer.read().decode()
                print("page of the table builder:", "yes" if "<script" in page else "no")
        finally:
            server.terminate()


def main():
    os.umask(0o022)
    run("demo-data", sys.argv[1], "--people", "2000", stderr=subprocess.DEVNULL)
    os.chdir(sys.argv[1])
    for step in (protect_a_table, protect_in_python, ask_statread, ask_server):
        step()
    print(run("--version").splitlines()[0], "works, in Python", sys.version.split()[0], "too")


if __name__ == "__main__":
    main()
