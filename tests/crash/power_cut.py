#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts the power at every point of runs that write, and looks at what can be on disk afterwards.

usage: power_cut.py BUILD [--only NAME] [--states N] [--random R] [--seed S] [--deaf KIND]

A run is recorded (record.c). At every call that changed the disk, states that a power cut may leave
are made (disk.py): five of a kind, and R drawn from the seed. N of the different ones of each
scenario are looked at, all with 0. In each, whatever was acknowledged (said, or by the end of the
command) must be there and whole, nothing may be there in half, and asking again must settle it
without drawing twice or spending less than was released.

--deaf leaves syncs out of the recorded run, as a disk that lies or a program that forgot them would:
then each scenario ends at its first fault, and it is a failure if there is none.
"""
import argparse
import copy
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import disk
import plan_kills

PEOPLE = "region,sex\nN,F\nS,M\nN,M\n"


class Scenario:
    """Commands that are recorded in a folder, and what must hold after a cut."""

    name = ""
    commands = ()

    def __init__(self, build, place):
        self.cellar = str(build / "cellar")
        self.crash = build / "tests" / "crash"
        self.place = pathlib.Path(place)

    def prepare(self):
        pass

    def remember(self):
        """Called when the recorded run is over, to keep what it made."""

    def run(self, *command, **more):
        return subprocess.run([str(word) for word in command], cwd=self.place, text=True,
                              capture_output=True, check=False, **more)

    def must(self, *command):
        done = self.run(*command)
        if done.returncode != 0:
            raise SystemExit(f"{self.name}: {command}: {done.stderr}")
        return done

    def read(self, name):
        path = self.place / name
        return path.read_bytes() if path.exists() else None


class Output(Scenario):
    """A file appears whole, and is there once the program has ended."""

    name = "output"
    replace = ()

    def prepare(self):
        self.commands = [[self.crash / "crash_writer", "table.csv", *self.replace]]
        if self.replace:
            (self.place / "table.csv").write_text("old\n")

    def remember(self):
        self.whole = self.read("table.csv")
        self.before = b"old\n" if self.replace else None

    def check(self, ended, said):
        found = self.read("table.csv")
        if ended:
            yield found == self.whole, "a finished file is lost or not whole"
        yield found in (self.before, self.whole), "half a file"
        if found == self.whole:
            yield (self.place / "table.csv").stat().st_mode & 0o777 == 0o600, "another mode"
        yield not [p for p in self.place.iterdir() if not p.name.startswith(".cellar-")
                   and p.name != "table.csv"], "something else"


class Replaced(Output):
    name = "output --force"
    replace = ("--force",)


class Key(Scenario):
    """A key that is replaced: the old one stays, under one name or the other."""

    name = "key"

    def prepare(self):
        self.must(self.cellar, "key", "create", "k")
        self.old = self.read("k")
        self.commands = [[self.cellar, "key", "rotate", "k"]]

    def check(self, ended, said):
        now, kept = self.read("k"), [p.read_bytes() for p in self.place.glob("k.*")]
        yield self.run(self.cellar, "key", "show", "k").returncode == 0, "no key"
        yield now == self.old or self.old in kept, "the old key is lost"
        if ended:
            yield now != self.old, "the new key is lost"


class Created(Scenario):
    """A ledger is there with its dataset, or not at all."""

    name = "ledger create"

    def prepare(self):
        self.commands = [[self.cellar, "ledger", "create", "ledger", "--dataset", "d", "--unit",
                          "person", "--neighbours", "add-remove", "--epsilon", "1", "--delta",
                          "1e-6", "--population", "1000"]]

    def check(self, ended, said):
        if ended:
            yield self.read("ledger") is not None, "the ledger is lost"
        if self.read("ledger") is None:
            yield self.run(*self.commands[0]).returncode == 0, "it cannot be made again"
        shown = self.run(self.cellar, "ledger", "show", "ledger", "--json")
        yield shown.returncode == 0 and len(json.loads(shown.stdout)["datasets"]) == 1, shown.stderr
        yield self.run(self.cellar, "ledger", "verify", "ledger").returncode == 0, "not verified"


class Spender(Scenario):
    """Charges that were known to be on disk stay, what was done is there, nothing is drawn twice."""

    name = "ledger"
    requests = ("3", "4") # the first has a companion

    def prepare(self):
        create = ["--unit", "person", "--neighbours", "add-remove", "--epsilon", "0.9", "--delta",
                  "1e-6", "--population", "1000", "--ledger-key", "key"]
        self.must(self.cellar, "ledger", "create", "ledger", "--dataset", "d0", *create)
        self.must(self.cellar, "ledger", "add", "ledger", "--dataset", "d0", "--analyst", "ana",
                  "--epsilon", "0.5", "--delta", "1e-6", "--ledger-key", "key")
        (self.place / "tables").mkdir(mode=0o700)
        self.commands = [[self.crash / "ledger_spender", "ledger", "key", "tables",
                          *self.requests]]

    def remember(self):
        self.tables = self.found()

    def found(self):
        return {p.name: p.read_bytes() for p in (self.place / "tables").glob("r*")}

    def check(self, ended, said):
        words = lambda text, word: set(re.findall(rf"^{word} (\d+)$", text, re.M))
        drawn, done = words(said, "drawn"), words(said, "done")
        before = self.found()
        for name, content in before.items():
            yield content == self.tables[name], f"{name} is not whole"
        again = self.run(*self.commands[0])
        yield again.returncode == 0, f"asked again: {again.stderr}"
        after = self.found()
        yield not drawn & words(again.stdout, "drawn"), "drawn twice"
        yield done <= words(again.stdout, "done"), f"done, and then not: {again.stderr}"
        for name in self.tables:
            if name[1] in done:
                yield after.get(name) == self.tables[name], f"{name}, acknowledged, is another"
                yield (self.place / "tables" / name).stat().st_mode & 0o777 == 0o644, "its mode"
        yield all(after[name] == before[name] for name in before), "a table changed"
        against = [word for name in after if name.endswith(".csv")
                   for word in ("--against", f"tables/{name}")]
        verified = self.run(self.cellar, "ledger", "verify", "ledger", "--json", "--ledger-key",
                            "key", *against)
        yield verified.returncode == 0, verified.stderr
        yield len(json.loads(verified.stdout)["against"]) == len(against) // 2, \
            "a table that is not the recorded one"
        history = self.run(self.cellar, "ledger", "history", "ledger", "--json", "--ledger-key",
                           "key")
        entries = json.loads(history.stdout)["history"]
        charged = [e["request"] for e in entries if e["kind"] == "charge"]
        yield drawn <= set(charged), "a charge is lost"
        yield len(charged) == len(set(charged)), "charged twice"
        yield {name[1] for name in after} <= set(charged), "a table without a charge"


class Plan(Scenario):
    """A pack is there whole or not at all, and asking again ends the same way for good."""

    name = "plan"
    text = plan_kills.PLAN

    def prepare(self):
        for name, text in (("plan.yaml", self.text), ("people.csv", PEOPLE),
                           ("region.csv", "code\nN\nS\n"), ("sex.csv", "code\nF\nM\n")):
            (self.place / name).write_text(text)
        if "ledger:" in self.text:
            self.must(self.cellar, "ledger", "create", "ledger", "--dataset", "census", "--unit",
                      "person", "--neighbours", "add-remove", "--epsilon", "2", "--delta", "1e-6",
                      "--population", "1000")
        self.commands = [[self.cellar, "plan", "run", "plan.yaml", "--threads", "1"]]

    def remember(self):
        self.first = self.pack()

    def pack(self):
        folder = self.place / "pack"
        if not folder.exists():
            return None
        return {p.name: p.read_bytes() for p in folder.iterdir()}

    def whole(self, pack):
        lines = pack.get("manifest.sha256", b"").decode().splitlines()
        return set(pack) == plan_kills.FILES and all(
            hashlib.sha256(pack[name]).hexdigest() == digest
            for digest, name in (line.split("  ", 1) for line in lines))

    def check(self, ended, said):
        before = self.pack()
        if before is not None:
            yield self.whole(before) and before == self.first, "half a pack"
        if ended:
            yield before is not None, "a pack is lost"
        again = self.run(*self.commands[0])
        after = self.pack()
        if "ledger:" in self.text:
            yield again.returncode in (0, 3), again.stderr
            yield (again.returncode == 0) == (after is not None), "the answer is not so"
            shown = self.run(self.cellar, "ledger", "show", "ledger", "--json")
            spent = float(json.loads(shown.stdout)["datasets"][0]["spent"]["epsilon"])
            yield 0.999 <= spent <= 1, f"charged {spent}"
        else:
            yield again.returncode == (0 if before is None else 1), again.stderr
        if after is not None:
            yield self.whole(after) and (before is None or before == after), "the pack changed"
            yield all(p.stat().st_mode & 0o777 == 0o644 for p in (self.place / "pack").iterdir()), \
                "modes of the pack"
        yield not [p for p in self.place.iterdir() if p.name.startswith(".cellar-")], "left behind"


class PlanWithout(Plan):
    name = "plan without a ledger"
    text = re.sub(r"ledger:.*\n", "", plan_kills.PLAN)


class Vault(Scenario):
    """A table that somebody was told about is there for good; none is drawn again or half there."""

    name = "vault"
    tables = ("sex", "region*sex")
    text = """serve: 1
