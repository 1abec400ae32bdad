#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills runs that handle a planted secret, and scans the disk for what they leave.

usage: crash.py WRITER KILL_AT [CELLAR]

Each scenario is first run undisturbed. Then it is killed at every system call it makes (up to a
bound, evenly spread beyond it), where tracing is allowed, and at random moments. Afterwards its
output folder and its TMPDIR may hold either nothing or the whole result, mode 0600, and never the
planted value elsewhere; what it said on stderr may not hold it at all. Replacing a file has one
documented state more: the whole result under a hidden name, about to be renamed.
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

SEED = 20260215
N_RANDOM = 40
MAX_CALLS = 400
PLANTED = (b"planted-Qx7", b"48611")
OLD = b"place,count\nold,1\n"


class Scenario:
    """A command that writes `target` in a fresh output folder."""

    def __init__(self, name, command, replace=False):
        self.name, self.command, self.replace = name, command, replace
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="cellar-crash-"))
        self.out, self.tmp = self.base / "out", self.base / "tmp"
        self.target = self.out / "table.csv"
        self.faults = []

    def fresh(self):
        for folder in (self.out, self.tmp):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        if self.replace:
            self.target.write_bytes(OLD)

    def start(self, prefix=()):
        self.fresh()
        return subprocess.Popen([*prefix, *self.command(self.target)], cwd=self.out,
                                env={**os.environ, "TMPDIR": str(self.tmp)},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_whole(self):
        began = time.monotonic()
        process = self.start()
        said = process.communicate()
        self.seconds = time.monotonic() - began
        if process.returncode != 0:
            raise SystemExit(f"{self.name}: fails undisturbed: {said[1].decode()}")
        self.whole = self.target.read_bytes()
        if any(word not in self.whole for word in PLANTED):
            raise SystemExit(f"{self.name}: the result lacks what was planted; the test is blind")
        return self.check("undisturbed", said)

    def check(self, when, said):
        """Looks at what is left; answers what the target was: nothing, old or whole."""
        found = "nothing"
        for path in sorted(p for folder in (self.out, self.tmp) for p in folder.rglob("*")):
            content = path.read_bytes() if path.is_file() else None
            mode = path.stat().st_mode & 0o777
            if path == self.target and content == self.whole and mode == 0o600:
                found = "whole"
            elif path == self.target and content == OLD and self.replace:
                found = "renaming" if found == "renaming" else "old"
            elif self.replace and path.name.startswith(".cellar-") and content == self.whole \
                    and mode == 0o600:
                found = "renaming"
            else:
                size = "a folder" if content is None else f"{len(content)} bytes"
                held = content is not None and any(word in content for word in PLANTED)
                self.faults.append(f"{when}: {path.name}: {size}, mode {mode:o}"
                                   f"{', with the planted value' if held else ''}")
        for stream in said:
            if any(word in stream for word in PLANTED):
                self.faults.append(f"{when}: a message holds the planted value")
        return found

    def kill_at_calls(self, kill_at):
        """Kills at every system call; answers how often each state was found, or None."""
        states = {}
        n_calls = self.count_calls(kill_at)
        if n_calls is None:
            return None
        step = max(1, -(-n_calls // MAX_CALLS))
        # The last calls are where the file gets its name: all of those, whatever the step.
        chosen = sorted(set(range(0, n_calls, step)) | set(range(max(0, n_calls - 60), n_calls)))
        for n in chosen:
            process = self.start((kill_at, str(n)))
            said = process.communicate()
            state = self.check(f"killed at call {n}", said)
            states[state] = states.get(state, 0) + 1
        return states

    def count_calls(self, kill_at):
        """The number of system calls of a whole run, by bisection on 'did it end by itself'."""
        def ended(n):
            process = self.start((kill_at, str(n)))
            process.communicate()
            if process.returncode == 77:
                raise PermissionError
            return process.returncode == 10
        try:
            high = 64
            while not ended(high):
                high *= 2
            low = high // 2
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if ended(middle) else (middle, high)
        except PermissionError:
            return None
        return high

    def kill_at_random(self, rng):
        states = {}
        for _ in range(N_RANDOM):
            process = self.start()
            delay = rng.uniform(0, 1.1 * self.seconds)
            time.sleep(delay)
            process.kill()
            state = self.check(f"killed after {delay * 1000:.1f} ms", process.communicate())
            states[state] = states.get(state, 0) + 1
        return states


def plant_microdata(folder):
    """People in places; the planted place is where 48611 of them live."""
    path = folder / "people.csv"
    with open(path, "w", encoding="ascii") as file:
        file.write("place,sex\n")
        for i in range(48611):
            file.write("planted-Qx7,m\n" if i % 2 else "planted-Qx7,m\nelsewhere,f\n")
    return path


def scenarios(writer, cellar, folder):
    yield Scenario("writer", lambda target: [writer, str(target)])
    yield Scenario("writer --force", lambda target: [writer, str(target), "--force"], replace=True)
    if cellar:
        people = plant_microdata(folder)
        tabulate = [cellar, "tabulate", str(people), "--by", "place,sex"]
        yield Scenario("tabulate", lambda target: [*tabulate, "-o", str(target)])
        yield Scenario("tabulate --force", lambda target: [*tabulate, "-o", str(target), "--force"],
                       replace=True)


def main():
    writer, kill_at = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    cellar = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
    rng = random.Random(SEED)
    n_faults = 0
    with tempfile.TemporaryDirectory(prefix="cellar-crash-") as folder:
        for scenario in scenarios(writer, cellar, pathlib.Path(folder)):
            scenario.run_whole()
            by_call = scenario.kill_at_calls(kill_at)
            by_time = scenario.kill_at_random(rng)
            print(f"{scenario.name}: by call {by_call or 'not traced: not allowed here'},"
                  f" by time {by_time}, {len(scenario.faults)} faults")
            for fault in scenario.faults[:20]:
                print(f"    {fault}")
            n_faults += len(scenario.faults)
            shutil.rmtree(scenario.base, ignore_errors=True)
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
