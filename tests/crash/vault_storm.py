#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills vaults while several callers ask them for tables.

usage: vault_storm.py CALLER FAULT_LIBRARY CELLAR [--kills N] [--seed S]

Each program opens the vault and asks for a few tables from four threads; two programs at a time, as
when one is started before the other has ended. Each meets one fault: it is killed before, after or
halfway through one of the calls that change the disk, or at a random moment, or from some call on
the disk is full or fails. All choices follow from the seed. Whatever happened: no file that was
ever visible changes, vanishes or is torn; a table has at most one file, and a table that somebody
was told is there has one; the cap of the ledger is not exceeded, and each file has its own charge;
afterwards every table is there or refused for want of budget, and the statement reports exactly the
charges that were wasted.
"""
import argparse
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "serve"))
import builder  # pylint: disable=wrong-import-position

FAULTS = ["kill"] * 4 + ["half"] * 2 + ["after"] * 3 + ["full", "eio", "dying"]
LAST_CALL = 160  # of a program that a fault is planned for; three tables make about as many
KILLS_PER_ROUND = 60
N_VARIABLES = 9  # a short storm makes do with fewer
COST = Fraction(1, 128)  # of sigma 8


class Round:
    """A fresh vault, used until it has seen enough."""

    def __init__(self, options, folder, rng):
        self.options, self.folder, self.rng = options, pathlib.Path(folder), rng
        self.public = self.folder / "public"
        self.lock = threading.Lock()
        names = [f"v{i}" for i in range(N_VARIABLES if options.kills > 20 else 6)]
        self.tables = ["*".join(t) for k in (1, 2, 3) for t in itertools.combinations(names, k)]
        self.rng.shuffle(self.tables)
        self.newest, self.n_killed, self.n_runs = 4, 0, 0
        self.seen, self.told, self.wrong = {}, set(), []
        self.create(names)

    def cellar(self, *arguments):
        return subprocess.run([self.options.cellar, "ledger", *arguments, "--ledger-key",
                               str(self.folder / "key")], capture_output=True, text=True,
                              check=False)

    def create(self, names):
        self.cap = COST * (2 * len(self.tables) // 3) # about two thirds of the tables can be paid
        self.config, self.token = builder.make_budget(self.options.cellar, self.folder,
                                                      float(self.cap), names, self.rng)

    def fault(self, message):
        with self.lock:
            self.wrong.append(message)

    # ---- one program ---------------------------------------------------------------------

    def choose(self):
        with self.lock:
            self.n_runs += 1
            self.newest = min(self.newest + self.rng.randint(0, 3), len(self.tables))
            tables = [self.tables[self.rng.randrange(max(0, self.newest - 8), self.newest)]
                      for _ in range(4)]
            by_time = self.rng.random() < 0.2
            return (tables, self.rng.choice(FAULTS), self.rng.randint(1, LAST_CALL),
                    self.rng.uniform(0, 0.4) if by_time else None)

    def draw(self, tables, environment, delay=None):
        process = subprocess.Popen(
            [self.options.caller, "draw", str(self.config), self.token, *tables],
            env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if delay is not None:
            time.sleep(delay)
            process.kill()
        said, complained = process.communicate(timeout=300)
        answers = [line.split(" ") for line in said.decode().splitlines()]
        with self.lock:
            self.told |= {table for state, table in answers if state in ("drawn", "exists")}
        return process.returncode, answers, complained.decode()

    def look(self):
        """No file that was ever visible may change; it is whole from its first moment."""
        for path in self.public.glob("[!.]*"):
            content = path.read_bytes()
            with self.lock:
                if path.name not in self.seen:
                    try:
                        json.loads(content)
                    except ValueError:
                        self.wrong.append(f"{path.name} is torn")
                if self.seen.setdefault(path.name, content) != content:
                    self.wrong.append(f"{path.name} changed")

    def work(self):
        while self.n_killed < KILLS_PER_ROUND and self.newest < len(self.tables) and \
                self.n_killed < self.options.kills and not self.wrong:
            tables, fault, at, delay = self.choose()
            environment = {} if delay is not None else {
                "LD_PRELOAD": self.options.fault, "FAULT": fault, "FAULT_AT": str(at)}
            code, _, complained = self.draw(tables, environment, delay)
            with self.lock:
                self.n_killed += code == -9
            if code not in (0, 1, -9):
                self.fault(f"a program ended with {code}: {complained}")
            self.look()

    # ---- afterwards ------------------------------------------------------------------------

    def settle(self):
        """Without faults every table is there, or refused by the budget."""
        code, answers, complained = self.draw(self.tables, {})
        states = {}
        for state, table in answers:
            states.setdefault(table, set()).add(state)
        if code != 0 or set(states) != set(self.tables):
            self.fault(f"asking again ended with {code}: {complained}")
        for table, found in states.items():
            if not found <= {"drawn", "exists", "budget"} or len(found - {"drawn"}) > 1:
                self.fault(f"{table}: {sorted(found)}")
        self.look()
        if set(self.seen) != {path.name for path in self.public.iterdir()}:
            self.fault(f"left behind: {sorted(p.name for p in self.public.iterdir())}")

    def check_files(self):
        """A table has one file; one that somebody was told about has its file."""
        found = {}
        for name, content in self.seen.items():
            table = "*".join(json.loads(content)["id"])
            if table in found:
                self.fault(f"{table} has two files: {found[table]} and {name}")
            found[table] = name
        if not self.told <= set(found):
            self.fault(f"told and not there: {sorted(self.told - set(found))}")
        against = [w for n in self.seen for w in ("--against", str(self.public / n))]
        verified = self.cellar("verify", str(self.folder / "ledger"), *against)
        if verified.returncode:
            self.fault(f"verify: {verified.stderr}")
        return set(found)

    def statement(self):
        return json.loads(subprocess.run(
            [self.options.caller, "ask", str(self.config),
             '{"do": "statement", "dataset": "census"}'], capture_output=True, text=True,
            check=True).stdout)

    def check_history(self, found):
        history = json.loads(self.cellar("history", str(self.folder / "ledger"),
                                         "--json").stdout)["history"]
        of_kind = lambda kind: [e for e in history if e["kind"] == kind]
        charges = of_kind("charge")
        lost = {e["request"] for e in of_kind("lost")}
        done = [e["request"].split("/")[-1] for e in of_kind("done")]
        if sum(Fraction(e["rho"]) for e in charges) > self.cap:
            self.fault("the cap is exceeded")
        if len(done) != len(set(done)) or set(done) != found:
            self.fault(f"done and visible differ: {sorted(set(done) ^ found)}")
        if len({e["request"] for e in charges}) != len(charges) or \
                len(charges) != len(done) + len(lost):
            self.fault("a charge is neither done nor lost")
        wasted = self.statement()["wasted"]
        if wasted["n_charges"] != len(lost):
            self.fault(f"wasted: {wasted}, and {len(lost)} were lost")
        return len(charges), len(done), len(lost)

    def run(self):
        workers = [threading.Thread(target=self.work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.settle()
        return self.check_history(self.check_files())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("caller", type=os.path.abspath)
    parser.add_argument("fault", type=os.path.abspath)
    parser.add_argument("cellar", type=os.path.abspath)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261118)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    began, n_killed, n_runs, totals, wrong = time.monotonic(), 0, 0, [0, 0, 0], []
    wanted = options.kills
    while n_killed < wanted and not wrong:
        options.kills = wanted - n_killed
        with tempfile.TemporaryDirectory(prefix="cellar-vault-") as folder:
            one = Round(options, folder, rng)
            totals = [a + b for a, b in zip(totals, one.run())]
        n_killed, n_runs, wrong = n_killed + one.n_killed, n_runs + one.n_runs, one.wrong
    print(f"seed {options.seed}: {n_killed} killed, {n_runs} runs, "
          f"{time.monotonic() - began:.1f} s; {totals[0]} charges, {totals[1]} done, "
          f"{totals[2]} lost and reported; {len(wrong)} faults")
    for message in wrong[:20]:
        print(f"    {message}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
