#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills runs of a plan, or builds of a cube, and looks at what they leave.

usage: plan_kills.py KILL_AT CELLAR [--kills N] [--cube]

A small plan that pays from a ledger is killed at system calls spread evenly from the first to the
last. Afterwards its release pack is there whole or not at all; what waits under a hidden name is
its owner's alone. Asked again, the run is finished without drawing, or given up as lost; the
ledger then holds one charge and no more, and is verified.
"""
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

PLAN = """plan: 1
data: {file: people.csv}
unit: {name: person}
variables:
  - {name: region, codelist: region.csv}
  - {name: sex, codelist: sex.csv}
tables:
  - {name: one, by: [region, sex], margins: all}
  - {name: two, by: [sex]}
mechanism: discrete-laplace
budget: {epsilon: 1}
negatives: keep
parameter_choice: advance
outputs: {folder: pack, formats: [csv, json]}
ledger: {file: ledger, dataset: census, request: one}
"""
UNIVERSE = """plan: 1
data: {file: people.csv}
unit: {name: person}
variables:
  - {name: region, codelist: region.csv}
  - {name: sex, codelist: sex.csv}
universe: {file: a.cube, up_to: 2}
budget: {epsilon: 1}
negatives: keep
parameter_choice: advance
ledger: {file: ledger, dataset: census, request: one}
"""
FILES = {"one.csv", "one.csv.cellar.json", "one.json", "two.csv", "two.csv.cellar.json", "two.json",
         "certificate.json", "method-note.md", "index.html", "manifest.sha256"}
ENDED, NOT_ALLOWED = 10, 77


def fail(when, what):
    raise SystemExit(f"killed at call {when}: {what}")


class Place:
    """A folder with a plan, its data and a ledger, copied afresh for every kill."""
    plan, verb = PLAN, ("plan", "run")

    def __init__(self, kill_at, cellar):
        self.kill_at, self.cellar = kill_at, cellar
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="cellar-plan-"))
        self.fresh_copy, self.work = self.base / "fresh", self.base / "work"
        self.fresh_copy.mkdir(mode=0o700)
        for name, text in (("plan.yaml", self.plan), ("people.csv", "region,sex\nN,F\nS,M\nN,M\n"),
                           ("region.csv", "code\nN\nS\n"), ("sex.csv", "code\nF\nM\n")):
            (self.fresh_copy / name).write_text(text)
        subprocess.run([cellar, "ledger", "create", "ledger", "--dataset", "census", "--unit", "person",
                        "--neighbours", "add-remove", "--epsilon", "2", "--delta", "1e-6",
                        "--population", "1000"], cwd=self.fresh_copy, check=True,
                       capture_output=True)

    def refresh(self):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.fresh_copy, self.work)

    def run(self, prefix=()):
        return subprocess.run([*prefix, self.cellar, *self.verb, "plan.yaml", "--threads", "1"],
                              cwd=self.work, capture_output=True)

    def kill(self, n):
        self.refresh()
        return self.run([self.kill_at, str(n)]).returncode

    def pack(self, when):
        """The bytes of the pack, or None; anything between is a fault."""
        folder = self.work / "pack"
        if not folder.exists():
            return None
        found = {path.name: path.read_bytes() for path in folder.iterdir()}
        if set(found) != FILES:
            fail(when, f"a pack of {sorted(found)}")
        for line in found["manifest.sha256"].decode().splitlines():
            digest, name = line.split("  ", 1)
            if hashlib.sha256(found[name]).hexdigest() != digest:
                fail(when, f"{name} is not the file of the manifest")
        return found

    def hidden(self):
        return [path for path in self.work.iterdir() if path.name.startswith(".cellar-")]

    def charges(self, when):
        for verb in (["verify"], ["show", "--json"]):
            done = subprocess.run([self.cellar, "ledger", verb[0], "ledger", *verb[1:]], cwd=self.work,
                                  capture_output=True)
            if done.returncode != 0:
                fail(when, done.stderr.decode())
        spent = json.loads(done.stdout)["datasets"][0]["spent"]
        return float(spent["epsilon"])


class CubePlace(Place):
    """The same with a universe: what appears is one file."""
    plan, verb = UNIVERSE, ("cube", "build")

    def pack(self, when):
        cube = self.work / "a.cube"
        if not cube.exists():
            return None
        done = subprocess.run([self.cellar, "cube", "show", "a.cube", "--verify"], cwd=self.work,
                              capture_output=True)
        if done.returncode != 0:
            fail(when, done.stderr.decode())
        return cube.read_bytes()


def check(place, when):
    """Looks at what the kill left, and settles it."""
    before, waiting = place.pack(when), bool(place.hidden())
    for path in place.hidden():
        if path.is_file() and (path.stat().st_mode & 0o077) and before is None and \
                not path.read_bytes().startswith(b"CELLARCUBE"):
            fail(when, "half a cube that others can read")
        if path.is_dir() and (path.stat().st_mode & 0o077) and before is None and \
                {p.name for p in path.iterdir()} != FILES:
            fail(when, "half a pack that others can read")
    again = place.run()
    after = place.pack(when)
    if again.returncode not in (0, 3):
        fail(when, again.stderr.decode())
    if (again.returncode == 0) != (after is not None):
        fail(when, f"exit {again.returncode}, and the pack is {'there' if after else 'not there'}")
    if before is not None and before != after:
        fail(when, "the pack changed")
    if place.hidden():
        fail(when, f"left behind: {place.hidden()}")
    if place.charges(when) > 1.0 or place.charges(when) < 0.999:
        fail(when, f"charged {place.charges(when)}")
    if place.run().returncode != again.returncode or place.pack(when) != after:
        fail(when, "asked a third time, the answer is another")
    if after is None:
        return "lost"
    return "whole" if before is not None else "finished" if waiting else "not begun"


def main():
    n_kills = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 40
    place = (CubePlace if "--cube" in sys.argv else Place)(sys.argv[1], sys.argv[2])
    try:
        last = 64
        while True: # how many system calls there are, about
            result = place.kill(last)
            if result == NOT_ALLOWED:
                print("tracing is not allowed here")
                return 77
            if result == ENDED:
                break
            last *= 2
        low = last // 2
        while last - low > 8:
            middle = (low + last) // 2
            if place.kill(middle) == ENDED:
                last = middle
            else:
                low = middle
        seen = {}

        def visit(when):
            place.kill(when)
            seen[when] = check(place, when)

        for k in range(n_kills): # most of them late, where the disk changes
            visit(int(last * (0.25 + 0.75 * (k + 1) / n_kills)))
        # between a run that is lost and one that is whole lies the step that records it
        lost = max((when for when in seen if seen[when] == "lost"), default=0)
        whole = min((when for when in seen if seen[when] == "whole"), default=last)
        for k in range(1, n_kills // 2):
            visit(lost + (whole - lost) * 2 * k // n_kills)
        states = list(seen.values())
        print(f"{len(seen)} kills in {last} calls:",
              ", ".join(f"{states.count(s)} {s}" for s in sorted(set(states))))
        return 0 if {"lost", "finished", "whole"} <= set(states) else 1
    finally:
        shutil.rmtree(place.base, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
