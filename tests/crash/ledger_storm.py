#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Spends from one ledger with several programs at once that are killed, or whose disk fails.

usage: ledger_storm.py SPENDER FAULT_LIBRARY CELLAR [--kills N] [--seed S] [--spenders K]

Each program asks for a few requests of a shared pool and meets one fault: it is killed before,
after or halfway through one of the calls that change the disk, or at a random moment, or from some
call on the disk is full or fails. Until N programs were killed. All choices follow from the seed.
Whatever happened, afterwards: no cap is exceeded; no table lies there without its charge; no
request was drawn twice and no table ever changed; the ledger is whole and holds every charge that
was known to be on disk; the witness knew of every charge before its draw, and of no entry that is
not there; no true number is on disk; asking again settles every request.
"""
import argparse
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

PLANTED = (b"planted-Qx7",)
FAULTS = ["kill"] * 4 + ["half"] * 2 + ["after"] * 3 + ["full", "eio", "dying"]
LAST_CALL = 100  # of a program that a fault is planned for; two requests make about as many
REQUESTS_PER_DATASET = 40  # of which the cap allows about three quarters
CAP = {"epsilon": Fraction("0.9"), "delta": Fraction("1e-6")}
ANALYST_CAP = Fraction("0.2")


class Storm:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.ledger, self.key = self.folder / "ledger", self.folder / "key"
        self.witness = self.folder / "witness"
        self.tables = self.folder / "tables"
        self.tables.mkdir()
        self.n_datasets = 2 + 4 * options.kills // REQUESTS_PER_DATASET
        self.rng = random.Random(options.seed)
        self.lock = threading.Lock()
        self.newest = 4
        self.n_killed = self.n_faults = self.n_runs = 0
        self.drawn, self.done, self.seen, self.wrong = {}, set(), {}, []

    def cellar(self, *arguments):
        return subprocess.run([self.options.cellar, "ledger", *arguments, "--ledger-key",
                               str(self.key)], capture_output=True, text=True, check=False)

    def create(self):
        for i in range(self.n_datasets):
            witness = ["--witness", str(self.witness)] if i == 0 else []
            made = self.cellar("create" if i == 0 else "add", str(self.ledger), *witness,
                               "--dataset", f"d{i}", "--unit", "person", "--neighbours", "add-remove",
                               "--epsilon", "0.9", "--delta", "1e-6", "--population", "1000")
            shares = [self.cellar("add", str(self.ledger), "--dataset", f"d{i}", "--analyst", name,
                                  "--epsilon", cap, "--delta", "1e-6")
                      for name, cap in (("ana", "0.2"), ("bob", "0.9"))]
            if made.returncode or any(share.returncode for share in shares):
                raise SystemExit(f"cannot begin: {made.stderr}{shares[0].stderr}")

    def fault(self, message):
        with self.lock:
            self.wrong.append(message)

    # ---- one program --------------------------------------------------------------------

    def choose(self):
        """The requests of a program, its fault and the moment: all from the seed."""
        with self.lock:
            self.n_runs += 1
            # Requests come up in order, with some asked again, so that they meet each other.
            self.newest = min(self.newest + self.rng.randint(0, 3),
                              self.n_datasets * REQUESTS_PER_DATASET)
            requests = [str(self.rng.randrange(max(0, self.newest - 8), self.newest))
                        for _ in range(3)]
            by_time = self.rng.random() < 0.15
            return (requests, self.rng.choice(FAULTS), self.rng.randint(1, LAST_CALL),
                    self.rng.uniform(0, 0.3) if by_time else None)

    def spend(self, requests, environment, delay=None):
        process = subprocess.Popen(
            [self.options.spender, str(self.ledger), str(self.key), str(self.tables), *requests],
            env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if delay is not None:
            time.sleep(delay)
            process.kill()
        said, complained = process.communicate(timeout=120)
        for stream in (said, complained):
            if any(word in stream for word in PLANTED):
                self.fault("a message holds a true number")
        with self.lock:
            for line in said.decode().splitlines():
                word, request = line.split()
                if word == "drawn":
                    self.drawn[request] = self.drawn.get(request, 0) + 1
                    if self.drawn[request] > 1:
                        self.wrong.append(f"request {request} was drawn twice")
                elif word == "done":
                    self.done.add(request)
                elif word == "unseen":
                    self.wrong.append(f"request {request} was drawn before the witness knew of it")
            if b"witness" in complained and b"restored" in complained:
                self.wrong.append(f"the newest ledger was refused: {complained.decode()}")
        return process.returncode, complained.decode()

    def look(self):
        """No table that was ever seen may change or vanish."""
        for path in self.tables.glob("r*"):
            content = path.read_bytes()
            with self.lock:
                if self.seen.setdefault(path.name, content) != content:
                    self.wrong.append(f"{path.name} changed")

    def work(self):
        enough = self.n_datasets * REQUESTS_PER_DATASET
        while self.n_killed < self.options.kills and self.newest < enough and not self.wrong:
            requests, fault, at, delay = self.choose()
            environment = {} if delay is not None else {
                "LD_PRELOAD": self.options.fault, "FAULT": fault, "FAULT_AT": str(at)}
            code, complained = self.spend(requests, environment, delay)
            with self.lock:
                self.n_killed += code == -9
                self.n_faults += code != -9 and bool(complained)
            if code not in (0, 1, -9):
                self.fault(f"a program ended with {code}: {complained}")
            self.look()

    # ---- afterwards ------------------------------------------------------------------------

    def settle(self):
        """Without faults every request ends: done, lost, or refused by a cap."""
        if self.n_killed < self.options.kills:
            self.fault("too few programs were killed")
        pool = [str(i) for i in range(self.newest)]
        for start in range(0, len(pool), 50):
            code, complained = self.spend(pool[start:start + 50], {})
            if code != 0 or "failed" in complained:
                self.fault(f"asking again ended with {code}: {complained}")
        self.look()

    def check_history(self):
        history = self.cellar("history", str(self.ledger), "--json")
        if history.returncode:
            self.fault(f"the history cannot be read: {history.stderr}")
            return
        entries = json.loads(history.stdout)["history"]
        of_kind = lambda kind: [e for e in entries if e["kind"] == kind]
        charged = [e["request"] for e in of_kind("charge")]
        staged = {e["request"] for e in of_kind("stage")}
        done = {e["request"] for e in of_kind("done")}
        lost = {e["request"] for e in of_kind("lost")}
        if len(set(charged)) != len(charged):
            self.fault("a request is charged twice")
        for dataset in {e["dataset"] for e in of_kind("charge")}:
            self.check_caps([e for e in of_kind("charge") if e["dataset"] == dataset])
        if set(self.drawn) - set(charged):
            self.fault(f"lost charges: {sorted(set(self.drawn) - set(charged))}")
        if set(charged) != done | lost or done & lost or not done <= staged:
            self.fault("a request was not settled")
        if not self.done <= done:
            self.fault("a request that was done is not")
        tables = {p.name[1:-4] for p in self.tables.glob("r*.csv")}
        if tables != done:
            self.fault(f"tables and history differ: {sorted(tables ^ done)}")
        self.summary = (f"{len(charged)} charges, {len(done)} done, {len(lost)} lost, "
                        f"{self.newest - len(charged)} refused")

    def check_witness(self):
        """It knows the head of the ledger and never knew one that the ledger lacks; so an older
        copy of the ledger is refused."""
        history = json.loads(self.cellar("history", str(self.ledger), "--json").stdout)["history"]
        heads = {entry["entry"]: entry["head"] for entry in history}
        lines = [line.split(" ") for line in self.witness.read_text().split("\n")]
        seen = {int(line[4]): line[5] for line in lines if len(line) == 7 and len(line[6]) == 64}
        if seen.items() - heads.items():
            self.fault("the witness knows another history")
        if max(seen, default=0) != max(heads):
            self.fault("the witness does not know the last entry")
        newest = self.ledger.read_bytes()
        self.ledger.write_bytes(self.oldest)
        refused = self.cellar("show", str(self.ledger))
        self.ledger.write_bytes(newest)
        if refused.returncode != 3 or "older copy" not in refused.stderr:
            self.fault(f"an older copy was taken: {refused.stderr}")

    def check_caps(self, charges):
        for name, cap in CAP.items():
            if sum(Fraction(e["amounts"][name]) for e in charges) > cap:
                self.fault(f"the cap of {name} is exceeded")
        if sum(Fraction(e["amounts"]["epsilon"]) for e in charges
               if e.get("analyst") == "ana") > ANALYST_CAP:
            self.fault("the cap of an analyst is exceeded")

    def check_disk(self):
        tables = [str(p) for p in sorted(self.tables.glob("r*.csv"))]
        against = [word for path in tables for word in ("--against", path)]
        verified = self.cellar("verify", str(self.ledger), *against, "--json")
        if verified.returncode:
            self.fault(f"verify: {verified.stderr}")
        wanted = {"ledger", "ledger-lock", "key", "witness"}
        for path in (p for p in self.folder.rglob("*") if p.is_file()):
            if any(word in path.read_bytes() for word in PLANTED):
                self.fault(f"{path.name} holds a true number")
            if path.parent == self.tables and path.name not in self.seen:
                self.fault(f"left behind: {path.name}")
            if path.parent == self.folder and path.name not in wanted:
                self.fault(f"left behind: {path.name}")

    def run(self):
        self.create()
        self.oldest = self.ledger.read_bytes()
        began = time.monotonic()
        workers = [threading.Thread(target=self.work) for _ in range(self.options.spenders)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.settle()
        self.check_history()
        self.check_witness()
        self.check_disk()
        print(f"seed {self.options.seed}: {self.n_killed} killed, {self.n_faults} met a failing "
              f"disk or a cap, {self.n_runs} runs, {time.monotonic() - began:.1f} s; "
              f"{getattr(self, 'summary', 'no history')}; {len(self.wrong)} faults")
        for message in self.wrong[:20]:
            print(f"    {message}")
        return 1 if self.wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("spender", type=os.path.abspath)
    parser.add_argument("fault", type=os.path.abspath)
    parser.add_argument("cellar", type=os.path.abspath)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20260215)
    parser.add_argument("--spenders", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cellar-storm-") as folder:
        return Storm(options, folder).run()


if __name__ == "__main__":
    sys.exit(main())