site: {title: T, tokens: tokens}
datasets:
  - id: census
    kind: budget
    title: T
    population: p
    folder: public
    step_ms: 1
    records:
      data: {file: people.csv, edition: '1'}
      unit: {name: person}
      variables: [{name: region, codelist: region.csv}, {name: sex, codelist: sex.csv}]
    ledger: {file: ledger, key: key, dataset: census}
    budget:
      cap: {rho: 1}
      neighbours: add-remove
      negatives: keep
      parameter_choice: advance
      classes: [{variables: 2, mechanism: 'discrete-gaussian:sigma=8'}]
"""

    def prepare(self):
        for name, text in (("site.yaml", self.text), ("people.csv", PEOPLE),
                           ("region.csv", "code\nN\nS\n"), ("sex.csv", "code\nF\nM\n")):
            (self.place / name).write_text(text)
        (self.place / "public").mkdir(mode=0o755)
        self.must(self.cellar, "ledger", "create", "ledger", "--dataset", "census", "--unit",
                  "person", "--neighbours", "add-remove", "--rho", "1", "--ledger-key", "key")
        caller = self.crash / "vault_caller"
        token = self.must(caller, "token", "tokens").stdout.strip()
        self.commands = [[caller, "one", "site.yaml", token, *self.tables]]

    def remember(self):
        self.first = self.found()

    def found(self):
        return {p.name: p.read_bytes() for p in (self.place / "public").glob("[!.]*")}

    def check(self, ended, said):
        told = set(re.findall(r"^drawn (\S+)$", said, re.M))
        before = self.found()
        yield all(self.first.get(n) == content for n, content in before.items()), "half a table"
        again = self.run(*self.commands[0])
        yield again.returncode == 0, again.stderr
        answers = dict(reversed(line.split(" ")) for line in again.stdout.splitlines())
        yield set(answers.values()) <= {"drawn", "exists"} and len(answers) == 2, again.stdout
        yield all(answers[table] == "exists" for table in told), "told, and drawn again"
        after = self.found()
        yield all(after.get(name) == content for name, content in before.items()), "it changed"
        of = lambda content: "*".join(json.loads(content)["id"])
        yield sorted(map(of, after.values())) == sorted(self.tables), "not one file a table"
        yield all(after.get(name) == content for name, content in self.first.items()
                  if of(content) in told), "told, and now another"
        against = [word for name in after for word in ("--against", f"public/{name}")]
        verified = self.run(self.cellar, "ledger", "verify", "ledger", "--ledger-key", "key",
                            *against)
        yield verified.returncode == 0, verified.stderr


class Spool(Scenario):
    """What was sent is in the inbox or in the spool until the batch has all of it."""

    name = "spool"
    N, N_PARTS = 12, 3

    def prepare(self):
        for role in ("curator", "shuffler", "analyst"):
            self.must(self.cellar, "key", "create", f"{role}.key")
            self.must(self.cellar, "collect", role, "identity", "--key", f"{role}.key", "-o",
                      f"{role}.pub")
        (self.place / "sex.csv").write_text("code\nF\nM\n")
        (self.place / "spool").mkdir(mode=0o700)
        self.must(self.cellar, "collect", "curator", "invite", "--spool", "spool", "--key",
                  "curator.key", "--shuffler", "shuffler.pub", "--analyst", "analyst.pub",
                  "--title", "A test", "--people", self.N, "--k", 2, "--exposure", 1, "--domain",
                  "sex=sex.csv")
        send = []
        for i in range(self.N_PARTS):
            self.must(self.cellar, "key", "create", f"part{i}.key")
            (self.place / f"part{i}.csv").write_text("sex\n" + "F\nM\n" * (self.N // 2 //
                                                                          self.N_PARTS))
            send.append([self.cellar, "collect", "participant", "send", f"part{i}.csv", "--spool",
                         "spool", "--key", f"part{i}.key", "--curator", "curator.pub"])
        self.shuffle = [self.cellar, "collect", "shuffler", "run", "--spool", "spool", "--key",
                        "shuffler.key", "--curator", "curator.pub"]
        self.commands = [send[0], send[1], self.shuffle, send[2], self.shuffle]
        self.sent = [0, 1, 2, 2, 3, 3] # parts, when so many commands have ended

    def check(self, ended, said):
        batch = self.place / "spool" / "round-1.batch"
        wanted = self.sent[ended] * self.N // self.N_PARTS
        if not batch.exists():
            again = self.run(*self.shuffle)
            counted = re.search(r"(\d+) of \d+ have sent", again.stderr)
            yield again.returncode == 0, again.stderr
            yield batch.exists() or int(counted.group(1)) >= wanted, "an acknowledged part is lost"
        if batch.exists():
            found = batch.read_bytes()
            yield int.from_bytes(found[12:20], "little") % self.N == 0, "a batch that lacks some"
            yield len(found) > 52, "half a batch"


SCENARIOS = (Output, Replaced, Key, Created, Spender, Plan, PlanWithout, Vault, Spool)

# Which files a disk is deaf for, by the last name that a file had.
DEAF = {"output": lambda name: "ledger" not in name and "spool" not in name,
        "ledger": lambda name: "ledger" in name,
        "spool": lambda name: name.endswith(".spool")}


def heard(log, start, deaf):
    """The log without the syncs that nobody hears."""
    names = {number: name for folder in start.folders.values()
             for name, number in folder.names.items()}
    folders = set(start.folders)
    for line in log: # a nameless file has its name later
        word, *rest = line.split(" ")
        if word in ("name", "rename"):
            names[int(rest[-1])] = disk.text(rest[-2] if word == "name" else rest[3])
        elif word == "folder":
            folders.add(int(rest[2]))
    for line in log:
        word, *rest = line.split(" ")
        if word not in ("sync", "datasync"):
            yield line
        elif int(rest[0]) in folders:
            if deaf != "folder":
                yield line
        elif deaf not in DEAF or not DEAF[deaf](names.get(int(rest[0]), "")):
            yield line


class Cutter:
    def __init__(self, scenario, options):
        self.scenario, self.options = scenario, options
        self.faults, self.n_points, self.n_checked = [], 0, 0

    def record(self, library):
        with tempfile.TemporaryDirectory(prefix="cellar-record-") as aside:
            log = pathlib.Path(aside, "log")
            log.touch()
            for i, command in enumerate(self.scenario.commands):
                done = self.scenario.run(*command, env={
                    **os.environ, "LD_PRELOAD": str(library), "RECORD_LOG": str(log)})
                if done.returncode != 0:
                    raise SystemExit(f"{self.scenario.name}: fails undisturbed: {done.stderr}")
                with log.open("a", encoding="ascii") as file:
                    file.write(f"end {i + 1}\n")
            return log.read_text(encoding="ascii").splitlines()

    def states_of(self, log, start):
        """Every different state, with what was acknowledged by then."""
        rng = random.Random(self.options.seed)
        seen, ended, said = set(), 0, ""
        now = disk.Disk.__new__(disk.Disk)
        now.__dict__.update(start)
        for line in log:
            word, _, rest = line.partition(" ")
            if word == "said":
                said += bytes.fromhex(rest).decode()
            elif word == "end":
                ended = int(rest)
            elif not now.play(line):
                continue
            self.n_points += 1
            for tree in now.cuts(rng, self.options.random):
                key = (disk.digest(tree), ended, said)
                if key not in seen:
                    seen.add(key)
                    yield tree, ended, said

    def run(self, library):
        scenario = self.scenario
        scenario.prepare()
        start = disk.Disk(scenario.place)
        log = self.record(library)
        scenario.remember()
        log = list(heard(log, start, self.options.deaf))
        fresh = lambda: copy.deepcopy(start.__dict__)
        n_states = sum(1 for _ in self.states_of(log, fresh()))
        self.n_points = 0
        chosen = range(n_states)
        if 0 < self.options.states < n_states:
            chosen = set(random.Random(self.options.seed).sample(chosen, self.options.states))
        for i, (tree, ended, said) in enumerate(self.states_of(log, fresh())):
            if i not in chosen:
                continue
            start.build(tree)
            self.n_checked += 1
            for holds, what in scenario.check(ended, said):
                if not holds:
                    self.faults.append(f"state {i}, {ended} commands ended: {what.strip()}")
                    break
            if self.options.deaf and self.faults:
                break
        return n_states


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--states", type=int, default=0)
    parser.add_argument("--random", type=int, default=6)
    parser.add_argument("--seed", type=int, default=20261118)
    parser.add_argument("--deaf", choices=["output", "folder", "ledger", "spool"])
    options = parser.parse_args()
    build = options.build.resolve()
    n_faults = 0
    for kind in SCENARIOS:
        if options.only and kind.name not in options.only:
            continue
        place = tempfile.mkdtemp(prefix="cellar-cut-")
        began = time.monotonic()
        try:
            cutter = Cutter(kind(build, place), options)
            n_states = cutter.run(build / "tests" / "crash" / "libpower_record.so")
        finally:
            shutil.rmtree(place, ignore_errors=True)
        print(f"{kind.name}: {cutter.n_points} points, {n_states} states, {cutter.n_checked} looked "
              f"at, {len(cutter.faults)} faults, {time.monotonic() - began:.1f} s", flush=True)
        for fault in cutter.faults[:10]:
            print(f"    {fault}")
        n_faults += len(cutter.faults)
    return 1 if bool(n_faults) != bool(options.deaf) else 0


if __name__ == "__main__":
    sys.exit(main())
