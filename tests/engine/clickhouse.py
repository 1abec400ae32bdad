#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ClickHouse may answer over HTTP, played by a server of our own: a good answer becomes a table;
everything else ends in one sentence without a table, and says no value of the data. Ctrl-C kills the
query by its name. Passwords are in headers only.

usage: clickhouse.py CELLAR
"""
import http.server
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

CELLAR = os.path.abspath(sys.argv[1])
GOOD = b"0\t0\t3\t0\n0\t1\t2\t0\n-2\t-1\t1\t0\n"
CASES = {  # the path of an address: status, body, what is said
    "other": (200, b"0\t0\t3\n", "other columns"),
    "more": (200, b"0\t0\t3\t0\t0\n", "other columns"),
    "cut": (200, GOOD[:-1], "cut off"),
    "word": (200, b"0\tf\t3\t0\n", "not one to this question"),
    "outside": (200, b"0\t2\t3\t0\n", "not one to this question"),
    "below": (200, b"0\t0\t-3\t0\n", "not one to this question"),
    "null": (200, b"\\N\t0\t3\t0\n", "not one to this question"),
    "zero": (200, b"0\t0\0junk\t3\t0\n", "other columns"),
    "long": (200, b"0" * 100000, "other columns"),
    "html": (200, b"<html>a page</html>\n", "other columns"),
    "table": (404, b"Code: 60, e.displayText() = DB::Exception: Table x.people doesn't exist.\n", "doesn't exist"),
    "value": (500, b"Code: 6, e.displayText() = DB::Exception: Cannot parse geheim\n", "HTTP 500, code 6"),
    "proxy": (502, b"geheim " * 10000, "HTTP 502, code 0"),
    "moved": (302, b"", "HTTP 302"),
    "none": (500, b"", "HTTP 500, code 0"),
}
failures, asked = [], []
is_asked, is_over = threading.Event(), threading.Event()


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
        asked.append((self.path, sql, self.headers.get("X-ClickHouse-User"), self.headers.get("X-ClickHouse-Key")))
        name = self.path.split("?")[0][1:]
        if name == "slow" and not sql.startswith("KILL"):
            is_asked.set()
            is_over.wait(30)
        status, body, _ = CASES.get(name, (200, b"" if sql.startswith("KILL") else GOOD, ""))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) + (100 if name == "broken" else 0)))
        self.send_header("Location", "/good")
        try:
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # who asked has left
            pass

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def check(what, holds, detail=""):
    if not holds:
        failures.append(what)
        print("FAILED:", what, detail)


def count(place, *more):
    return [CELLAR, "tabulate", "people", "--by", "sex", "--domain", "sex.csv", "--missing-as", "drop", "--from", place, *more]


def run(place):
    got = subprocess.run(count(place, "-o", "out.json"), capture_output=True, text=True, check=False)
    made = os.path.exists("out.json")
    pathlib.Path("out.json").unlink(missing_ok=True)
    return got, made


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = f"clickhouse:http://127.0.0.1:{server.server_port}/"
    pathlib.Path("sex.csv").write_text("code\nf\nm\n", encoding="utf-8")
    os.environ.update(CLICKHOUSE_USER="census", CLICKHOUSE_PASSWORD="geheim", HOME=os.getcwd(), no_proxy="127.0.0.1")
    got, made = run(place)
    if "expected a database such as" in got.stderr:
        print("this build does not ask ClickHouse")
        return 77
    check("a good answer", got.returncode == 0 and made and "6 rows read, 5 counted" in got.stderr, got)
    path, sql, *who = asked[0]
    check("the password is in a header only", who == ["census", "geheim"] and "geheim" not in path + sql + str(got), asked[0])
    for name, (_, _, expected) in [*CASES.items(), ("broken", (0, b"", "clickhouse: "))]:
        got, made = run(place + name)
        check(name, got.returncode in (1, 2) and expected in got.stderr and got.stderr.count("\n") == 1
              and "geheim" not in got.stderr and not made, got)
    running = subprocess.Popen(count(place + "slow", "-o", "out.json"), stderr=subprocess.PIPE, text=True)
    check("it is asked", is_asked.wait(30))
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=60)[1]
    name = re.search(r"query_id=([\w-]+)", [path for path, sql, *_ in asked if path.startswith("/slow")][0])[1]
    check("Ctrl-C", running.returncode == 130 and said == "cellar: cancelled; nothing was written\n", said)
    check("the query is killed", any(sql.startswith(f"KILL QUERY WHERE query_id = '{name}'") for _, sql, *_ in asked), asked[-1])
    is_over.set()
    server.shutdown()
    print(f"{len(failures)} answers of ClickHouse are not met as they should be")
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="cellar-clickhouse-") as scratch:
        os.chdir(scratch)
        result = main()
        os.chdir("/")
    sys.exit(result)
