#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts the table builder on loopback and asks it, kindly and not.

usage: program.py CELLAR CELLAR_SERVER [NAME...]
"""
import csv
import http.client
import io
import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

import builder

DATA = "/api/v2/tables/country/data?valuecodes[region]=*&valuecodes[sex]=*&valuecodes[ContentsCode]=*"


class Place:
    """The programs, and a folder with a site that all tests read."""

    def __init__(self, cellar, server, folder):
        self.cellar, self.server, self.folder = cellar, server, pathlib.Path(folder)
        self.config = builder.make(cellar, folder)

    def serve(self, *more, **options):
        return builder.Server([self.cellar, "serve", self.config, "--listen", "127.0.0.1:0", *more], **options)


def check(is_true, *words):
    if not is_true:
        raise AssertionError(" ".join(str(word) for word in words))


def wait_for(is_true, what):
    end = time.monotonic() + builder.WAIT_SECONDS
    while not is_true():
        check(time.monotonic() < end, what, "does not happen")
        time.sleep(0.02)


# ---- answers ------------------------------------------------------------------------------------


def test_values_equal_the_command_line(place):
    said = subprocess.run([place.cellar, "cube", "table", str(place.folder / "country.cube"), "--by", "region,sex",
                           "--interval", "0.95", "--json"], check=True, capture_output=True, text=True)
    want = {(cell["region"], cell["sex"]): cell for cell in json.loads(said.stdout)["cells"]}
    with place.serve() as server:
        status, _, body = server.ask(DATA)
    check(status == 200, status, body)
    answer = json.loads(body)
    regions = list(answer["dimension"]["region"]["category"]["index"])
    sexes = list(answer["dimension"]["sex"]["category"]["index"])
    order = [answer["id"].index(name) for name in ("region", "sex", "ContentsCode")]
    check(sorted(order) == order and answer["size"].count(1) == len(answer["size"]) - 3, answer["id"], answer["size"])
    at = iter(answer["value"])
    n = 0
    for region in regions:
        for sex in sexes:
            for content in answer["dimension"]["ContentsCode"]["category"]["index"]:
                name = {"count": "estimate", "se": "se", "noise_low95": "low", "noise_high95": "high"}[content]
                value = next(at)
                check(abs(value - want[region, sex][name]) <= 1.1e-6, region, sex, name, value)
                n += 1
    check(n == 64, n, "values")


def test_http(place):
    with place.serve() as server:
        status, headers, body = server.ask(DATA + "&outputFormat=csv")
        check(status == 200 and len(list(csv.reader(io.StringIO(body.decode())))) > 8, status, body)
        check("immutable" in headers["Cache-Control"], headers)
        again = server.ask(DATA + "&outputFormat=csv")
        check(again[0] == 200 and again[2] == body and again[1]["ETag"] == headers["ETag"], "the cache has other bytes")
        for tag in (headers["ETag"], "*", 'W/"x", ' + headers["ETag"]):
            status, _, body = server.ask(DATA + "&outputFormat=csv", headers={"If-None-Match": tag})
            check(status == 304 and body == b"", tag, status)
        status, head, body = server.ask(DATA + "&outputFormat=csv", "HEAD")
        check(status == 200 and body == b"" and head["Content-Length"] == headers["Content-Length"], status, head)
        status, head, _ = server.ask("/", "OPTIONS")
        check(status == 204 and head["Access-Control-Allow-Origin"] == "*", status, head)
        check(server.ask("/")[0] == 200 and server.ask("/nothing")[0] == 404, "pages")
        check(server.ask("/", "PUT")[0] == 405, "PUT")


def test_too_much(place):
    with place.serve("--deadline", "1") as server:
        check(server.ask("/api/v2/tables/country/data", "POST", b"x" * 65537)[0] == 413, "a large body")
        check(server.ask("/api/v2/tables/country/data", "POST", b"x" * 65536)[0] == 400, "a body that is no JSON")
        chunks = iter([b"x" * 40000] * 3)
        check(server.ask("/api/v2/tables/country/data", "POST", chunks)[0] == 413,
              "a large body in chunks")
        check(server.ask("/" + "x" * 60000)[0] in (414, 431), "a long address")
        check(server.ask("/", headers={"X": "x" * 60000})[0] in (413, 431), "a long header")
        with server.raw() as connection:
            connection.sendall(b"\0\1\2\3\r\n\r\n")
            check(not connection.recv(1000).startswith(b"HTTP/1.1 200"), "a request that is none")
        check(server.ask("/")[0] == 200, "the server is gone")


def test_lengths(place):
    """Of two a proxy in front might believe the other one; of an unknown coding the end is not known."""
    with place.serve() as server:
        for more in ("Content-Length: 2\r\nContent-Length: 2", "Content-Length: 2\r\nTransfer-Encoding: chunked",
                     "Transfer-Encoding: gzip"):
            with server.raw() as connection:
                connection.sendall(f"POST /v1/compare HTTP/1.1\r\nHost: x\r\n{more}\r\n\r\n{{}}".encode())
                answer = b""
                while part := connection.recv(65536):
                    answer += part
                check(answer.startswith(b"HTTP/1.1 400 ") and b"problem+json" in answer, more, answer)
                check(answer.count(b"HTTP/1.1") == 1, more, "has two answers")


# ---- slow clients ---------------------------------------------------------------------------------


def dribble(connection, text, ended):
    """Sends a byte now and then until the connection is cut."""
    try:
        for byte in text:
            connection.sendall(bytes([byte]))
            time.sleep(0.1)
        connection.recv(1)
    except OSError:
        pass
    ended.append(time.monotonic())


def test_slow_clients_are_cut(place):
    header = b"GET / HTTP/1.1\r\nHost: x\r\n"
    body = b"POST /api/v2/tables/country/data HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
    with place.serve("--deadline", "1") as server:
        ended, threads, begun = [], [], time.monotonic()
        connections = [server.raw() for _ in range(60)]
        for i, connection in enumerate(connections):
            connection.sendall(header if i % 2 else body)
            threads.append(threading.Thread(target=dribble, args=(connection, b"X-A: " + b"a" * 300, ended)))
            threads[-1].start()
        for _ in range(20):
            check(server.ask("/")[0] == 200, "others are not answered")
        for thread in threads:
            thread.join()
        for connection in connections:
            connection.close()
        check(max(ended) - begun < 10, "a slow client was kept for", max(ended) - begun)


# ---- reloading and ending -------------------------------------------------------------------------


def keep_asking(server, until, faults, counts):
    connection = server.connect()
    n = 0
    while not until.is_set():
        try:
            connection.request("GET", DATA)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                faults.append(answer.status)
            n += 1
            if answer.will_close:
                connection.close()
        except (OSError, http.client.HTTPException) as error:
            faults.append(f"{error!r} after {n} answers")
            connection.close()
    connection.close()
    counts.append(n)


def test_reload_drops_nothing(place):
    text = place.config.read_text()
    try:
        with place.serve() as server:
            until, faults, counts = threading.Event(), [], []
            threads = [threading.Thread(target=keep_asking, args=(server, until, faults, counts)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for i in range(3):
                front = server.children()
                place.config.write_text(text.replace("Tables of the small country", f"Edition {i}"))
                server.signal(signal.SIGHUP)
                wait_for(lambda i=i: f"Edition {i}".encode() in server.ask("/")[2], "a reload")
                check(server.children() != front, "the old front answers")
            place.config.write_text("serve: 1\n")
            server.signal(signal.SIGHUP)
            wait_for(lambda: "the old one stays" in server.said(), "a refusal")
            check(b"Edition 2" in server.ask("/")[2], "the old configuration is gone")
            until.set()
            for thread in threads:
                thread.join()
            check(not faults and sum(counts) > 20, len(faults), faults[:3], counts, server.said())
            check("'site' is missing" in server.said(), server.said())
    finally:
        place.config.write_text(text)


def test_a_front_that_dies_is_replaced(place):
    with place.serve() as server:
        for turn in range(3):
            front = server.children()
            os.kill(front[0], signal.SIGKILL)
            wait_for(lambda front=front: server.children() not in (front, []), "another front")
            if turn != 1:  # the second one dies before anybody asks
                check(server.ask("/")[0] == 200, "no answer")
        server.signal(signal.SIGINT)
        check(server.process.wait(timeout=builder.WAIT_SECONDS) == 0, "the exit status")


def test_what_was_asked_is_answered(place):
    """A request that came before the end is answered, and a connection that says nothing does not delay it."""
    with place.serve() as server:
        with server.raw() as silent, server.raw() as asking:
            check(server.ask("/")[0] == 200, "no answer")
            asking.sendall(f"GET {DATA} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            time.sleep(0.01)
            server.signal(signal.SIGTERM)
            answer = b""
            while part := asking.recv(65536):
                answer += part
            check(answer == b"" or answer.startswith(b"HTTP/1.1 200"), answer[:80])
            check(silent.recv(1) == b"", "a silent client hears something")
        check(server.process.wait(timeout=5) == 0, "the exit status")


def test_wrong_configurations(place):
    for text, says in (("serve: 1\n", "'site' is missing"), ("- 1\n", "expected"), ("\0", "")):
        path = place.folder / "wrong.yaml"
        path.write_text(text)
        found = subprocess.run([place.cellar, "serve", str(path), "--listen", "127.0.0.1:0"], capture_output=True,
                               text=True, timeout=builder.WAIT_SECONDS)
        check(found.returncode == 1 and says in found.stderr and found.stdout == "", found)
    found = subprocess.run([place.cellar, "serve", str(place.config), "--listen", "0.0.0.0:0"], capture_output=True,
                           text=True, timeout=builder.WAIT_SECONDS)
    check(found.returncode == 1 and "no address of this machine alone" in found.stderr, found)


# ---- sockets --------------------------------------------------------------------------------------


def test_unix_socket(place):
    path = place.folder / "http"
    text = place.config.read_text()
    place.config.write_text(text.replace("calls: 1000000, seconds: 1", "calls: 5, seconds: 100"))
    try:
        with builder.Server([place.cellar, "serve", place.config, "--listen", f"unix:{path}"]) as server:
            check(server.url == f"unix:{path}", server.url)
            check(stat.S_IMODE(path.stat().st_mode) == 0o660, oct(path.stat().st_mode))
            asked = [server.ask("/api/v2/config", headers={"X-Forwarded-For": "6.6.6.6, 192.0.2.1"})[0] for _ in range(8)]
            check(asked == [200] * 5 + [429] * 3, asked)
            check(server.ask("/v1/health", headers={"X-Forwarded-For": "192.0.2.1"})[0] == 200, "health is limited")
            check(server.ask("/api/v2/config", headers={"X-Forwarded-For": "192.0.2.1, 198.51.100.7"})[0] == 200, "another")
        check(not path.exists(), "the socket is left behind")
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(path))
        with builder.Server([place.cellar, "serve", place.config, "--listen", f"unix:{path}"]) as server:
            check(server.ask("/")[0] == 200, "a socket left behind is in the way")
    finally:
        place.config.write_text(text)


def test_socket_activation(place):
    heard = place.folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, socket.create_server(("127.0.0.1", 0)) as listening:
        manager.bind(str(heard))
        manager.settimeout(builder.WAIT_SECONDS)
        fd = listening.fileno()
        script = f'LISTEN_PID=$$ LISTEN_FDS=1 NOTIFY_SOCKET={heard} exec "$0" "$1" 3<&{fd}'
        with builder.Server(["sh", "-c", script, place.server, place.config], pass_fds=(fd,)) as server:
            check(server.url == f"http://127.0.0.1:{listening.getsockname()[1]}/", server.url)
            check(manager.recv(100) == b"READY=1", "not ready")
            check(server.ask("/")[0] == 200, "no answer")
            server.signal(signal.SIGHUP)
            check([manager.recv(100), manager.recv(100)] == [b"RELOADING=1", b"READY=1"], "not reloaded")
            server.signal(signal.SIGTERM)
            check(manager.recv(100) == b"STOPPING=1", "not stopping")
    heard.unlink()


def main():
    cellar, server, *names = sys.argv[1:]
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Place(cellar, server, folder)
        for name, test in tests.items():
            if names and name not in names:
                continue
            begun = time.monotonic()
            try:
                test(place)
                print(f"{name}: {time.monotonic() - begun:.1f} s")
            except AssertionError as error:
                failed += 1
                print(f"{name}: FAILED: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
