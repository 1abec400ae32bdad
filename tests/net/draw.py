# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates at random for the net: words of `cellar certify`, drawn from a fixed sequence.

Some 55 of 100 are what practitioners use; the others spread over four to six powers of ten.
"""
import random

SEED = 18
NOISE = ["laplace", "discrete-laplace", "gaussian", "discrete-gaussian", "truncated-laplace",
         "truncated-normal"]
KERNELS = ["hellinger", "poisson", "negbin", "pig", "sichel", "delaporte"]
ORDERED = NOISE + KERNELS[1:]  # ratios are monotone or have no bound
MATRICES = ["round", "max-entropy", "ptable"]
FILES = ["small.csv", "full.csv", "designed.csv"]
WEIGHTS = [(NOISE + KERNELS, 0.885), (MATRICES, 0.105), (["identity"], 0.01)]


class Draw:
    """Numbers of one certificate; `usual` tells of which kind."""

    def __init__(self, sequence):
        self.sequence = sequence
        self.usual = self.chance(0.55)

    def chance(self, p):
        return self.sequence.random() < p

    def pick(self, items):
        return items[int(len(items) * self.sequence.random())]

    def scale(self, usual, extreme, digits=3):
        """Between two powers of ten, as a decimal."""
        low, high = usual if self.usual else extreme
        return f"{10 ** (low + (high - low) * self.sequence.random()):.{digits}g}"

    def whole(self, usual, extreme):
        low, high = usual if self.usual else extreme
        return int(low * (high / low) ** self.sequence.random() + 0.5)


def draw_name(d):
    u = d.sequence.random()
    for names, weight in WEIGHTS:
        if u < weight:
            return d.pick(names)
        u -= weight
    return "laplace"


def draw_matrix(d, name):
    if name == "round":
        return f"round:base={d.whole((2, 10), (2, 1000))}"
    if name == "ptable":
        return "ptable:file=" + d.pick(FILES)
    m = d.whole((3, 6), (3, 15))
    least = d.pick([0, 0, 1, 2])
    text = f"max-entropy:variance={d.pick(['0.5', '1', '2', '3'] if least == 0 else ['2', '3'])},m={m}"
    if least > 0:
        text += f",min={least}"
    if d.chance(0.3):
        text += ",form=at-most"
    return text


def draw_spec(d):
    name = draw_name(d)
    epsilon = d.scale((-1.3, 0.5), (-3, 1.5), d.pick([1, 2, 3]))
    if name in MATRICES:
        return draw_matrix(d, name)
    if name == "identity":
        return name
    if name.endswith("gaussian"):
        if d.chance(0.1):
            return f"{name}:epsilon={epsilon},delta={d.pick(['1e-5', '1e-6', '1e-9'])}"
        return f"{name}:sigma={d.scale((-0.5, 1.7), (-1.3, 4))}"
    if name.startswith("truncated"):
        return f"{name}:epsilon={epsilon},m={d.whole((2, 30), (1, 1000))}"
    if name in ("laplace", "discrete-laplace", "hellinger"):
        return f"{name}:epsilon={epsilon}"
    text = f"{name}:alpha={d.scale((-1, 1.7), (-3, 3.5), d.pick([1, 2, 3]))}"
    if name != "poisson":
        text += f",sigma={d.scale((-1, 0.7), (-4, 1.8), d.pick([1, 2, 3]))}"
    if name == "sichel":
        text += f",nu={d.pick(['-', ''])}{d.scale((-1, 0.7), (-2, 1.3), 2)}"
    if name == "delaporte":
        text += f",nu={0.02 + 0.96 * d.sequence.random():.2f}"
    return text


def draw_use(d, n_specs):
    """What one unit can change; half of all certificates are of one record in one cell."""
    words = []
    for _ in range(d.pick([0, 0, 0, 1, 1, 2])):
        kind = d.pick(["max-weight", "cells", "per-unit", "neighbours", "negatives", "min-count"])
        value = {"max-weight": d.whole((2, 20), (2, 10000)),
                 "cells": d.whole((2, 60), (2, 3000)),
                 "per-unit": d.whole((2, 6), (2, 60)),
                 "neighbours": "substitute", "negatives": "zero",
                 "min-count": d.whole((1, 10), (1, 3000))}[kind]
        if f"--{kind}" not in words:
            words += [f"--{kind}", str(value)]
    if n_specs > 1 and d.chance(0.1):
        words.append("--parallel")
    return words


def draw_epsilon(d, specs):
    u = d.sequence.random()
    if u < 0.2 and "epsilon=" in specs[0]:  # ratios that equal e^epsilon
        return specs[0].split("epsilon=")[1].split(",")[0]
    if u < 0.5 and d.usual:
        return d.pick(["0.1", "0.25", "0.5", "1", "2", "3"])
    if u > 0.98:
        return "0"
    return d.scale((-1.3, 0.7), (-3.5, 2))


def draw_delta(d):
    u = d.sequence.random()
    if u < 0.05:
        return "0"
    if u < 0.5 and d.usual:
        return f"1e-{d.pick([3, 5, 6, 9, 10, 12])}"
    if u < 0.4:
        return d.scale((-20, -1), (-300, -12))
    return d.scale((-12, -1), (-30, -0.1))


def draw_questions(d, specs):
    kind = d.pick(["epsilon", "epsilon", "delta", "both"])
    words = []
    if kind != "delta":
        asked = [draw_epsilon(d, specs) for _ in range(d.pick([1, 2, 3]))]
        words += ["--epsilon", ",".join(sorted(set(asked), key=float))]
    if kind != "epsilon":
        asked = [draw_delta(d) for _ in range(d.pick([1, 1, 2]))]
        words += ["--delta", ",".join(sorted(set(asked), key=float))]
    return words


def draw_other(d):
    """Tables drawn as a whole, and cell keys."""
    if d.chance(0.3):
        return ["cell-key:file=" + d.pick(FILES)]
    total, cells = d.whole((2, 100), (2, 100000)), d.whole((2, 10), (2, 1000))
    words = [f"multinomial-dirichlet:alpha={d.scale((-1, 1), (-3, 3))},total={total},cells={cells}"]
    return words + (["--neighbours", "substitute"] if d.chance(0.6)
                    else ["--population", str(2 * total)])


def draw_certificate(sequence):
    d = Draw(sequence)
    if d.chance(0.015):
        return draw_other(d) + ["--epsilon", draw_epsilon(d, [""])]
    specs = [draw_spec(d) for _ in range(1 if d.chance(0.85) else d.pick([2, 2, 3, 4, 5]))]
    return specs + draw_use(d, len(specs)) + draw_questions(d, specs)


def draw_all(n):
    """The first `n` different ones."""
    sequence, seen = random.Random(SEED), {}
    while len(seen) < n:
        words = draw_certificate(sequence)
        seen.setdefault(" ".join(words), words)
    return list(seen.values())
