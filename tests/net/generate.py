#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a program for the certificates of the net, and writes the net.

generate.py ask CELLAR ANSWERS SECONDS   ask what ANSWERS has not, at most SECONDS of processor each
generate.py write ANSWERS NET.gz [VALUES] write the net, with the values of independent.py; what took
                                         too long is left out and counted

Asking again with more seconds asks only what took too long. ANSWERS is a scratch file.
"""
import gzip
import json
import os
import resource
import subprocess
import sys
import time

import draw

N = 4400
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
MEMORY = 3 << 30
PROBABILISTIC = 1e-9  # delta_p of one cell that is no bound is the true one, but for that part,
LEAST = 1e-300  # unless it is as small as that


def ask(cellar, words, seconds):
    """(how it ended, the certificate or a message, processor time)"""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([cellar, "certify", *words, "--effort", "0", "--json"], cwd=DATA,
                         capture_output=True, text=True, preexec_fn=limit, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 3)
    if run.returncode == 0:
        return "answered", json.loads(run.stdout), used
    if run.returncode < 0:
        return "late", f"signal {-run.returncode}", used
    return "refused", run.stderr.strip(), used


def read_answers(path):
    """By the words; the last answer counts."""
    answers = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                answer = json.loads(line)
                answers[answer["words"]] = answer
    return answers


def ask_all(cellar, path, seconds, until):
    known = read_answers(path)
    with open(path, "a", encoding="utf-8") as file:
        for words in draw.draw_all(N):
            old = known.get(" ".join(words))
            if old and (old["how"] != "late" or old["limit"] >= seconds) or time.time() > until:
                continue
            how, result, used = ask(cellar, words, seconds)
            file.write(json.dumps({"words": " ".join(words), "how": how, "limit": seconds,
                                   "time": used, "result": result}) + "\n")
            file.flush()


def text(number):
    """As C reads it; none stands for infinity."""
    return "inf" if number is None else repr(float(number))


def is_pure_attained(certificate):
    """Whether pure epsilon is the least one: of laws that are alike in both directions, or have
    none. Elsewhere the program says so too where it only adds up parts."""
    return not certificate["parallel"] and all(
        m["mechanism"].split(":")[0] in draw.ORDERED for m in certificate["mechanisms"])


def answers_of(certificate):
    """(question, at, lower, upper) of everything that a certificate says."""
    c = certificate
    pure = text(c["pure_epsilon"])
    pure_lower = pure if is_pure_attained(c) else "0"
    yield "pure", "0", pure_lower, pure
    yield "infinite", "0", "0", text(c["infinite_loss"])
    for p in c["profile"]:
        at = text(p["epsilon"])
        yield "delta", at, text(p["delta_lower"]), text(p["delta"])
        if p["delta_probabilistic"] is not None:
            value = p["delta_probabilistic"]
            is_attained = (not p["delta_probabilistic_is_bound"] and value > LEAST
                           and p["epsilon"] > 0 and c["composition"]["parts"] == 1)
            yield "delta_p", at, text(value * (1 - PROBABILISTIC) if is_attained else 0), text(value)
    lowers = {}  # where the tight epsilon is that of a delta, and not of a delta that was found
    for e in c["epsilon_at"]:
        at = text(e["delta"])
        lowers[at] = pure_lower if e["delta"] == 0 else text(e["lower"])
        yield "epsilon", at, lowers[at], text(e["epsilon"])
    tight = c["composition"]["tight"]
    if c["composition"]["parts"] > 1 and c["epsilon_at"] and tight["epsilon"] is not None:
        at = text(tight["delta"])
        yield "tight", at, lowers.get(at, "0"), text(tight["epsilon"])
    if c["composition"]["rho"] is not None:
        yield "rho", "0", "0", text(c["composition"]["rho"])


def write_net(path, net, values):
    answers, independent = read_answers(path), read_answers(values)
    lines, skipped, recomputed = [], 0, 0
    for words in draw.draw_all(N):
        answer = answers.get(" ".join(words), {"how": "late"})
        if answer["how"] == "answered":
            said = [" ".join(a) for a in answers_of(answer["result"])]
            if answer["words"] in independent:
                recomputed += 1
                values = independent[answer["words"]]["values"]
                said = [s if v == "0.0" else f"{s} {v}" for s, v in zip(said, values)]
            lines.append(";".join([answer["words"], *said]))
        skipped += answer["how"] == "late"
    with gzip.GzipFile(net, "wb", 9, mtime=0) as file:
        file.write(f"# {skipped} skipped, {recomputed} recomputed\n".encode())
        file.write(("\n".join(lines) + "\n").encode())
    print(f"{len(lines)} certificates, {skipped} skipped, {recomputed} recomputed")


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        hours = float(sys.argv[5]) if len(sys.argv) > 5 else 24
        ask_all(sys.argv[2], sys.argv[3], int(sys.argv[4]), time.time() + 3600 * hours)
    else:
        write_net(sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else "")
