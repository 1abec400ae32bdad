#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong at a database ends in one sentence, without a table: names that do not exist or that
try to be more than names, a missing shard, a tie among the records of a unit, an answer that was cut
off, a server that dies in the middle, and Ctrl-C, which ends the query at the server too. Plans whose
table changes or whose server dies charge nothing.

usage: faults.py CELLAR ENGINE      (of servers.py; exits 77 when it is not installed)
"""
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers  # noqa: E402  (beside this file)

CELLAR, ENGINE = os.path.abspath(sys.argv[1]), sys.argv[2]
COLUMNS = ["id", "sex", "u", 'a"b`c']
ROWS = [[str(i), "fm"[i % 2], f"u{i // 4}", "x"] for i in range(400)]
BY_SEX = ["--by", "sex", "--domain", "sex=sex.csv"]
SLOW = {  # a view that takes minutes, and the queries that run
    "postgresql": ("CREATE VIEW slow AS SELECT p.* FROM people p, LATERAL (SELECT pg_sleep(0.5) WHERE p.n >= 0) s",
                   "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%\"slow\"%' "
                   "AND pid <> pg_backend_pid()"),
    "mariadb": ("CREATE VIEW slow AS SELECT * FROM people WHERE sleep(0.5) = 0",
                "SELECT count(*) FROM information_schema.processlist WHERE info LIKE '%`slow`%' AND id <> connection_id()"),
    "clickhouse": ("CREATE VIEW slow AS SELECT toString(number % 2) AS sex, toString(number) AS u "
                   "FROM system.numbers LIMIT 100000000000",
                   "SELECT count() FROM system.processes WHERE query LIKE '%`slow`%' AND query NOT LIKE '%processes%'"),
}
# A view that has other numbers of rows for each connection.
RESTLESS = "CREATE VIEW restless AS SELECT p.* FROM people p, generate_series(1, pg_backend_pid() % 10007 + 1) WHERE p.n = 0"
PLAN = """plan: 1
title: Sexes
data: {table: TABLE}
unit: {name: person}
variables:
  - {name: sex, codelist: sex.csv}
  - {name: gender, column: sex, codelist: sex.csv}
tables:
  - {name: one, by: [sex]}
  - {name: two, by: [gender]}
