#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables that a database counts equal those that `cellar tabulate` makes of the same records in a
file, byte for byte: random records with hostile values, random questions, fixed seeds. A second table
holds numbers that a database may not know exactly: there it may refuse, and must not differ.

usage: compare.py CELLAR ENGINE [QUESTIONS]

ENGINE is one of servers.py: its server runs in a scratch folder, and is asked as one database and as
three shards. Exits 77 when it is not installed.
"""
import csv
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers  # noqa: E402  (beside this file)

CELLAR, ENGINE = os.path.abspath(sys.argv[1]), sys.argv[2]
QUESTIONS = int(sys.argv[3]) if len(sys.argv) > 3 else 40
COLUMNS = ["id", "region", "job", "age", "pay", "w", "u", "k", "k18"]
JOBS = ["nurse", "cook, head", "Müller", "O'Neill", 'the "boss"', "back\\slash", "Nurse", "nurse ",
        "10", "1e1", "x'; DROP TABLE people; --"]
HARD_NUMBERS = ["1e1", "2E+1", "1.5e-3", "1e-30", "1e30", "29.98999999999999999999", "29.990000000000000000001",
                "18.00000000000000000", "17.9999999999999999999999", "+", "-", ".", "", "1e", "--5", "5-5", "\t20 ",
                " \t20", "20\n", "x", "0x10", "nan", "inf", "1,5", "007", "-0", "9007199254740993", "1 2", "²", "?"]
REFUSED = ("cannot compare it exactly", "has no exact decimals")


def records(n, rng):
    """Rows whose values are texts; an empty one is NULL or '' in the database."""
    for i in range(n):
        yield [str(i), rng.choice(["n1", "n2", "s1", "s2"] * 5 + ["", "?"]), rng.choice(JOBS),
               rng.choice([str(rng.randrange(0, 100))] * 20
                          + ["", "?", " 17 ", "29.99", "+15", "30.000", ".5", "5."]),
               f"{rng.randrange(0, 10**6)}.{rng.randrange(0, 1000):03d}",
               f"{rng.randrange(0, 30)}.{rng.randrange(0, 10**6):06d}", f"p{rng.randrange(0, n // 2)}",
               str(rng.randrange(0, 256)), f"0.{rng.randrange(0, 10**12):012d}"]


def hard_records(n, rng):
    for i in range(n):
        number = HARD_NUMBERS[i % len(HARD_NUMBERS)]
        yield [str(i), rng.choice(["n1", "", "?", "N1", "n1 "]), rng.choice(JOBS + ["", "?"]), number, "200",
               rng.choice(["1", "0.1234567891", "2.0000000005", "12345678.123456789", "1e-3", " 5", "-1"]),
               f"p{i // 2}", rng.choice(["5", "300", "05", "+5", "5.0", ""]),
               rng.choice(["0.5", "0.1234567890123456789", "1", ".25", "5e-1"])]


def hard_questions():
    """About one value at a time, so that a refusal hides nothing else."""
    for number in HARD_NUMBERS:
        only = number.replace("\\", "\\\\").replace('"', '""')
        for more in (["--where", "age>=18"], ["--where", "age<29.99"], ["--where", "age!=17"]):
            yield ["--by", "pay", "--bottom", "pay=100", "--top", "pay=900", "--band", "pay=100",
                   "--where", f'age="{only}"'] + more
        yield ["--by", "age", "--bottom", "age=15", "--top", "age=75", "--band", "age=5", "--missing", "?",
               "--missing-as", "drop", "--bad-rows", "skip", "--where", f'age="{only}"']
    for region in ("region!=n1", "region=n1|?", 'region!=""', "job!=nurse|10", 'job=""'):
        yield ["--by", "pay", "--bottom", "pay=100", "--top", "pay=900", "--band", "pay=100", "--missing", "?",
               "--where", region]
    for weight in ("w", "k", "k18"):
        yield ["--by", "pay", "--bottom", "pay=100", "--top", "pay=900", "--band", "pay=100", "--weight", weight,
               "--bad-rows", "skip"]
    for w in ("0.1234567891", "2.0000000005", "12345678.123456789", "1e-3", " 5", "-1"):
        for more in ([], ["--max-weight", "3"]):
            yield ["--by", "pay", "--bottom", "pay=100", "--top", "pay=900", "--band", "pay=100", "--weight", "w",
                   "--where", f'w="{w}"'] + more
    for k in ("5", "300", "05", "+5", "5.0"):
        yield ["--by", "pay", "--bottom", "pay=100", "--top", "pay=900", "--band", "pay=100", "--record-key", "k",
               "--key-range", "256", "--where", f'k="{k}"']
    for k in ("0.5", "0.1234567890123456789", "1", ".25", "5e-1"):
        yield ["--by", "pay", "--bottom", "pay=100", "--top", "pay=900", "--band", "pay=100", "--record-key", "k18",
               "--where", f'k18="{k}"']


def question(rng, decimal_keys, units):
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
    if units and rng.random() < 0.3:
        options += ["--unit", "u", "--max-per-unit", rng.choice("12")]
    return options + rng.choice([[], ["--margins", "all"]])


def cellar(*arguments):
    return subprocess.run([CELLAR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


def compare(data, places, options, number, may_refuse=False):
    """0 the same, 1 differs, 2 refused."""
    asked = []
    for place in places:
        asked += ["--from", place]
    if "--unit" in options:
        asked += ["--order-by", "n"]
    ours, theirs = f"file{number}.json", f"engine{number}.json"
    first = cellar("tabulate", data, *options, "-o", ours)
    second = cellar("tabulate", "people", *options, *asked, "-o", theirs)
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
        print("differs:", repr(options), *asked, first.stderr, second.stderr, sep="\n")
    return int(not same)


def write_records(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def write_files():
    pathlib.Path("region.csv").write_text(
        "code,parent,label,role\nN,,,\nS,,,\nn1,N,,\nn2,N,,\ns1,S,,\ns2,S,,\nx,,,unknown\n", encoding="utf-8")
    with open("job.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["code"]] + [[job] for job in JOBS])
    pathlib.Path("stages.csv").write_text(
        "from,to\n" + "".join(f"{i},{'young' if i < 30 else 'old'}\n" for i in range(60)) + "*,other\n",
        encoding="utf-8")
    pathlib.Path("ends.csv").write_text("code,role\n<=95,\n>=97,\nelse,other\n", encoding="utf-8")


def shards(rows, n):
    """All records of a unit in one of them."""
    parts = [[] for _ in range(n)]
    for row in rows:
        parts[sum(map(ord, row[6])) % n].append(row)
    return parts


def ask_all(server, rng):
    rows, hard = list(records(3000, rng)), list(hard_records(600, rng))
    write_files()
    write_records("people.csv", rows)
    write_records("hard.csv", hard)
    ways = [[server.load("one", COLUMNS, rows)],
            [server.load(f"shard{i}", COLUMNS, part) for i, part in enumerate(shards(rows, 3))]]
    results = []
    for i in range(QUESTIONS):
        options = question(rng, "sqlite" not in ENGINE and ENGINE != "clickhouse", ENGINE != "clickhouse")
        results += [compare("people.csv", way, options, i) for way in ways]
    place = [server.load("hard", COLUMNS, hard)]
    hard_results = [compare("hard.csv", place, options, i, may_refuse=True)
                    for i, options in enumerate(hard_questions()) if QUESTIONS >= 50 or i % 4 == 0]
    wrong = results.count(1) + hard_results.count(1)
    print(f"{ENGINE}: {QUESTIONS} questions, one database and three shards; {len(hard_results)} with hard values, "
          f"of which {hard_results.count(2)} refused; {wrong} differ")
    return 1 if wrong else 0


def main():
    folder = tempfile.mkdtemp(prefix="cellar-engine-")
    os.chmod(folder, 0o755)
    os.chdir(folder)
    server = None
    try:
        server = servers.ENGINES[ENGINE](f"{folder}/server")
        return ask_all(server, random.Random(20261118))
    except servers.Missing as what:
        print(what, "is not installed")
        return 77
    finally:
        if server is not None:
            server.stop()
        subprocess.run(["rm", "-rf", folder], check=False)


if __name__ == "__main__":
    sys.exit(main())
