#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables that a database counts equal those that `cellar tabulate` makes of the same records in a
file, byte for byte: random records with hostile values, random questions, fixed seeds. A second table
holds numbers that a database may not know exactly: there it may refuse, and must not differ.

usage: compare.py CELLAR ENGINE [QUESTIONS]

ENGINE is one of servers.py: its server runs in a scratch folder (several servers where the name says
so), and is asked as one database and as three shards. Exits 77 when it is not installed.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers  # noqa: E402  (beside this file)
from questions import (COLUMNS, hard_questions, hard_records, question, records, store_questions,  # noqa: E402
                       write_files, write_records)

CELLAR = os.path.abspath(sys.argv[1])
REFUSED = ("cannot compare it exactly", "has no exact decimals")


def cellar(*arguments):
    return subprocess.run([CELLAR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


def without_margins(options):
    """A question of `cellar sql`, which asks for inner cells."""
    return options[:options.index("--margins")] if "--margins" in options else options


def ask(server, places, options, path):
    """The table that a database counts."""
    asked = ["--order-by", "n"] if "--unit" in options else []
    if hasattr(server, "ask"):
        written = cellar("sql", "people", "--dialect", server.dialect, *without_margins(options), *asked)
        if written.returncode != 0:
            return written
        places = server.ask(written.stdout, places)
    for place in places:
        asked += ["--from", place]
    return cellar("tabulate", "people", *options, *asked, "-o", path)


def compare(server, data, places, options, number, may_refuse=False):
    """0 the same, 1 differs, 2 refused."""
    ours, theirs = f"file{number}.json", f"engine{number}.json"
    first = cellar("tabulate", data, *options, "-o", ours)
    second = ask(server, places, options, theirs)
    if (first.returncode, second.returncode) == (0, 0):
        same = pathlib.Path(ours).read_bytes() == pathlib.Path(theirs).read_bytes()
        same &= first.stderr.split(": ")[2:] == second.stderr.split(": ")[2:]  # rows read and left out
    else:  # the same sentence, but for the place of the fault
        same = first.returncode == second.returncode and \
            first.stderr.split(": column")[-1] == second.stderr.split(": column")[-1]
    for path in (ours, theirs):
        pathlib.Path(path).unlink(missing_ok=True)
    if not same and may_refuse and second.returncode != 0 and any(why in second.stderr for why in REFUSED):
        return 2
    if not same:
        print("differs:", repr(options), *places, first.stderr, second.stderr, sep="\n")
    return int(not same)


def build_store(server, places, options, path):
    """A store of what a database holds."""
    if hasattr(server, "ask"):
        question = ["--by", *options[1:]]
        if "--sort-by" in question:  # the store sorts
            at = question.index("--sort-by")
            del question[at:at + 2]
        written = cellar("sql", "people", "--dialect", server.dialect, "--for-store", *question)
        places = server.ask(written.stdout, places)
    asked = [word for place in places for word in ("--from", place)]
    return cellar("store", "build", "people", *options, *asked, "-o", path)


def compare_stores(server, ways, rng):
    """How many of 20 tables of stores that databases filled differ from those of the file."""
    n_wrong = 0
    for i, places in enumerate(ways):
        path, (options, questions) = f"way{i}.store", store_questions(rng, 20)
        built = build_store(server, places, options, path)
        if built.returncode != 0 or "3000 rows read" not in built.stderr:
            print("no store:", *options, *places, built.stderr)
            return 1
        for asked, more in questions:
            ours = cellar("tabulate", "people.csv", *asked, *more, "-o", "ours.json")
            theirs = cellar("tabulate", path, *asked, "-o", "theirs.json")
            same = ours.returncode == theirs.returncode == 0 and \
                pathlib.Path("ours.json").read_bytes() == pathlib.Path("theirs.json").read_bytes()
            same &= ours.stderr.split(": ")[2:] == theirs.stderr.split(": ")[2:]
            for file in ("ours.json", "theirs.json"):
                pathlib.Path(file).unlink(missing_ok=True)
            if not same:
                print("a store differs:", *options, *asked, *places, ours.stderr, theirs.stderr, sep="\n")
                n_wrong += 1
    return n_wrong


def shards(rows, n):
    """All records of a unit in one of them."""
    parts = [[] for _ in range(n)]
    for row in rows:
        parts[sum(map(ord, row[6])) % n].append(row)
    return parts


def ask_all(server, engine, n_questions, rng):
    rows, hard = list(records(3000, rng)), list(hard_records(600, rng))
    write_files()
    write_records("people.csv", rows)
    write_records("hard.csv", hard)
    ways = [[server.load("one", COLUMNS, rows)],
            [server.load(f"shard{i}", COLUMNS, part) for i, part in enumerate(shards(rows, 3))]]
    results = []
    for i in range(n_questions):
        options = question(rng, "sqlite" not in engine and "clickhouse" not in engine, "clickhouse" not in engine)
        results += [compare(server, "people.csv", way, options, i) for way in ways]
    place = [server.load("hard", COLUMNS, hard)]
    hard_results = [compare(server, "hard.csv", place, options, i, may_refuse=True)
                    for i, options in enumerate(hard_questions()) if n_questions >= 50 or i % 4 == 0]
    wrong = results.count(1) + hard_results.count(1) + compare_stores(server, ways, rng)
    print(f"{engine}: {n_questions} questions, one database and three shards; {len(hard_results)} with hard values, "
          f"of which {hard_results.count(2)} refused; 20 to a store of each; {wrong} differ")
    return 1 if wrong else 0


def main():
    engine, n_questions = sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 40
    folder = tempfile.mkdtemp(prefix="cellar-engine-")
    os.chmod(folder, 0o755)
    os.chdir(folder)
    server = None
    try:
        server = servers.ENGINES[engine](f"{folder}/server")
        return ask_all(server, engine, n_questions, random.Random(20261118))
    except servers.Missing as what:
        print(what, "is not installed")
        return 77
    finally:
        if server is not None:
            server.stop()
        subprocess.run(["rm", "-rf", folder], check=False)


if __name__ == "__main__":
    sys.exit(main())
