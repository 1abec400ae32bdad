#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Cellar adds to the time that PostgreSQL takes to count, and three shards beside PostgreSQL's own
plan over foreign tables, in one run; on servers of our own in a scratch folder.

usage: postgresql.py CELLAR MAKE_PEOPLE [ROWS]
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/engine"))
import servers  # noqa: E402

CELLAR, MAKE_PEOPLE = (os.path.abspath(path) for path in sys.argv[1:3])
ROWS = sys.argv[3] if len(sys.argv) > 3 else "8200000"
COLUMNS = ["area", "sex", "age", "occupation", "industry"]
TEXTS = ", ".join(column + " text" for column in COLUMNS)


def show(what, value, unit="s"):
    print(f"  {what:<66} {value:10.3f} {unit}", flush=True)


def timed(arguments):
    """Seconds on the clock, and of the processor in the process itself."""
    began = time.monotonic()
    process = subprocess.Popen(arguments)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{arguments[0]} failed")
    return time.monotonic() - began, used.ru_utime + used.ru_stime


def write_code_lists():
    """The categories of a million people, which are those of all."""
    sample = subprocess.run([MAKE_PEOPLE, "1000000"], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.split(",") for line in sample.splitlines()[1:]]
    domains = []
    for i, column in enumerate(COLUMNS):
        pathlib.Path(f"{column}.csv").write_text("code\n" + "".join(f"{code}\n" for code in sorted({row[i] for row in rows})),
                                                 encoding="utf-8")
        domains += ["--domain", f"{column}={column}.csv"]
    return domains


def load(server, rows):
    """`rows` is a command of the shell that prints records."""
    server.run("postgres", f"CREATE TABLE people ({TEXTS});")
    subprocess.run(f"{rows} | psql -q -h '{server.folder}' -U cellar -d postgres -c "
                   "'COPY people FROM STDIN (FORMAT csv)'", shell=True, check=True)
    server.run("postgres", "VACUUM ANALYZE people;")


def add_foreign_tables(server, shards):
    """On `server` a table whose parts lie in the shards."""
    text = f"CREATE EXTENSION postgres_fdw; CREATE TABLE everybody ({TEXTS});"
    for i, shard in enumerate(shards):
        text += f"""CREATE SERVER shard{i} FOREIGN DATA WRAPPER postgres_fdw
            OPTIONS (host '{shard.folder}', dbname 'postgres', fetch_size '10000', async_capable 'true');
            CREATE USER MAPPING FOR cellar SERVER shard{i} OPTIONS (user 'cellar');
            CREATE FOREIGN TABLE people{i} () INHERITS (everybody) SERVER shard{i}
            OPTIONS (table_name 'people');"""
    server.run("postgres", text)


def count(domains, table, asked, path):
    places = [word for server in asked
              for word in ("--from", f"postgresql:host={server.folder} user=cellar dbname=postgres")]
    return timed([CELLAR, "tabulate", table, "--by", ",".join(COLUMNS), *domains, *places, "--sparse", "-o", path])


def measure(folder, started):
    domains = write_code_lists()
    for i in range(4):
        started.append(servers.Postgres(f"{folder}/{i}"))
    rows = f"'{MAKE_PEOPLE}' {ROWS} | tail -n +2"
    load(started[0], rows)
    for i, shard in enumerate(started[1:]):
        load(shard, f"{rows} | awk 'NR % 3 == {i}'")
    add_foreign_tables(started[0], started[1:])
    tables = {"one server": ("people", started[:1]), "three shards, Cellar adds up": ("people", started[1:]),
              "three shards, foreign tables of PostgreSQL": ("everybody", started[:1])}
    print(f"{ROWS} rows in PostgreSQL, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for number, (what, (table, asked)) in enumerate(tables.items()):
        elapsed, own = count(domains, table, asked, f"{number}.json")
        show(what, elapsed)
        show(what + ": processor time of Cellar", own)
    if len({pathlib.Path(f"{number}.json").read_bytes() for number in range(len(tables))}) != 1:
        sys.exit("the tables differ")


def main():
    started = []
    with tempfile.TemporaryDirectory(prefix="cellar-bench-") as folder:
        os.chmod(folder, 0o755)
        os.chdir(folder)
        try:
            measure(folder, started)
        finally:
            for server in started:
                server.stop()
            os.chdir("/")


if __name__ == "__main__":
    main()
