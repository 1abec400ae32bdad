# SPDX-License-Identifier: GPL-3.0-or-later
"""Database servers of our own, from Debian's packages, as a plain user in a scratch folder, on sockets or
on the loopback. load(name, columns, rows) makes a database with a table `people` of texts and a
number `n`, and returns the place that `cellar --from` takes. An empty text is NULL in every other row."""
import csv
import glob
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import time
import urllib.request

NOBODY = 65534


class Missing(Exception):
    """A server or a driver is not installed."""


def user():
    return {"user": NOBODY, "group": NOBODY, "cwd": "/"} if os.getuid() == 0 else {}


def folder_for_user(folder):
    os.mkdir(folder)
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)


def with_nulls(rows):
    """(number, fields), with None for some of the empty ones."""
    for i, row in enumerate(rows):
        yield int(row[0]), [None if v == "" and i % 2 else v for v in row]


def quoted(name, quote='"'):
    return name.replace(quote, 2 * quote)


def wait_until(holds, what):
    for _ in range(300):
        if holds():
            return
        time.sleep(0.1)
    raise RuntimeError(what + " did not start")


class Server:
    """What the servers have in common; count(sql) is the number that a query answers."""

    def wait_for_count(self, sql, holds):
        for _ in range(100):
            if holds(self.count(sql)):
                return True
            time.sleep(0.1)
        return False

    def stop(self):
        self.server.terminate()
        self.server.wait()