mechanism: discrete-laplace
budget: {epsilon: 1}
negatives: keep
parameter_choice: advance
outputs: {folder: pack, formats: [csv]}
ledger: {file: ledger, dataset: people, request: one}
"""
failures = []


def check(what, holds, detail=""):
    if not holds:
        failures.append(what)
        print("FAILED:", what, detail)


def refused(what, expected, *arguments):
    got = subprocess.run([CELLAR, "tabulate", *arguments, "-o", "out.json"], capture_output=True, text=True, check=False)
    lines = got.stderr.strip().splitlines()
    check(what, got.returncode in (1, 2) and expected in got.stderr and len(lines) == 1
          and not os.path.exists("out.json"), (got.returncode, got.stderr))
    pathlib.Path("out.json").unlink(missing_ok=True)


def check_names(server, place):
    said = {"odbc-sqlite": "HY000", "odbc-postgresql": "there is no such column", "mariadb": "there is no such column"}
    refused("a misspelt column", said.get(ENGINE, "nosuch"), "people", "--from", place, *BY_SEX, "--where", "nosuch!=1")
    refused("a column with the table's name", "", "people", "--from", place, *BY_SEX, "--where", "people!=1")
    refused("a misspelt table", "", "peeple", "--from", place, *BY_SEX)
    for name in ('people; DROP TABLE people', 'people" WHERE 1=1; DROP TABLE people; --', "people` --", '"people',
                 "people.", ".people", '"a"b', "people'", 'people" --', "people) --"):
        refused("table " + name, "", name, "--from", place, *BY_SEX)
    for name in ('sex" FROM people; DROP TABLE people; --', "sex` FROM people; DROP TABLE people; --", "sex'--"):
        refused("column " + name, "", "people", "--from", place, "--by", f'"{name}"'.replace('" F', '"" F'),
                "--domain", "sex.csv")
    got = subprocess.run([CELLAR, "tabulate", "people", "--from", place, *BY_SEX], capture_output=True, text=True, check=False)
    check("the table is still there", got.returncode == 0 and "f,200" in got.stdout, got)
    if ENGINE != "clickhouse":  # where such names are refused
        got = subprocess.run([CELLAR, "tabulate", "people", "--from", place, "--by", '"a""b`c"', "--domain", "x.csv"],
                             capture_output=True, text=True, check=False)
        check("a name with quotes", got.returncode == 0 and "x,400" in got.stdout, got)


# What functions of a view say may be values of the data.
TALKATIVE = """CREATE FUNCTION tell(t text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RAISE NOTICE 'the value is %', t; RAISE WARNING 'the value is %', t; RETURN t; END $$;
CREATE FUNCTION cry(t text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the value is %', t USING ERRCODE = '42000'; END $$;
CREATE FUNCTION change(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN DELETE FROM people; RETURN t; END $$;
CREATE VIEW talking AS SELECT tell(sex) AS sex FROM people WHERE n < 3; CREATE VIEW crying AS SELECT cry(sex) AS sex FROM people;
CREATE VIEW changing AS SELECT change(sex) AS sex FROM people; CREATE VIEW whole AS SELECT sex::int AS sex FROM people;
CREATE VIEW naming AS SELECT sex::regclass::text AS sex FROM people; CREATE USER reader; GRANT SELECT ON talking TO reader"""
# Through ODBC, where nothing says who raised an error.
CRYING = {"odbc-postgresql": """CREATE FUNCTION cry(t text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the value is %', t USING ERRCODE = '42703'; END $$; CREATE VIEW crying AS SELECT cry(sex) AS sex FROM people""",
          "mariadb": """DELIMITER //
CREATE FUNCTION cry(t text) RETURNS text BEGIN SIGNAL SQLSTATE '42S22' SET MESSAGE_TEXT = t; RETURN t; END//
DELIMITER ;
CREATE VIEW crying AS SELECT cry(concat('the value is ', sex)) AS sex FROM people"""}


def check_crying(server, place):
    server.define("faults", CRYING[ENGINE])
    refused("crying", "there is no such column (SQLSTATE 42", "crying", "--from", place, *BY_SEX)
    check("what it cries is not shown", "value" not in subprocess.run(
        [CELLAR, "tabulate", "crying", "--from", place, *BY_SEX], capture_output=True, text=True, check=False).stderr)


def check_sqlite(place):
    """A view that could quote a value in its error is not evaluated; one that takes for ever can be left."""
    database = sqlite3.connect(place.removeprefix("sqlite:"))
    database.executescript("""CREATE VIRTUAL TABLE words USING fts5(word);
        CREATE VIEW crying AS SELECT (SELECT word FROM words WHERE words MATCH sex || ':x') AS sex FROM people;
        CREATE VIEW quoting AS SELECT p.sex FROM people p, json_each('{}', p.u) j;
        CREATE VIEW slow AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT sex FROM people, c""")
    database.close()
    refused("crying", "sqlite: unsafe use of virtual table", "crying", "--from", place, *BY_SEX)
    refused("an error that quotes a value", "sqlite: SQL logic error", "quoting", "--from", place, *BY_SEX)
    asked = subprocess.Popen([CELLAR, "tabulate", "slow", "--from", place, *BY_SEX, "-o", "out.json"], stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    asked.send_signal(signal.SIGINT)
    said = asked.communicate(timeout=60)[1]
    check("Ctrl-C", asked.returncode == 130 and said.startswith("cellar: cancelled") and not os.path.exists("out.json"), said)


# Who asks has settings of his own, which change how a value is written.
SETTINGS = {"postgresql": """CREATE USER stranger; GRANT SELECT ON people TO stranger; ALTER USER stranger SET IntervalStyle = 'iso_8601';
ALTER USER stranger SET DateStyle = 'German'; ALTER USER stranger SET bytea_output = 'escape';
CREATE VIEW written AS SELECT concat(interval '1 day 2 hours', '|', date '2000-12-31', '|', bytea '\\x00ff') AS sex FROM people;
GRANT SELECT ON written TO stranger; CREATE FUNCTION give_up(t text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the value is %', t USING ERRCODE = '40001'; END $$; CREATE VIEW given_up AS SELECT give_up(sex) AS sex FROM people;
CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0;
\\c latin
CREATE TABLE people AS SELECT U&'caf\\00e9' AS sex; GRANT SELECT ON people TO stranger""",
            "mariadb": "SET GLOBAL sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'; CREATE TABLE written (sex char(9)); INSERT INTO written VALUES ('ab')"}
WRITTEN = {"postgresql": "1 day 02:00:00|2000-12-31|\\x00ff", "mariadb": "ab"}


def counted(table, place, value):
    """Whether a table of one value is counted by it, in a locale that knows ASCII only."""
    pathlib.Path("written.csv").write_text(f"code\n{value}\n", encoding="utf-8")
    got = subprocess.run([CELLAR, "tabulate", table, "--from", place, "--by", "sex", "--domain", "sex=written.csv"],
                         capture_output=True, encoding="utf-8", env=os.environ | {"LC_ALL": "C"}, check=False)
    check("written as " + value, got.returncode == 0 and f"\n{value}," in got.stdout, got)


def check_settings(server, place):
    kind = ENGINE.replace("odbc-", "")
    server.define("faults", SETTINGS[kind])
    own_place = place
    place = place.replace("user=cellar", "user=stranger").replace("Username=cellar", "Username=stranger")
    counted("written", place, WRITTEN[kind])
    if kind == "postgresql":
        refused("a question that was given up", "ask again (SQLSTATE 40001)", "given_up", "--from", own_place, *BY_SEX)
        latin = place.replace("faults", "latin")
        counted("people", latin, "café")
        pathlib.Path("euro.csv").write_text("code\n€\n", encoding="utf-8")
        refused("a code that the encoding lacks", "does not have (SQLSTATE 22P05)", "people", "--from", latin, "--by", "sex",
                "--domain", "sex=euro.csv")
    else:
        server.run("SET GLOBAL sql_mode = DEFAULT")


def check_views(server, place):
    """Views that tell the data, or that change them; and a name that PostgreSQL would cut off."""
    server.define("faults", TALKATIVE)
    got = subprocess.run([CELLAR, "tabulate", "talking", "--from", place, *BY_SEX], capture_output=True, text=True, check=False)
    check("notices are not shown", got.returncode == 0 and "f,2" in got.stdout and "the value" not in got.stderr, got)
    for view, state in (("crying", "42000"), ("changing", "25006"), ("whole", "22P02"), ("naming", "42P01")):
        refused(view, f"cannot be counted (SQLSTATE {state})", view, "--from", place, *BY_SEX)
    refused("no right", "permission denied for table people", "people", "--from", place.replace("user=cellar", "user=reader"), *BY_SEX)
    server.define("faults", f"ALTER TABLE people ADD COLUMN {'x' * 63} text")
    refused("a name that is too long", "at most 63 bytes", "people", "--from", place, *BY_SEX, "--where", "x" * 64 + "=1")


def check_shards(place):
    broken = {"clickhouse": place.replace("database=faults", "database=nothing")}.get(
        ENGINE, place.replace("faults", "nothing"))
    refused("a missing shard", "", "people", "--from", place, "--from", broken, *BY_SEX)
    refused("a shard twice", "count twice", "people", "--from", place, "--from", place, *BY_SEX)


def run_plan(table, place):
    pathlib.Path("plan.yaml").write_text(PLAN.replace("TABLE", table), encoding="utf-8")
    return subprocess.Popen([CELLAR, "plan", "run", "plan.yaml", "--from", place], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)


def spent():
    return subprocess.run([CELLAR, "ledger", "show", "ledger", "--json"], capture_output=True, check=True).stdout


def check_plan(what, running, before):
    """It ended in one sentence, drew nothing and charged nothing."""
    said = running.communicate(timeout=60)[1].strip()
    check(what, running.returncode != 0 and said.startswith("cellar: ") and len(said.splitlines()) == 1
          and not os.path.exists("pack") and spent() == before, (running.returncode, said))
    return said


def check_plans(server, place):
    """A table that changes between two questions of one run, and a server that dies during one."""
    subprocess.run([CELLAR, "ledger", "create", "ledger", "--dataset", "people", "--unit", "person", "--neighbours",
                    "add-remove", "--epsilon", "2"], check=True, capture_output=True)
    before = spent()
    server.define("faults", RESTLESS)
    said = check_plan("a table that changes", run_plan("restless", place), before)
    check("it is said that the table changed", "changed between two questions" in said, said)
    running = run_plan("slow", place)
    server.wait_for_count(SLOW["postgresql"][1], lambda n: n > 0)
    server.server.kill()
    check_plan("a server that dies during a plan", running, before)


def slow_query(server, place, what, then):
    """Asks the slow view, does something, and returns the exit and the sentence."""
    _, running = SLOW[ENGINE.replace("odbc-", "")]
    asked = subprocess.Popen([CELLAR, "tabulate", "slow", "--from", place, *BY_SEX, "-o", "out.json"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    server.wait_for_count(running, lambda n: n > 0)
    started = time.monotonic()
    then(asked)
    said = asked.communicate(timeout=60)[1].strip()
    check(what + ": one sentence and no table", asked.returncode != 0 and said.startswith("cellar: ")
          and len(said.splitlines()) == 1 and not os.path.exists("out.json"), (asked.returncode, said))
    check(what + ": at once", time.monotonic() - started < 20)
    return running


def check_slow(server, place):
    view, _ = SLOW[ENGINE.replace("odbc-", "")]
    server.define("faults", view)
    running = slow_query(server, place, "Ctrl-C", lambda asked: asked.send_signal(signal.SIGINT))
    check("Ctrl-C ends the query", server.wait_for_count(running, lambda n: n == 0))
    if ENGINE == "postgresql":
        slow_query(server, place, "a query that is ended", lambda asked: server.run(
            "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%\"slow\"%' "
            "AND pid <> pg_backend_pid();"))
        check_plans(server, place)
    else:
        slow_query(server, place, "a server that dies", lambda asked: server.server.kill())


def main():
    folder = tempfile.mkdtemp(prefix="cellar-engine-")
    os.chmod(folder, 0o755)
    os.chdir(folder)
    pathlib.Path("sex.csv").write_text("code\nf\nm\n", encoding="utf-8")
    pathlib.Path("x.csv").write_text("code\nx\n", encoding="utf-8")
    server = None
    try:
        server = servers.ENGINES[ENGINE](f"{folder}/server")
        place = server.load("faults", COLUMNS if ENGINE != "clickhouse" else COLUMNS[:3],
                            ROWS if ENGINE != "clickhouse" else [row[:3] for row in ROWS])
        check_names(server, place)
        check_shards(place)
        if ENGINE == "postgresql":
            check_views(server, place)
        if ENGINE.replace("odbc-", "") in SETTINGS:
            check_settings(server, place)
        if ENGINE in CRYING:
            check_crying(server, place)
        if ENGINE == "sqlite":
            check_sqlite(place)
        if ENGINE != "clickhouse":
            refused("a tie", "has ties", "people", "--from", place, *BY_SEX, "--unit", "u", "--max-per-unit", "1",
                    "--order-by", "sex,u")
        if ENGINE == "mariadb":
            server.run("SET GLOBAL sql_select_limit = 1")
            refused("an answer cut off", "cut off", "people", "--from", place, *BY_SEX)
            server.run("SET GLOBAL sql_select_limit = DEFAULT")
        if ENGINE.replace("odbc-", "") in SLOW:
            check_slow(server, place)
    except servers.Missing as what:
        print(what, "is not installed")
        return 77
    finally:
        if server is not None:
            server.stop()
        subprocess.run(["rm", "-rf", folder], check=False)
    print(f"{ENGINE}: {len(failures)} faults are not met as they should be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
