# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables that a connection counts against those that the command line counts of the same records in a file."""
import importlib.util
import pathlib
import random
import sqlite3
import subprocess

import pytest

import cellar
from test_cellar import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("questions", ROOT / "tests/engine/questions.py")
questions = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(questions)


def connect(rows, columns=questions.COLUMNS, name="people"):
    connection = sqlite3.connect(":memory:")
    quoted = ", ".join('"' + column.replace('"', '""') + '" TEXT' for column in columns)
    connection.execute(f"CREATE TABLE {name} ({quoted}, n INTEGER PRIMARY KEY AUTOINCREMENT)")
    places = ", ".join("?" * len(columns))
    # an empty text and NULL are both missing
    connection.executemany(f"INSERT INTO {name} VALUES ({places}, NULL)",
                           [[value or (None if i % 2 else "") for value in row] for i, row in enumerate(rows)])
    return connection


def asked(options):
    """Arguments of tabulate() for the options of the command line."""
    single, of_variable = {}, {}
    for option, value in zip(options[::2], options[1::2]):
        name, equals, of = value.partition("=")
        if option in ("--bottom", "--top", "--band", "--band-origin", "--recode", "--level", "--domain",
                      "--missing-as") and equals:
            of_variable.setdefault(name, {})[option[2:].replace("-", "_")] = of
        else:
            single.setdefault(option[2:].replace("-", "_"), []).append(value)
    by = []
    for name in single["by"][0].split(","):
        found = dict(of_variable.get(name, {}))
        found.pop("domain", None)
        if "recode" in found:
            found["map"] = dict(line.split(",") for line in pathlib.Path(found.pop("recode")).read_text().split()[1:])
        if "band" in found and "band_closed" in single:
            found["band_closed"] = single["band_closed"][0]
        by.append(cellar.Variable(name, **{key: int(of) if key == "level" else of for key, of in found.items()}))
    more = {key: single[key][0] for key in ("missing_as", "weight", "unit", "record_key", "margins") if key in single}
    more.update({key: int(single[key][0]) for key in ("max_weight", "max_per_unit", "key_range") if key in single})
    if "unit" in single:
        more["order_by"] = ["n"]
    return by, {"codelists": {name: found["domain"] for name, found in of_variable.items() if "domain" in found},
                "where": single.get("where", []), "missing": single.get("missing", []), **more}


def compare(options, connection, data):
    """The sentence of a refusal, or None: the same table, byte for byte."""
    for name in ("file.json", "engine.json"):
        pathlib.Path(name).unlink(missing_ok=True)
    ran = subprocess.run([PROGRAM, "tabulate", data, *options, "-o", "file.json"], capture_output=True, text=True)
    by, more = asked(options)
    try:
        table = cellar.tabulate(connection, by, table="people", **more)
    except cellar.Error as error:
        return str(error), ran
    assert ran.returncode == 0, (options, ran.stderr)
    table.write("engine.json")
    assert pathlib.Path("engine.json").read_bytes() == pathlib.Path("file.json").read_bytes(), options
    return None, ran


def test_tables_are_those_of_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(20261119)
    rows = list(questions.records(1500, rng))
    questions.write_files()
    questions.write_records("people.csv", rows)
    connection = connect(rows)
    for _ in range(25):
        said, _ = compare(questions.question(rng, False, True), connection, "people.csv")
        assert said is None


def test_hard_values_are_counted_alike_or_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = list(questions.hard_records(300, random.Random(7)))
    questions.write_files()
    questions.write_records("hard.csv", rows)
    connection = connect(rows)
    refused = 0
    for number, options in enumerate(questions.hard_questions()):
        if number % 3 or "--bad-rows" in options:
            continue
        said, ran = compare(options, connection, "hard.csv")
        if said is None:
            continue
        refused += 1
        exact = ("cannot compare it exactly", "has no exact decimals")
        assert any(why in said for why in exact) or ran.stderr.strip().split(": column")[-1] == said.split(": column")[-1]
    assert refused > 0


def test_refusals_say_what_a_file_gets(tmp_path):
    connection = connect([["1", "x", "", "", "", "", "", "", ""]])
    lists = {"region": ["n1", "s1"]}
    with pytest.raises(cellar.Error, match="^sqlite: column 'region': .+") as e:
        cellar.tabulate(connection, ["region"], table="people", codelists=lists)
    assert e.value.status == "CELLAR_ERR_INPUT"
    with pytest.raises(cellar.Error, match="column 'job'.*missing"):
        cellar.tabulate(connection, ["job"], table="people", codelists={"job": ["nurse"]})
    key = tmp_path / "key"
    cellar.create_key(key, "2026")
    with pytest.raises(cellar.Error, match="would have to know the secret"):
        cellar.tabulate(connection, ["region"], table="people", codelists=lists, record_id="id", key=cellar.read_key(key))
    with pytest.raises(cellar.Error, match="have no order"):
        cellar.tabulate(connection, ["region"], table="people", codelists=lists, unit="u", max_per_unit=1)
    with pytest.raises(cellar.Error, match="every row is one record"):
        cellar.tabulate(connection, ["region"], table="people", codelists=lists, count="n")
    with pytest.raises(ValueError, match="`table` names the table"):
        cellar.tabulate(connection, ["region"], codelists=lists)
    with pytest.raises(ValueError, match="dialect cannot be"):
        cellar.tabulate(connection, ["region"], table="people", codelists=lists, dialect="sqlite3")
    with pytest.raises(TypeError, match="for a connection"):
        cellar.tabulate({"region": ["n1"]}, ["region"], table="people", codelists=lists)


