#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables that a database counts equal those that `cellar tabulate` makes of the same records in a
file, byte for byte: random records with hostile values, random questions, fixed seeds.

usage: compare.py CELLAR ENGINE [QUESTIONS]

ENGINE is sqlite or postgresql (one server, then three shards). A PostgreSQL server is started
from Debian's package as a plain user, on a socket in a scratch folder. Exits 77 when it is not
installed.
"""
import csv
import glob
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile

CELLAR, ENGINE = sys.argv[1], sys.argv[2]
QUESTIONS = int(sys.argv[3]) if len(sys.argv) > 3 else 40
COLUMNS = ["id", "region", "job", "age", "pay", "w", "u", "k", "k18"]
JOBS = ["nurse", "cook, head", "Müller", "O'Neill", 'the "boss"', "back\\slash", "Nurse", "nurse ",
        "10", "1e1", "x'; DROP TABLE people; --"]
NOBODY = 65534


def records(n, rng):
    """Rows whose values are texts; an empty one is NULL or '' in the database."""
    for i in range(n):
        yield [str(i), rng.choice(["n1", "n2", "s1", "s2"] * 5 + ["", "?"]), rng.choice(JOBS),
               rng.choice([str(rng.randrange(0, 100))] * 20
                          + ["", "?", " 17 ", "29.99", "+15", "30.000", ".5", "5."]),
               f"{rng.randrange(0, 10**6)}.{rng.randrange(0, 1000):03d}",
               f"{rng.randrange(0, 30)}.{rng.randrange(0, 10**6):06d}", f"p{rng.randrange(0, n // 2)}",
               str(rng.randrange(0, 256)), f"0.{rng.randrange(0, 10**12):012d}"]


def question(rng, decimal_keys):
    """Options that both ways of counting take."""
    by = rng.sample(["region", "job", "age", "pay"], rng.randrange(1, 4))
    options = ["--by", ",".join(by), "--missing", "?", "--missing-as", "drop"]
    for name in by:
        if name in ("region", "job"):
            options += ["--domain", f"{name}={name}.csv"]
    if "region" in by:
        options += rng.choice([[], ["--missing-as", "region=level"], ["--level", "region=1"]])
    if "age" in by:
        options += rng.choice([
            ["--bottom", "age=15", "--top", "age=75", "--band", f"age={rng.choice(['5', '7', '2.5'])}",
             "--band-closed", rng.choice(["left", "right"]), "--band-origin", "age=3"],
            ["--recode", "age=stages.csv"],
            ["--bottom", "age=95", "--top", "age=97", "--domain", "age=ends.csv"]])
    if "pay" in by:
        options += ["--bottom", "pay=100.5", "--top", "pay=900000", "--band", "pay=12345.678"]
    if rng.random() < 0.5:
        options += ["--where", rng.choice(["age>=18", "age<29.99", "job!=nurse|10", 'job="cook, head"|O\'Neill',
                                           "pay>5000.125", "region=n1|s2"])]
    if rng.random() < 0.4:
        options += ["--weight", "w"] + rng.choice([[], ["--max-weight", "7"]])
    if rng.random() < 0.4:
        options += (["--record-key", "k18"] if decimal_keys and rng.random() < 0.5
                    else ["--record-key", "k", "--key-range", "256"])
    if rng.random() < 0.3:
        options += ["--unit", "u", "--max-per-unit", rng.choice("12")]
    return options + rng.choice([[], ["--margins", "all"]])


def cellar(*arguments):
    return subprocess.run([CELLAR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


def compare(places, options, number):
    asked = []
    for place in places:
        asked += ["--from", place]
    if "--unit" in options:
        asked += ["--order-by", "n"]
    ours, theirs = f"file{number}.json", f"engine{number}.json"
    first = cellar("tabulate", "people.csv", *options, "-o", ours)
    second = cellar("tabulate", "people", *options, *asked, "-o", theirs)
    if (first.returncode, second.returncode) == (0, 0):
        same = pathlib.Path(ours).read_bytes() == pathlib.Path(theirs).read_bytes()
    else:  # the same sentence, but for the place of the fault
        same = first.returncode == second.returncode and \
            first.stderr.split(": column")[-1] == second.stderr.split(": column")[-1]
    if not same:
        print("differs:", " ".join(options), *asked, first.stderr, second.stderr, sep="\n")
    return same


def write_files(rows):
    with open("people.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    pathlib.Path("region.csv").write_text(
        "code,parent,label,role\nN,,,\nS,,,\nn1,N,,\nn2,N,,\ns1,S,,\ns2,S,,\nx,,,unknown\n", encoding="utf-8")
    with open("job.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["code"]] + [[job] for job in JOBS])
    pathlib.Path("stages.csv").write_text(
        "from,to\n" + "".join(f"{i},{'young' if i < 30 else 'old'}\n" for i in range(60)) + "*,other\n",
        encoding="utf-8")
    pathlib.Path("ends.csv").write_text("code,role\n<=95,\n>=97,\nelse,other\n", encoding="utf-8")


def load_sqlite(path, rows):
    database = sqlite3.connect(path)
    columns = ", ".join(f'"{name}" TEXT' for name in COLUMNS)
    database.execute(f"CREATE TABLE people (n INTEGER, {columns})")
    database.executemany(f"INSERT INTO people VALUES ({', '.join('?' * (len(COLUMNS) + 1))})",
                         [[int(row[0])] + [None if v == "" and i % 2 else v for v in row]
                          for i, row in enumerate(rows)])
    database.commit()
    database.close()


class Postgres:
    """A server of our own, as a plain user."""

    def __init__(self, folder):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        if not programs:
            print("PostgreSQL is not installed")
            sys.exit(77)
        self.bin = pathlib.Path(programs[-1]).parent
        self.folder = folder
        os.mkdir(folder)
        if os.getuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        self.run("initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "cellar", "-E", "UTF8", "--no-locale", "-N")
        self.server = subprocess.Popen(
            [str(self.bin / "postgres"), "-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses=",
             "-c", "fsync=off"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.user())
        for _ in range(100):
            if subprocess.run([str(self.bin / "pg_isready"), "-h", folder, "-q"], check=False).returncode == 0:
                return
            subprocess.run(["sleep", "0.1"], check=False)
        raise RuntimeError("the server did not start")

    @staticmethod
    def user():
        return {"user": NOBODY, "group": NOBODY, "cwd": "/"} if os.getuid() == 0 else {}

    def run(self, program, *arguments):
        subprocess.run([str(self.bin / program), *arguments], check=True, stdout=subprocess.DEVNULL,
                       **self.user())

    def load(self, name, rows):
        columns = ", ".join(f'"{column}" text' for column in COLUMNS)
        text = f"CREATE DATABASE {name};\n\\c {name}\nCREATE TABLE people (n int, {columns});\nCOPY people FROM STDIN;\n"
        for i, row in enumerate(rows):
            fields = [row[0]] + ["\\N" if v == "" and i % 2 else v.replace("\\", "\\\\") for v in row]
            text += "\t".join(fields) + "\n"
        subprocess.run(["psql", "-q", "-h", self.folder, "-U", "cellar", "-d", "postgres", "-v", "ON_ERROR_STOP=1"],
                       input=text + "\\.\n", text=True, check=True)
        return f"postgresql:host={self.folder} user=cellar dbname={name}"

    def stop(self):
        self.server.terminate()
        self.server.wait()


def shards(rows, n):
    """All records of a unit in one of them."""
    parts = [[] for _ in range(n)]
    for row in rows:
        parts[sum(map(ord, row[6])) % n].append(row)
    return parts


def main():
    rng = random.Random(20261118)
    folder = tempfile.mkdtemp(prefix="cellar-engine-")
    os.chmod(folder, 0o755)
    os.chdir(folder)
    rows = list(records(3000, rng))
    write_files(rows)
    server = None
    try:
        if ENGINE == "sqlite":
            load_sqlite("one.db", rows)
            for i, part in enumerate(shards(rows, 3)):
                load_sqlite(f"shard{i}.db", part)
            ways = [["sqlite:one.db"], [f"sqlite:shard{i}.db" for i in range(3)]]
        else:
            server = Postgres(f"{folder}/pg")
            ways = [[server.load("one", rows)],
                    [server.load(f"shard{i}", part) for i, part in enumerate(shards(rows, 3))]]
        wrong = 0
        for i in range(QUESTIONS):
            options = question(rng, ENGINE != "sqlite")
            for way in ways:
                wrong += not compare(way, options, i)
                pathlib.Path(f"file{i}.json").unlink(missing_ok=True)
                pathlib.Path(f"engine{i}.json").unlink(missing_ok=True)
    finally:
        if server is not None:
            server.stop()
        subprocess.run(["rm", "-rf", folder], check=False)
    print(f"{ENGINE}: {QUESTIONS} questions, one database and three shards, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
