#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `cellar sql` writes for engines that cannot be run here is SQL of their dialect, as the parser
sqlglot reads it: the random questions of compare.py, for each of these dialects. Names and texts must be those of the
same question for DuckDB, where they are compared for real: each dialect escapes them in its own way. More of its
meaning is not proved.

usage: syntax.py CELLAR [QUESTIONS]

SQLGLOT_PYTHON names a Python that has sqlglot ("python3" unless it is set; "chroot FOLDER python3" for
that of another system). Exits 77 when it has none, or the one of Debian 12 (10.6), which does not read all of it.
"""
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile

import compare  # beside this file

DIALECTS = ["spark", "bigquery", "snowflake", "trino"]  # sqlglot calls them by the same names
PARSER = """
import json, sys
import sqlglot
def words(parsed):  # quoted names, and texts but numbers, blanks and patterns
    names = {name.this for name in parsed.find_all(sqlglot.exp.Identifier) if name.quoted}
    texts = {text.this for text in parsed.find_all(sqlglot.exp.Literal) if text.is_string}
    return names, {text for text in texts if text[0:1] not in "^[" and any(map(str.isalpha, text))}
for line in sys.stdin:
    name, sql, same = json.loads(line)
    try:
        parsed = sqlglot.parse(sql, read=name)
        commands = [str(type(part)) for part in parsed if type(part).__name__ != "Select"]
        said = "" if len(parsed) == 1 and not commands else f"{len(parsed)} statements: {commands}"
        if not said and words(parsed[0]) != words(sqlglot.parse_one(same, read="duckdb")):
            said = f"other names or texts: {words(parsed[0])}"
    except sqlglot.errors.SqlglotError as error:
        said = str(error).splitlines()[0]
    print(json.dumps(said), flush=True)
"""


def main():
    python = shlex.split(os.environ.get("SQLGLOT_PYTHON", "python3"))
    look = "import sqlglot; assert int(sqlglot.__version__.split('.')[0]) > 10"
    if subprocess.run([*python, "-c", look], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print("sqlglot is not installed, or too old")
        return 77
    n_questions, rng = int(sys.argv[2]) if len(sys.argv) > 2 else 40, random.Random(20261119)
    asked, n_refused = [], 0
    with tempfile.TemporaryDirectory(prefix="cellar-syntax-") as folder:
        os.chdir(folder)
        compare.write_files()
        for name in DIALECTS:
            for _ in range(n_questions):
                options = compare.without_margins(compare.question(rng, decimal_keys=True, units=True))
                order = ["--order-by", "n"] if "--unit" in options else []
                written, same = (compare.cellar("sql", "people", "--dialect", one, *options, *order)
                                 for one in (name, "duckdb"))
                if written.returncode == 0 and same.returncode == 0:
                    asked.append((name, written.stdout, same.stdout))
                else:
                    n_refused += 1
                    print("refused:", name, written.stderr, same.stderr)
        os.chdir("/")
    parsed = subprocess.run([*python, "-c", PARSER], text=True, stdout=subprocess.PIPE, check=True,
                            input="".join(json.dumps(question) + "\n" for question in asked))
    said = [json.loads(line) for line in parsed.stdout.splitlines()]
    wrong = {name: [what for (other, _, _), what in zip(asked, said) if what and other == name] for name in DIALECTS}
    for name, found in wrong.items():
        print(f"{name}: {sum(other == name for other, _, _ in asked)} questions, {len(found)} not parsed", *found[:1])
    return 1 if any(wrong.values()) or n_refused or len(said) != len(asked) else 0


if __name__ == "__main__":
    sys.exit(main())
