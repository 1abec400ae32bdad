#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A data set of the kind budget as people meet it: drawn over HTTP, reloaded, stopped, backed up, restored.

usage: vault.py CELLAR [NAME...]
"""
import concurrent.futures
import html
import http.client
import io
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

import builder

FORMATS = ("json-stat2", "csv", "xlsx", "ods", "px", "html", "sdmx-csv", "sdmx-ml")
CAP = "All tables that are ever drawn from these data are together differentially private for one person: rho 0.5 "
OWN = "The released values of this table are differentially private for one person: "


def check(is_true, *words):
    if not is_true:
        raise AssertionError(" ".join(str(word) for word in words))


class Place:
    """A site in a folder of its own."""

    def __init__(self, cellar, folder, **more):
        self.cellar, self.folder = cellar, pathlib.Path(folder)
        self.config, self.token = builder.make_budget(cellar, folder, 0.5, **more)

    def serve(self):
        return builder.Server([self.cellar, "serve", self.config, "--listen", "127.0.0.1:0"])

    def draw(self, server, table, max_cost="1"):
        body = json.dumps({"dataset": "census", "table": table, "max_cost": max_cost})
        status, _, answer = server.ask("/v1/draws", "POST", body, {"Authorization": f"Bearer {self.token}"})
        return status, json.loads(answer)

    def must_draw(self, server, table):
        status, answer = self.draw(server, table)
        check(status == 201, table, status, answer)

    def n_charges(self, server):
        return json.loads(server.ask("/v1/datasets/census/statement")[2])["budget"]["n_charges"]


def read(server, table, form="csv"):
    picks = "&".join(f"valuecodes[{name}]=*" for name in table.split("*"))
    status, _, body = server.ask(f"/api/v2/tables/census/data?{picks}&valuecodes[ContentsCode]=*&outputFormat={form}")
    return status, body


def words_of(form, body):
    """The text of an answer, without what its format does to a long line."""
    if form in ("xlsx", "ods"):
        with zipfile.ZipFile(io.BytesIO(body)) as book:
            body = b" ".join(book.read(name) for name in book.namelist())
    text = body.decode()
    return html.unescape(text.replace('"\n"', "").replace('"\r\n"', ""))


# ---- what answers say -----------------------------------------------------------------------------


def test_the_cap_comes_first(place):
    with place.serve() as server:
        place.must_draw(server, "region*sex")
        answers = [(form, *read(server, "region*sex", form)) for form in FORMATS]
        answers.append(("v1", *server.ask("/v1/tables/census/region*sex")[::2]))
        answers.append(("page", *server.ask("/t/census?valuecodes[region]=*&valuecodes[sex]=*")[::2]))
    for form, status, body in answers:
        check(status == 200, form, status)
        text = words_of(form, body)
        check(CAP in text and OWN in text, form, "does not say what is promised:", text[:2000])
        check(text.index(CAP) < text.index(OWN), form, "has the cost of the table first")


def test_another_cap_is_refused(place):
    text = place.config.read_text()
    place.config.write_text(text.replace("{rho: 0.5}", "{rho: 0.25}"))
    found = subprocess.run([place.cellar, "serve", str(place.config), "--listen", "127.0.0.1:0"], capture_output=True,
                           text=True, timeout=builder.WAIT_SECONDS)
    check(found.returncode == 1 and "budget.cap" in found.stderr and found.stdout == "", found)


def test_no_page_with_secrets(place):
    """Whatever lies in the folders of the page and the agency is sent to whoever asks."""
    text = place.config.read_text()
    for folder in ("vault", "page", "page/below"):
        (place.folder / folder).mkdir()
    shutil.copy2(place.folder / "key", place.folder / "vault/key")
    shutil.copy2(place.folder / "people.csv", place.folder / "page/below/people.csv")
    (place.folder / "link").symlink_to("vault")
    for words, old, new in (("page: .", "", ""), ("page: vault", "key: key", "key: vault/key"),
                            ("page: link", "key: key", "key: vault/key"), ("page: access", "", ""),
                            ("page: page", "file: people.csv", "file: page/below/people.csv"),
                            ("page: list, agency: state", "", ""), ("page: list, state: list", "", "")):
        (place.folder / "list").mkdir(exist_ok=True)
        place.config.write_text(text.replace("site: {", f"site: {{{words}, ").replace(old or "serve: 1", new or "serve: 1"))
        found = subprocess.run([place.cellar, "serve", str(place.config), "--listen", "127.0.0.1:0"], capture_output=True,
                               text=True, timeout=builder.WAIT_SECONDS)
        check(found.returncode == 1 and "lies in" in found.stderr and found.stdout == "", words, found)
    place.config.write_text(text.replace("site: {", "site: {page: list, "))
    with place.serve() as server:
        check(server.ask("/key")[0] == 404, "a page apart")


# ---- drawing --------------------------------------------------------------------------------------


def test_first_draws_of_one_table_make_one(place):
    orders = ["*".join(order) for order in itertools.permutations(("region", "sex", "age"))]
    with place.serve() as server, concurrent.futures.ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda table: place.draw(server, table), orders * 2))
        check(sorted(status for status, _ in found) == [200] * 11 + [201], found)
        check(place.n_charges(server) == 1, "charges")
        bodies = {read(server, "region*sex*age") for _ in range(3)}
        check(len(bodies) == 1, "other values")
    check(len(list((place.folder / "public").iterdir())) == 1, "files")


def test_a_negative_cost_is_no_cost(place):
    with place.serve() as server:
        status, answer = place.draw(server, "region", "-1")
        check(status == 400 and "max_cost" in answer["detail"], status, answer)
        check(place.n_charges(server) == 0, "charges")


def test_reload_drops_no_draw(place):
    """Draws and readers go on while fronts and vaults change; what one front was told another one shows."""
    tables = ["*".join(t) for k in (1, 2, 3) for t in itertools.combinations(("region", "sex", "age"), k)]
    faults, bytes_of, until = [], {}, threading.Event()

    def work(server):
        for table in itertools.cycle(tables):
            if until.is_set():
                return
            try:
                status, answer = place.draw(server, table)
                if status not in (200, 201):
                    faults.append((table, status, answer))
                status, body = read(server, table)
                if status != 200 or bytes_of.setdefault(table, body) != body:
                    faults.append((table, status, body[:200]))
            except (OSError, http.client.HTTPException) as error:
                faults.append((table, repr(error)))

    with place.serve() as server:
        threads = [threading.Thread(target=work, args=(server,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for i in range(3):
            front = server.children()
            server.signal(signal.SIGHUP)
            while server.said().count("a new front answers") <= i:
                time.sleep(0.02)
            check(server.children() != front, "the old processes stay")
        while len(bytes_of) < len(tables) and not faults:
            time.sleep(0.02)
        until.set()
        for thread in threads:
            thread.join()
        check(not faults, faults[:3])
        check(place.n_charges(server) == len(tables), "charges", place.n_charges(server))


def test_another_front_shows_what_is_there(place):
    """A front whose client and vault ended before it heard of a file finds it all the same."""
    with place.serve() as server:
        place.must_draw(server, "region*sex")
        file, = (place.folder / "public").iterdir()
        aside = place.folder / "aside"
        file.rename(aside)
        before = set(server.children())
        server.signal(signal.SIGHUP)
        while "a new front answers" not in server.said() or before & set(server.children()):
            time.sleep(0.02) # the old front knows the table
        check(read(server, "region*sex")[0] != 200, "a table without a file")
        aside.rename(file)
        check(read(server, "region*sex")[0] == 200, "the file is not seen")


def test_what_was_asked_is_drawn(place):
    """A draw that was asked for before the end is answered, and there after it."""
    config = place.config
    config.write_text(config.read_text().replace("step_ms: 1\n", "step_ms: 700\n"))
    with place.serve() as server, concurrent.futures.ThreadPoolExecutor(1) as pool:
        reply = pool.submit(place.draw, server, "region*age")
        while not list((place.folder / "public").glob("[!.]*")): # the reply waits for its step
            time.sleep(0.01)
        server.signal(signal.SIGTERM)
        status, answer = reply.result(builder.WAIT_SECONDS)
        check(status == 201, status, answer)
        check(server.process.wait(timeout=builder.WAIT_SECONDS) == 0, "the exit status")
    with place.serve() as server:
        check(read(server, "region*age")[0] == 200 and place.n_charges(server) == 1, "it is gone")


def test_a_vault_that_dies_is_replaced(place):
    with place.serve() as server:
        front, vault = sorted(server.children())
        os.kill(vault, signal.SIGKILL)
        end = time.monotonic() + builder.WAIT_SECONDS
        while "the vault ended" not in server.said() or "a new front answers" not in server.said():
            check(time.monotonic() < end, "nothing is said:", server.said())
            time.sleep(0.02)
        while place.draw(server, "region")[0] == 503: # the old front may still answer: ask again
            check(time.monotonic() < end, "nothing is drawn:", server.said())
            time.sleep(0.02)
        place.must_draw(server, "sex")


# ---- backup and restore ---------------------------------------------------------------------------


def copy_all(place, to):
    """As docs/table-builder-vault.md says: the releases first, the ledger after them."""
    to.mkdir()
    shutil.copytree(place.folder / "public", to / "public")
    for name in ("ledger", "key", "site.yaml", "list.csv", "people.csv"):
        shutil.copy2(place.folder / name, to / name)
    shutil.copytree(place.folder / "access", to / "access")


def restore(place, backup):
    shutil.rmtree(place.folder / "public")
    shutil.copytree(backup / "public", place.folder / "public")
    for name in ("ledger", "key", "site.yaml", "list.csv", "people.csv"):
        shutil.copy2(backup / name, place.folder / name)


def test_backup_and_restore(place):
    old, new = place.folder / "old", place.folder / "new"
    with place.serve() as server:
        place.must_draw(server, "region")
        copy_all(place, old)
        place.must_draw(server, "sex")
        shown = {table: read(server, table) for table in ("region", "sex")}
        copy_all(place, new)
    restore(place, old) # which would draw 'sex' again
    found = subprocess.run([place.cellar, "serve", str(place.config), "--listen", "127.0.0.1:0"], capture_output=True,
                           text=True, timeout=builder.WAIT_SECONDS)
    check(found.returncode == 1 and "witness" in found.stderr and found.stdout == "", found)
    restore(place, new)
    with place.serve() as server:
        check({table: read(server, table) for table in shown} == shown, "other bytes")
        check(place.draw(server, "sex")[0] == 200 and place.n_charges(server) == 2, "a second charge")
        place.must_draw(server, "age")
    restore(place, new) # a table was drawn since the backup: 'age'
    found = subprocess.run([place.cellar, "serve", str(place.config), "--listen", "127.0.0.1:0"], capture_output=True,
                           text=True, timeout=builder.WAIT_SECONDS)
    check(found.returncode == 1 and "witness" in found.stderr, found)


def test_a_release_that_is_lost(place):
    """The ledger is newer than the folder: the table is refused until its file is restored, never drawn again."""
    with place.serve() as server:
        place.must_draw(server, "region")
        shown = read(server, "region")
    file, = (place.folder / "public").iterdir()
    kept = file.read_bytes()
    file.unlink()
    with place.serve() as server:
        status, answer = place.draw(server, "region")
        check(status == 403 and answer["rule"] == "gone", status, answer)
        file.write_bytes(kept)
        check(place.draw(server, "region")[0] == 200 and read(server, "region") == shown, "it is not the same")
        check(place.n_charges(server) == 1, "charges")


def main():
    cellar, *names = sys.argv[1:]
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    failed = 0
    for name, test in tests.items():
        if names and name not in names:
            continue
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Place(cellar, folder))
                print(f"{name}: {time.monotonic() - begun:.1f} s")
            except AssertionError as error:
                failed += 1
                print(f"{name}: FAILED: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