def test_names_are_only_names():
    connection = connect([["f", "x"], ["m", "x"]], ["sex", 'a"b`c'])
    for name in ("people; DROP TABLE people", 'people" WHERE 1=1; DROP TABLE people; --', "people` --", '"people',
                 "people.", "people'", "people) --", "peeple"):
        with pytest.raises(cellar.Error):
            cellar.tabulate(connection, ["sex"], table=name, codelists={"sex": ["f", "m"]})
    for name in ('sex" FROM people; DROP TABLE people; --', "sex` FROM people; DROP TABLE people; --", "sex'--", "nosuch"):
        with pytest.raises(cellar.Error, match="sqlite: no such column") as error:
            cellar.tabulate(connection, [name], table="people", codelists={name: ["f", "m"]})
        assert error.value.status == "CELLAR_ERR_IO"
    table = cellar.tabulate(connection, ['a"b`c'], table="people", codelists={'a"b`c': ["x"]})
    assert table.true_counts() == [("x", 2)]


class Broken:
    """A connection whose answer breaks off, is cut off, or is not one."""

    def __init__(self, connection, then):
        self.connection, self.then, self.closed, self.sizes = connection, then, 0, []

    def cursor(self):
        self.inner = self.connection.cursor()
        return self

    def commit(self):
        raise AssertionError("nothing is committed")

    def execute(self, sql):
        assert sql.startswith("SELECT ")
        self.inner.execute(sql)

    def fetchmany(self, size):
        self.sizes.append(size)
        return self.then(self.inner, len(self.sizes))

    def close(self):
        self.closed += 1


def breaks(inner, call):
    if call > 1:
        raise sqlite3.OperationalError("the connection is gone\nwith a second line")
    return inner.fetchmany(1)


@pytest.mark.parametrize("then,expected,status", [
    (breaks, "^sqlite: the connection is gone$", "CELLAR_ERR_IO"),
    (lambda inner, call: inner.fetchmany(1) if call == 1 else [], "cut off", "CELLAR_ERR_INPUT"),
    (lambda inner, call: [("0", 7, 1, 1)], "is not one to this question", "CELLAR_ERR_INPUT"),
    (lambda inner, call: [(None, None, None, None)], "is not one to this question", "CELLAR_ERR_INPUT"),
])
def test_a_connection_that_fails_is_one_error(then, expected, status):
    broken = Broken(connect([["f"], ["m"]], ["sex"]), then)
    with pytest.raises(cellar.Error, match=expected) as error:
        cellar.tabulate(broken, ["sex"], table="people", codelists={"sex": ["f", "m"]}, dialect="sqlite")
    assert error.value.status == status and broken.closed == 1


def test_other_columns_are_refused():
    broken = Broken(connect([["f"]], ["sex"]), lambda inner, call: [(0, 0)])
    with pytest.raises(ValueError, match="other columns"):
        cellar.tabulate(broken, ["sex"], table="people", codelists={"sex": ["f", "m"]}, dialect="sqlite")


def test_answers_come_in_pieces_whatever_rows_are():
    rows = [[f"v{i % 300}"] for i in range(900)]
    lists = {"v": [f"v{i}" for i in range(300)]}
    plain = cellar.tabulate(connect(rows, ["v"]), ["v"], table="people", codelists=lists).true_counts()
    assert len(plain) == 300 and {count for _, count in plain} == {3}
    small = Broken(connect(rows, ["v"]), lambda inner, call: inner.fetchmany(7))
    assert cellar.tabulate(small, ["v"], table="people", codelists=lists, dialect="sqlite").true_counts() == plain
    assert len(small.sizes) == 44 and set(small.sizes) == {10000}
    by_name = connect(rows, ["v"])
    by_name.row_factory = lambda cursor, row: {column[0]: value for column, value in zip(cursor.description, row)}
    assert cellar.tabulate(by_name, ["v"], table="people", codelists=lists).true_counts() == plain
    as_bytes = connect(rows, ["v"])
    as_bytes.text_factory = bytes
    assert cellar.tabulate(as_bytes, ["v"], table="people", codelists=lists).true_counts() == plain


def test_the_dialect_follows_from_the_driver():
    from cellar._databases import dialect_of
    for module, dialect in (("psycopg2.extensions", "postgresql"), ("psycopg", "postgresql"), ("mariadb.connections", "mariadb"),
                            ("duckdb", "duckdb"), ("clickhouse_driver.dbapi.connection", "clickhouse"),
                            ("google.cloud.bigquery.dbapi.connection", "bigquery"), ("snowflake.connector", "snowflake"),
                            ("trino.dbapi", "trino"), ("databricks.sql.client", "spark")):
        assert dialect_of(type("Connection", (), {"__module__": module})(), None) == dialect
    odbc = type("Connection", (), {"__module__": "pyodbc", "getinfo": lambda self, what: "MariaDB" if what == 17 else ""})
    assert dialect_of(odbc(), None) == "mariadb"
    with pytest.raises(ValueError, match="name it by `dialect`"):
        dialect_of(type("Connection", (), {"__module__": "elsewhere"})(), None)