def need_driver(name):
    """An ODBC driver that unixODBC knows by this name."""
    try:
        known = subprocess.run(["odbcinst", "-q", "-d"], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        known = ""
    if f"[{name}]" not in known:
        raise Missing(f"the ODBC driver {name}")


class Sqlite:
    def __init__(self, folder, odbc=False):
        self.folder, self.odbc = folder, odbc
        if odbc:
            need_driver("SQLite3")
        os.mkdir(folder)

    def load(self, name, columns, rows):
        path = f"{self.folder}/{name}.db"
        database = sqlite3.connect(path)
        texts = ", ".join(f'"{quoted(column)}" TEXT' for column in columns)
        database.execute(f"CREATE TABLE people (n INTEGER, {texts})")
        database.executemany(f"INSERT INTO people VALUES ({', '.join('?' * (len(columns) + 1))})",
                             [[n] + fields for n, fields in with_nulls(rows)])
        database.commit()
        database.close()
        return f"odbc:Driver=SQLite3;Database={path}" if self.odbc else f"sqlite:{path}"

    def stop(self):
        pass


class Postgres(Server):
    def __init__(self, folder, odbc=False):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        if not programs:
            raise Missing("PostgreSQL")
        if odbc:
            need_driver("PostgreSQL Unicode")
        self.bin, self.folder, self.odbc = pathlib.Path(programs[-1]).parent, folder, odbc
        folder_for_user(folder)
        subprocess.run([str(self.bin / "initdb"), "-D", f"{folder}/data", "-A", "trust", "-U", "cellar", "-E", "UTF8",
                        "--no-locale", "-N"], check=True, stdout=subprocess.DEVNULL, **user())
        self.server = subprocess.Popen(
            [str(self.bin / "postgres"), "-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses=",
             "-c", "fsync=off"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user())
        wait_until(lambda: subprocess.run([str(self.bin / "pg_isready"), "-h", folder, "-q"],
                                          check=False).returncode == 0, "PostgreSQL")

    def run(self, database, text):
        return subprocess.run(["psql", "-q", "-A", "-t", "-h", self.folder, "-U", "cellar", "-d", database, "-v",
                               "ON_ERROR_STOP=1"], input=text, text=True, check=True, capture_output=True).stdout

    def define(self, database, text):
        self.run(database, text + ";\n")

    def count(self, sql):
        return int(self.run("postgres", sql + ";\n"))

    def load(self, name, columns, rows):
        texts = ", ".join(f'"{quoted(column)}" text' for column in columns)
        text = f"CREATE DATABASE {name};\n\\c {name}\nCREATE TABLE people (n int, {texts});\nCOPY people FROM STDIN;\n"
        for n, fields in with_nulls(rows):
            copied = ["\\N" if v is None else v.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
                      for v in fields]
            text += "\t".join([str(n)] + copied) + "\n"
        self.run("postgres", text + "\\.\n")
        if self.odbc:
            return f"odbc:Driver=PostgreSQL Unicode;Servername={self.folder};Username=cellar;Database={name}"
        return f"postgresql:host={self.folder} user=cellar dbname={name}"


class MariaDB(Server):
    def __init__(self, folder):
        if not shutil.which("mariadbd", path="/usr/sbin:/usr/bin"):
            raise Missing("MariaDB")
        need_driver("MariaDB Unicode")
        folder_for_user(folder)
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={folder}/data",
                        "--auth-root-authentication-method=normal", "--skip-test-db"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user())
        self.socket = f"{folder}/socket"
        self.server = subprocess.Popen(
            ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={folder}/data", f"--socket={self.socket}",
             "--skip-networking", f"--pid-file={folder}/pid", f"--tmpdir={folder}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user())
        wait_until(lambda: self.run("SELECT 1", check=False).returncode == 0, "MariaDB")

    def run(self, text, check=True):
        return subprocess.run(["mariadb", "--no-defaults", "--default-character-set=utf8mb4", "-S", self.socket, "-u",
                               "root"], input=text, text=True, check=check, capture_output=True)

    def define(self, database, text):
        self.run(f"USE {database};\n{text};\n")

    def count(self, sql):
        return int(self.run(sql).stdout.split()[-1])

    @staticmethod
    def literal(value):
        return "NULL" if value is None else f"'{value}'".replace("''", "''") if value.isalnum() \
            else f"CONVERT(X'{value.encode().hex()}' USING utf8mb4)"

    def load(self, name, columns, rows):
        texts = ", ".join(f"`{quoted(column, '`')}` varchar(200)" for column in columns)
        values = ",\n".join(f"({n}, {', '.join(map(self.literal, fields))})" for n, fields in with_nulls(rows))
        self.run(f"CREATE DATABASE {name} CHARACTER SET utf8mb4;\nUSE {name};\n"
                 f"CREATE TABLE people (n int, {texts});\nINSERT INTO people VALUES {values};\n")
        return f"odbc:Driver=MariaDB Unicode;SOCKET={self.socket};UID=root;DATABASE={name}"


class ClickHouse(Server):
    """A port of the loopback, for it has no sockets."""

    def __init__(self, folder):
        program = shutil.which("clickhouse-server", path="/usr/sbin:/usr/bin")
        if not program:
            raise Missing("ClickHouse")
        folder_for_user(folder)
        self.port, other = free_ports(2)
        pathlib.Path(f"{folder}/config.xml").write_text(f"""<yandex>
<logger><level>error</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<http_port>{self.port}</http_port><tcp_port>{other}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><users_config>{folder}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>1000000</mark_cache_size></yandex>
""", encoding="utf-8")
        pathlib.Path(f"{folder}/users.xml").write_text("""<yandex>
<profiles><default><max_query_size>10000000</max_query_size></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default></users>
<quotas><default/></quotas></yandex>
""", encoding="utf-8")
        self.server = subprocess.Popen([program, f"--config-file={folder}/config.xml"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, **user())
        wait_until(self.answers, "ClickHouse")

    def answers(self):
        try:
            return self.run("SELECT 1") == "1\n"
        except OSError:
            return False

    def run(self, sql, data=b"", database="default"):
        url = f"http://127.0.0.1:{self.port}/?database={database}"
        with urllib.request.urlopen(url, data=sql.encode() + b"\n" + data) as answer:
            return answer.read().decode()

    def define(self, database, text):
        self.run(text, database=database)

    def count(self, sql):
        return int(self.run(sql))

    def load(self, name, columns, rows):
        texts = ", ".join(f"`{column}` Nullable(String)" for column in columns)
        self.run(f"CREATE DATABASE {name}")
        self.run(f"CREATE TABLE people (n Int32, {texts}) ENGINE = Log", database=name)
        lines = ["\t".join([str(n)] + ["\\N" if v is None else v.replace("\\", "\\\\").replace("\t", "\\t")
                                       .replace("\n", "\\n") for v in fields]) for n, fields in with_nulls(rows)]
        self.run("INSERT INTO people FORMAT TabSeparated", ("\n".join(lines) + "\n").encode(), database=name)
        return f"clickhouse:http://127.0.0.1:{self.port}/?database={name}"


class DuckDB(Server):
    """Asked through its package for Node.js: Cellar writes the question and reads the answer."""
    dialect = "duckdb"

    def __init__(self, folder):
        here = pathlib.Path(__file__).parent / "duckdb"
        if not shutil.which("node"):
            raise Missing("Node.js")
        # Not `npm ci`: it wants the bindings for every system in the lock file.
        if not (here / "node_modules").exists() and subprocess.run(
                ["npm", "install", "--no-save", "--silent", "--no-audit", "--no-fund"], cwd=here,
                check=False).returncode != 0:
            raise Missing("DuckDB (npm)")
        os.mkdir(folder)
        self.folder, self.n_answers = folder, 0
        self.server = subprocess.Popen(["node", str(here / "ask.mjs")], text=True, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)

    def run(self, sql):
        self.server.stdin.write(json.dumps({"sql": sql}) + "\n")
        self.server.stdin.flush()
        answer = json.loads(self.server.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    @staticmethod
    def literal(value):
        return "NULL" if value is None else "'" + quoted(value, "'") + "'"

    def load(self, name, columns, rows):
        texts = ", ".join(f'"{quoted(column)}" VARCHAR' for column in columns)
        values = ",\n".join(f"({n}, {', '.join(map(self.literal, fields))})" for n, fields in with_nulls(rows))
        self.run(f"ATTACH ':memory:' AS {name}")
        self.run(f"CREATE TABLE {name}.people (n INTEGER, {texts})")
        self.run(f"INSERT INTO {name}.people VALUES {values}")
        return name

    def ask(self, sql, names):
        """The answers of databases, as the places that `cellar --from` takes."""
        places = []
        for name in names:
            self.run(f"USE {name}")
            answer = self.run(sql)
            self.n_answers += 1
            path = f"{self.folder}/{self.n_answers}.csv"
            with open(path, "w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([answer["columns"]] + answer["rows"])
            places.append(f"answer:duckdb:{path}")
        return places


class Spread:
    """Several servers: the databases that are loaded go to one after the other."""

    def __init__(self, server, folder, n):
        os.mkdir(folder)
        os.chmod(folder, 0o755)
        self.servers, self.n_loaded = [], 0
        try:
            for i in range(n):
                self.servers.append(server(f"{folder}/{i}"))
        except BaseException:
            self.stop()
            raise

    def load(self, name, columns, rows):
        self.n_loaded += 1
        return self.servers[self.n_loaded % len(self.servers)].load(name, columns, rows)

    def stop(self):
        for server in self.servers:
            server.stop()


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


ENGINES = {"sqlite": Sqlite, "postgresql": Postgres, "mariadb": MariaDB, "clickhouse": ClickHouse, "duckdb": DuckDB,
           "postgresql-three": lambda folder: Spread(Postgres, folder, 3),
           "clickhouse-two": lambda folder: Spread(ClickHouse, folder, 2),
           "odbc-sqlite": lambda folder: Sqlite(folder, odbc=True),
           "odbc-postgresql": lambda folder: Postgres(folder, odbc=True)}
