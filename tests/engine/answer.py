#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An answer that somebody else asked for (--from answer:DIALECT:FILE): SQLite is asked what `cellar sql`
writes, and the rows become the table that Cellar makes itself. Files that are no such answer are
refused in one sentence, and no table is written.

usage: answer.py CELLAR
"""
import csv
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

CELLAR = os.path.abspath(sys.argv[1])
WHAT = ["--by", "sex,job", "--domain", "sex=sex.csv", "--domain", "job=job.csv", "--weight", "w"]
failures = []


def cellar(*arguments):
    return subprocess.run([CELLAR, *arguments], capture_output=True, text=True, check=False)


def check(what, holds, detail=""):
    if not holds:
        failures.append(what)
        print("FAILED:", what, detail)


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def make_database(path, rows):
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE people (sex TEXT, job TEXT, w TEXT)")
    database.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    database.commit()
    return database


def refused(what, expected, rows, *places):
    write("bad.csv", rows)
    got = cellar("tabulate", "people", *WHAT, *(places or ("--from", "answer:sqlite:bad.csv")), "-o", "bad.json")
    check(what, got.returncode in (1, 2) and expected in got.stderr and got.stderr.count("\n") == 1
          and not os.path.exists("bad.json"), got)


def main():
    write("sex.csv", [["code"], ["f"], ["m"]])
    write("job.csv", [["code"], ["cook"], ["nurse, head"]])
    rows = [("fm"[i % 2], ["cook", "nurse, head"][i % 3 == 0], f"{i}.25") for i in range(90)]
    parts = [make_database(f"{i}.db", rows[i::2]) for i in range(2)]
    write("rows.csv", [["sex", "job", "w"], *rows])
    question = cellar("sql", "people", "--dialect", "sqlite", *WHAT)
    check("the question", question.returncode == 0, question)
    places, answers = [], []
    for i, part in enumerate(parts):
        asked = part.execute(question.stdout)
        answers.append([[column[0] for column in asked.description], *asked.fetchall()])
        write(f"{i}.csv", answers[i])
        places += ["--from", f"answer:sqlite:{i}.csv"]
    ours = cellar("tabulate", "rows.csv", *WHAT, "-o", "ours.json")
    theirs = cellar("tabulate", "people", *WHAT, *places, "-o", "theirs.json")
    check("two answers add up", (ours.returncode, theirs.returncode) == (0, 0)
          and pathlib.Path("ours.json").read_bytes() == pathlib.Path("theirs.json").read_bytes(), (ours, theirs))

    good = answers[0]
    check("a row for each cell", len(good) - 1 == len({(row[0], row[1]) for row in rows[::2]}), good)
    refused("nothing", "bad.csv", [])
    refused("a header alone", "no rows", good[:1])
    refused("no answer", "other columns", [["a", "b"], ["1", "2"]])
    refused("a row is missing", "cut off", good[:-1])
    refused("a row twice", "cut off", good + good[-1:])
    refused("another order of columns", "expected 'c1' as number 2", [[good[0][i] for i in (0, 2, 1, 3, 4, 5)], *good[1:]])
    refused("a column less", "expected 6", [row[:-1] for row in good])
    refused("a column more", "expected 6", [[*row, 1] for row in good])
    refused("a row twice, and no word of it", "not one to this question", [good[0], *[[*row[:-1], len(good)] for row in good[1:]],
                                                                          good[1]])
    refused("no word of how many rows", "not one to this question", [good[0], *[[*row[:-1], 0] for row in good[1:]]])
    refused("a count below nobody", "not one to this question", [good[0], [0, 0, 0, -1, 1, 1]])
    refused("a huge count", "not one to this question", [good[0], [0, 0, 0, 10**19, 1, 1]])
    refused("huge counts", "too many records", [good[0], *[[0, 0, i % 2, 2**63 - 1, 1, 3] for i in range(3)]])
    refused("a huge weight", "not one to this question", [good[0], [0, 0, 0, 1, "9" * 60, 1]])
    refused("a weight below 0", "at least 0", [good[0], [0, 0, 0, 1, "-1", 1]])
    refused("a NUL", "NUL", [good[0], ["0\0", 0, 0, 1, 1, 1]])
    refused("semicolons", "commas between", [[";".join(map(str, row))] for row in good])
    refused("a workbook", "bad.csv", [["PK\3\4\x14\0", "xl/workbook.xml"]])
    capitals = [[name.upper() for name in good[0]], *good[1:]]
    with open("0.csv", "w", encoding="utf-8-sig", newline="") as file:  # of a client for Windows
        csv.writer(file, lineterminator="\r\n").writerows(capitals)
    again = cellar("tabulate", "people", *WHAT, *places, "-o", "again.json")
    check("capitals, CRLF and a byte order mark", again.returncode == 0
          and pathlib.Path("again.json").read_bytes() == pathlib.Path("ours.json").read_bytes(), again)
    refused("a row that was not asked for", "not one to this question", [good[0], [0, 9, 0, 1, 1, 1], *good[2:]])
    refused("a number that is none", "not one to this question", [good[0], [0, "x", 0, 1, 1, 1], *good[2:]])
    refused("a count of nobody", "not one to this question", [good[0], [0, 0, 0, 0, 1, 1], *good[2:]])
    refused("a reason that there is not", "nothing asked for", [good[0], [-9, -1, -1, 1, 1, len(good) - 1], *good[2:]])
    refused("a file that is not there", "nothing.csv", [], "--from", "answer:sqlite:nothing.csv")
    refused("a dialect that is none", "answer:duckdb:FILE.csv", [], "--from", "answer:db2:0.csv")
    refused("an answer twice", "count twice", [], *places, "--from", "answer:sqlite:0.csv")
    refused("two dialects", "of the same kind", [], "--from", "answer:sqlite:0.csv", "--from", "answer:duckdb:1.csv")
    print(f"{len(failures)} answers are not met as they should be")
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="cellar-answer-") as scratch:
        os.chdir(scratch)
        result = main()
        os.chdir("/")
    sys.exit(result)
