#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills the processes of a table builder while clients read and draw over HTTP.

usage: server_storm.py CALLER CELLAR [--kills N] [--seed S]

`cellar serve` runs with a data set of the kind budget. Clients ask for tables, old and new, without
a pause; the front, the vault, both or the whole program is killed at random moments, again and
again, sometimes before it has started, and is told to read its configuration anew. Whatever
happened, what vault_storm.py says holds, and: a table that was drawn is answered with the same bytes
from then on, by every front that follows; every answer is a table, a refusal or "not now"; the chain
of the audit log is whole; the statement reports the charges that were wasted.

Four programs are under fire at a time, for a program pauses a second between two starts. The choices
follow from the seed; what they hit depends on the machine.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import vault_storm
from vault_storm import builder

N_PROGRAMS, N_CLIENTS, KILLS_PER_ROUND = 4, 4, 50
VICTIMS = ["vault"] * 9 + ["front"] * 7 + ["front and vault"] * 2 + ["program"] * 2
START_SECONDS = 60


class Round(vault_storm.Round):
    """A fresh program, used until it has seen enough kills."""

    def __init__(self, options, folder, rng):
        super().__init__(options, folder, rng)
        self.n_hit = dict.fromkeys(VICTIMS, 0)
        self.n_answers, self.bytes, self.is_over = {}, {}, threading.Event()
        self.server = None
        self.start()

    # ---- the program ---------------------------------------------------------------------

    def start(self):
        """The front of a program that was killed may still have the socket."""
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                self.server = builder.Server([self.options.cellar, "serve", self.config, "--listen",
                                              f"unix:{self.folder}/http"])
                return
            except RuntimeError as error:
                if "cannot listen there" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def processes(self):
        """Who is who: the vault has the ledger open."""
        found = {}
        for pid in self.server.children():
            try:
                names = [os.readlink(path) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
            except OSError:
                continue
            found["vault" if str(self.folder / "ledger") in names else "front"] = pid
        return found

    def kill(self, victim):
        """1 when somebody was killed."""
        if victim == "program":
            self.server.process.kill()
            self.server.process.wait()
            self.server.__exit__()
            self.start()
            self.n_hit[victim] += 1
            return 1
        found = self.processes()
        chosen = list(found) if victim == "front and vault" else [victim] * (victim in found)
        for name in chosen:
            try:
                os.kill(found[name], signal.SIGKILL)
            except ProcessLookupError:
                return 0
        self.n_hit[victim] += len(chosen) > 0
        return 1 if chosen else 0

    def wait(self):
        """Until everything is there again."""
        end = time.monotonic() + START_SECONDS
        while self.ask("/v1/health")[0] != 200:
            if time.monotonic() > end:
                self.fault("it does not come back: " + self.server.said()[-300:])
                return
            time.sleep(0.01)

    # ---- clients ---------------------------------------------------------------------------

    def ask(self, *request):
        """Status and body; 0 when the connection broke."""
        try:
            status, _, body = self.server.ask(*request)
        except (OSError, http.client.HTTPException):
            return 0, b""
        return status, body

    def draw(self, table):
        body = json.dumps({"dataset": "census", "table": table, "max_cost": "1"})
        status, answer = self.ask("/v1/draws", "POST", body,
                                  {"Authorization": f"Bearer {self.token}"})
        if status in (200, 201):
            with self.lock:
                self.told.add(table)
        elif status == 403 and json.loads(answer).get("rule") != "budget" or \
                status not in (0, 403, 503):
            self.fault(f"drawing {table}: {status} {answer[:200]}")
        return status

    def read(self, table):
        """A table that somebody was told about has its bytes for ever."""
        is_told = table in self.told
        selection = "&".join(f"valuecodes[{name}]=*" for name in table.split("*"))
        status, answer = self.ask(f"/api/v2/tables/census/data?{selection}"
                                  "&valuecodes[ContentsCode]=*&outputFormat=csv")
        if status not in ((0, 200, 503) if is_told else (0, 200, 403, 404, 503)):
            self.fault(f"reading {table}: {status} {answer[:200]}")
        if status == 200 and is_told:
            with self.lock:
                if self.bytes.setdefault(table, answer) != answer:
                    self.wrong.append(f"{table} was answered with other bytes")
        return status

    def call(self, seed):
        rng = random.Random(seed)
        while not self.is_over.is_set() and not self.wrong:
            with self.lock:
                new = [t for t in self.tables[:self.newest] if t not in self.told]
            if new and rng.random() < 0.7:
                status = self.draw(rng.choice(new[-6:]))
            else:
                status = self.read(self.tables[rng.randrange(self.newest)])
            with self.lock:
                self.n_answers[status] = self.n_answers.get(status, 0) + 1
            if status in (0, 503):
                time.sleep(0.01)

    # ---- the storm --------------------------------------------------------------------------

    def fire(self):
        while self.n_killed < min(KILLS_PER_ROUND, self.options.kills) and not self.wrong:
            if self.rng.random() < 0.7:
                self.wait()
            if self.rng.random() < 0.1:
                self.server.signal(signal.SIGHUP)
            self.newest = min(self.newest + self.rng.randint(1, 4), len(self.tables))
            time.sleep(self.rng.uniform(0, 0.1))
            self.n_killed += self.kill(self.rng.choice(VICTIMS))
            self.look()

    def settle(self):
        """All of it once more, from a program that was started anew."""
        self.wait()
        for table in self.tables:
            if self.draw(table) not in (200, 201, 403) or \
                    table in self.told and self.read(table) != 200:
                self.fault(f"{table} is not answered in the end")
        if self.server.stop() != 0:
            self.fault("the program did not end well")
        self.server.__exit__()
        self.start()
        for table in self.told:
            if self.read(table) != 200:
                self.fault(f"{table} is not answered after a restart")
        self.look()
        if set(self.seen) != {path.name for path in self.public.iterdir()}:
            self.fault(f"left behind: {sorted(p.name for p in self.public.iterdir())}")
        log = subprocess.run([self.options.cellar, "serve", "audit", str(self.folder / "state/audit")],
                             capture_output=True, text=True, check=False)
        if log.returncode != 0:
            self.fault(f"the audit log: {log.stderr}")

    def statement(self):
        return json.loads(self.ask("/v1/datasets/census/statement")[1])

    def run(self):
        clients = [threading.Thread(target=self.call, args=(self.rng.random(),))
                   for _ in range(N_CLIENTS)]
        for client in clients:
            client.start()
        self.fire()
        self.is_over.set()
        for client in clients:
            client.join()
        try:
            self.settle()
            return self.check_history(self.check_files())
        finally:
            self.server.__exit__()


class Storm:
    """Rounds, several at a time, until enough was killed."""

    def __init__(self, options):
        self.options, self.rng, self.lock = options, random.Random(options.seed), threading.Lock()
        self.left, self.n_killed, self.n_rounds = options.kills, 0, 0
        self.totals, self.n_hit, self.n_answers, self.wrong = [0, 0, 0], {}, {}, []

    def add(self, one, totals):
        self.n_rounds += 1
        self.n_killed += one.n_killed
        self.totals = [a + b for a, b in zip(self.totals, totals)]
        self.wrong += one.wrong
        for mine, its in ((self.n_hit, one.n_hit), (self.n_answers, one.n_answers)):
            for name, n in its.items():
                mine[name] = mine.get(name, 0) + n

    def work(self):
        while True:
            with self.lock:
                kills = min(KILLS_PER_ROUND, (self.options.kills + N_PROGRAMS - 1) // N_PROGRAMS, self.left)
                self.left -= kills
                seed = self.rng.random()
            if kills <= 0 or self.wrong:
                return
            options = argparse.Namespace(**{**vars(self.options), "kills": kills})
            with tempfile.TemporaryDirectory(prefix="cellar-storm-") as folder:
                one = Round(options, folder, random.Random(seed))
                totals = one.run()
            with self.lock:
                self.add(one, totals)

    def run(self):
        workers = [threading.Thread(target=self.work) for _ in range(N_PROGRAMS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("caller", type=os.path.abspath)
    parser.add_argument("cellar", type=os.path.abspath)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261118)
    options = parser.parse_args()
    began, storm = time.monotonic(), Storm(options)
    storm.run()
    hit = ", ".join(f"{n} of the {name}" for name, n in storm.n_hit.items())
    answers = ", ".join(f"{n} times {status or 'none'}" for status, n in sorted(storm.n_answers.items()))
    print(f"seed {options.seed}: {storm.n_killed} kills ({hit}) in {storm.n_rounds} rounds, "
          f"{time.monotonic() - began:.1f} s; answers: {answers}; {storm.totals[0]} charges, "
          f"{storm.totals[1]} done, {storm.totals[2]} lost and reported; {len(storm.wrong)} faults")
    for message in storm.wrong[:20]:
        print(f"    {message}")
    return 1 if storm.wrong or storm.n_killed < options.kills else 0


if __name__ == "__main__":
    sys.exit(main())
