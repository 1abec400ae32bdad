# SPDX-License-Identifier: GPL-3.0-or-later
"""Random records with hostile values, and questions about them as options of `cellar tabulate`."""
import csv
import pathlib

COLUMNS = ["id", "region", "job", "age", "pay", "w", "u", "k", "k18"]
JOBS = ["nurse", "cook, head", "Müller", "O'Neill", 'the "boss"', "back\\slash", "Nurse", "nurse ",
        "10", "1e1", "x'; DROP TABLE people; --"]
HARD_NUMBERS = ["1e1", "2E+1", "1.5e-3", "1e-30", "1e30", "29.98999999999999999999", "29.990000000000000000001",
                "18.00000000000000000", "17.9999999999999999999999", "+", "-", ".", "", "1e", "--5", "5-5", "\t20 ",
                " \t20", "20\n", "x", "0x10", "nan", "inf", "1,5", "007", "-0", "9007199254740993", "1 2", "²", "?"]


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
    for w in ("0.1234567891", "2.0000000005", "12345678.123456789", "1e-3", " 5", "-1", "nobody's"):
        for more in ([], ["--max-weight", "3"]):
            yield ["--by", "pay", "--bottom", "pay=100", "--top", "pay=900", "--band", "pay=100", "--weight", "w",
                   "--where", f'w="{w}"'] + more
    for k in ("5", "300", "05", "+5", "5.0", "nobody's"):
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


def store_questions(rng, n):
    """Options of `cellar store build`, and questions to that store with what the file needs beside them."""
    options = ["--columns", "region,job,age", "--missing", "?", "--domain", "region=region.csv", "--domain",
               "job=job.csv", "--bottom", "age=15", "--top", "age=75", "--band", "age=5"]
    options += rng.choice([[], ["--sort-by", "region"], ["--missing-as", "drop"]])
    kept = [options[i:i + 2] for i in range(2, len(options), 2) if options[i] not in ("--sort-by", "--missing-as")]
    questions = []
    for _ in range(n):
        by = rng.sample(["region", "job", "age"], rng.randrange(1, 4))
        asked = ["--by", ",".join(by), "--missing-as", "drop"]
        if "region" in by:
            asked += rng.choice([[], ["--missing-as", "region=level"], ["--level", "region=1"]])
        asked += rng.choice([[], ["--where", "region=n1|s2"], ["--where", 'job="cook, head"|nurse']])
        asked += rng.choice([[], ["--margins", "all"]])
        more = [word for option in kept if option[0] == "--missing" or option[1].split("=")[0] in by for word in option]
        questions.append((asked, more))
    return options, questions


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
