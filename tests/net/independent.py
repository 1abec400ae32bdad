#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes certificates of the net without the library, by direct sums of 50 digits (mpmath).

independent.py ANSWERS VALUES SECONDS [FIRST]

ANSWERS is what generate.py got from the program. Certificates are taken from number FIRST on; what
direct sums cannot do in a few seconds is passed over. VALUES gets a line of JSON for each other one.
A value is what some pair of neighbours does, at counts that were tried: no true bound is below it,
and it is the truth when the worst pair is among them. Contradictions are printed:

  above     a value above the program's upper bound: the program is wrong
  below     one cell does not reach the program's lower bound at the pair the program names
  unreached elsewhere: the lower bound is wrong, or the worst pair was not tried
"""
import json
import signal
import sys
import time

from mpmath import exp, inf, log, mpf

import draw
import generate
import laws

LIMIT = 4  # seconds of one certificate
PRODUCTS = 300000
TIE = mpf(10) ** -20
KEY = mpf(10) ** 25
ORDERS = [mpf(x) for x in ("1.1", "1.5", "2", "4", "8", "16", "64")]


class Late(Exception):
    """Too long for one certificate."""


def losses(triples, is_reversed):
    """{key: [loss, p, q]} of a pair; equal losses are one."""
    out = {}
    for _, p, q in triples:
        if is_reversed:
            p, q = q, p
        if p > 0:
            loss = log(p / q) if q > 0 else inf
            add(out, loss, p, q)
    return out


def add(out, loss, p, q):
    key = int(laws.floor(loss * KEY + mpf(1) / 2)) if loss != inf else "inf"
    old = out.get(key)
    out[key] = [loss, p, q] if old is None else [loss, old[1] + p, old[2] + q]


def compose(one, two, tolerance):
    if len(one) * len(two) > PRODUCTS:
        raise laws.Skip
    out = {}
    for a, p, q in one.values():
        for b, r, s in two.values():
            if p * r > tolerance:
                add(out, a + b, p * r, q * s)
    return out


def power(one, n, tolerance):
    out = None
    while n > 0:
        if n % 2:
            out = one if out is None else compose(out, one, tolerance)
        n //= 2
        one = compose(one, one, tolerance) if n else one
    return out


# ---- what is asked of losses -----------------------------------------------------------


def delta_of(law, epsilon):
    e = exp(epsilon)
    return sum((p - e * q for loss, p, q in law.values() if loss > epsilon + TIE), mpf(0))


def delta_p_of(law, epsilon):
    return sum((p for loss, p, _ in law.values() if abs(loss) > epsilon + TIE), mpf(0))


def epsilon_of(law, delta):
    """The epsilon of a delta: A - e^epsilon B over the losses above epsilon."""
    a = b = mpf(0)
    for loss, p, q in sorted(law.values(), key=lambda t: -t[0]):
        if loss == inf:
            a += p
            if a > delta:
                return inf
            continue
        if loss <= 0 or a - exp(loss) * b > delta:
            break
        a, b = a + p, b + q
    return max(mpf(0), log((a - delta) / b)) if a > delta and b > 0 else mpf(0)


def rho_of(law):
    best = mpf(0)
    for order in ORDERS:
        total = sum((p * exp((order - 1) * loss) for loss, p, _ in law.values()), mpf(0))
        if total != inf:
            best = max(best, log(total) / (order - 1) / order)
    return best


def value_of(kind, at, law):
    if kind == "delta":
        return delta_of(law, at)
    if kind == "delta_p":
        return delta_p_of(law, at)
    if kind in ("epsilon", "tight") and at > 0:
        return epsilon_of(law, at)
    if kind == "infinite":
        return law["inf"][1] if "inf" in law else mpf(0)
    if kind == "rho":
        return rho_of(law) if len(law) < 3000 else mpf(0)
    return max((loss for loss, _, _ in law.values()), default=mpf(0))  # pure


# ---- pairs of data sets ------------------------------------------------------------------


class Certificate:
    """What is asked, and the neighbours to try."""

    def __init__(self, answer):
        c = self.result = answer["result"]
        self.words = answer["words"]
        self.specs = [m["mechanism"].split(",digest=")[0] for m in c["mechanisms"]]
        self.cells, self.units = c["cells_per_unit"], c["records_per_unit"]
        self.weight, self.least = c["max_weight"], c["min_count"]
        self.is_clamped, self.is_parallel = c["negatives"] == "zero", c["parallel"]
        self.both = c["neighbours"] == "substitute"
        self.asked = list(generate.answers_of(c))
        self.is_single = len(self.specs) == 1 and self.cells * self.units == 1 and not self.both
        small = [float(a[3]) for a in self.asked if a[0].startswith("delta")]
        small += [float(a[1]) for a in self.asked if a[0] == "epsilon"]
        self.tolerance = mpf(min([x for x in small if x > 0], default=1e-9)) * mpf(10) ** -15

    def counts(self, spec):
        """Counts to try, the smaller ones of pairs; None: beyond all, for noise."""
        name = laws.parse(spec)[0]
        least = self.least
        if name in laws.ADDITIVE:
            return [None] + (self.clamped_counts(spec) if self.is_clamped else [])
        if not self.is_single:
            return [least, least + 1, least + 4]
        if name == "round":
            return [least + i for i in range(min(int(laws.parse(spec)[1]["base"]), 60))]
        near = range(9) if name != "hellinger" else range(50)
        far = (10, 12, 16, 25, 50) if name != "hellinger" else (75, 100, 150, 200, 300, 500, 1000)
        return [least + i for i in (*near, *far)]

    def clamped_counts(self, spec):
        """Small ones, and the first whose zero violates: delta_p is largest there."""
        q, _ = laws.noise(spec, self.tolerance ** 2)
        tails, total = [], mpf(0)
        for x in reversed(q):
            total += x
            tails.append(total)
        tails.reverse()  # P(noise <= -a)
        out = {self.least + i for i in (0, 1, 2, 3, 5, 8, 13)}
        for kind, at, _, _ in self.asked:
            for a in range(self.least, len(q) - self.weight) if kind == "delta_p" else ():
                if log(tails[a] / tails[a + self.weight]) > mpf(at):
                    out |= {max(a - 1, self.least), a, a + 1}
                    break
        return sorted(out)

    def shifts(self):
        """(how much a cell changes, how many cells of each mechanism do)"""
        w, m = self.weight, self.units
        out = [(w * m, self.cells)]
        if m > 1:
            out.append((w, self.cells * m))
        if self.is_single and w > 1:
            out += [(k, 1) for k in sorted({1, w // 2, w - 1} - {0, w})]
        elif self.cells > 1:  # fewer cells can violate more often
            out += [(w * m, n) for n in sorted({1, self.cells - 1})]
        return out

    def named(self):
        """The worst pairs that the program tells, of one cell."""
        for p in self.result["profile"]:
            w = p["worst_case"]
            if self.is_single and not w["every_count"] and w["count"] != w["neighbour"]:
                yield w["count"], w["neighbour"]

    def law(self, spec, a, b, n):
        triples = laws.pair(spec, a, b, self.is_clamped, self.tolerance / n / 100)
        forward, backward = losses(triples, False), losses(triples, True)
        tolerance = self.tolerance / n / 10000
        if not self.both:
            return [power(forward, n, tolerance), power(backward, n, tolerance)]
        return [compose(power(forward, n, tolerance), power(backward, n, tolerance), tolerance)]

    def all_laws(self):
        """Laws of losses of neighbouring data sets."""
        for a, b in self.named():
            yield from self.law(self.specs[0], a, b, 1)
        for shift, n in self.shifts():
            if len(self.specs) == 1 or self.is_parallel:
                for spec in self.specs:
                    for a in self.counts(spec):
                        yield from self.law(spec, a, shift if a is None else a + shift, n)
                continue
            for index in range(2):
                parts = []
                for spec in self.specs:
                    counts = self.counts(spec)
                    a = counts[min(index, len(counts) - 1)]
                    parts.append(self.law(spec, a, shift if a is None else a + shift, n))
                for direction in range(1 if self.both else 2):
                    law = parts[0][direction]
                    for other in parts[1:]:
                        law = compose(law, other[direction], self.tolerance * mpf(10) ** -6)
                    yield law

    def values(self):
        """One for each question."""
        best = [mpf(0)] * len(self.asked)
        decimals = self.decimals()
        for law in self.all_laws():
            for i, (kind, at, _, _) in enumerate(self.asked):
                best[i] = max(best[i], value_of(kind, decimals.get(at, mpf(at)), law))
        return best

    def decimals(self):
        """The exact decimals of epsilons and deltas, by the doubles they were told as."""
        words, out = self.words.split(), {}
        for name, value in zip(words, words[1:]):
            if name in ("--epsilon", "--delta"):
                out.update({repr(float(x)): mpf(x) for x in value.split(",")})
        return out


def dirichlet_values(c):
    """The published pure epsilon, which is attained, of a table drawn as a whole."""
    p = laws.parse(c.specs[0])[1]
    if not c.both:
        raise laws.Skip
    a, n = mpf(p["alpha"]), int(p["total"])
    return [log((n + a) / a) if kind == "pure" else mpf(0) for kind, _, _, _ in c.asked]


# ---- the run -----------------------------------------------------------------------------


def judge(c, values):
    """Prints contradictions. Returns how many lower bounds are reached, and how many are not."""
    reached = unreached = 0
    for (kind, at, lower, upper), value in zip(c.asked, values):
        lower, upper = mpf(lower), mpf(upper)
        if value > upper * (1 + mpf(10) ** -13):
            print(f"above: {c.words}: {kind} at {at}: {value} > {upper}", flush=True)
        if lower == 0 or lower == inf:
            continue
        if value >= lower * (1 - mpf(10) ** -9):
            reached += 1
            continue
        if kind == "pure" and not c.is_single:  # tails that were left out
            continue
        unreached += 1
        what = "below" if kind == "delta" and c.is_single else "unreached"
        print(f"{what}: {c.words}: {kind} at {at}: {laws.mp.nstr(value, 17)} < {lower}", flush=True)
    return reached, unreached


def recompute(answer):
    c = Certificate(answer)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        is_joint = c.specs[0].startswith("multinomial-dirichlet")
        values = dirichlet_values(c) if is_joint else c.values()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return c, values


def late(*_):
    raise Late


def main(answers, path, seconds, first):
    until, total, n, passed = time.time() + seconds, [0, 0], 0, 0
    known = generate.read_answers(answers)
    signal.signal(signal.SIGVTALRM, late)
    with open(path, "a", encoding="utf-8") as file:
        for words in draw.draw_all(generate.N)[first:]:
            answer = known.get(" ".join(words), {"how": "late"})
            if answer["how"] != "answered" or time.time() > until:
                continue
            try:
                c, values = recompute(answer)
            except (laws.Skip, Late):
                passed += 1
                continue
            n += 1
            total = [x + y for x, y in zip(total, judge(c, values))]
            told = [repr(float(v) * (1 - 1e-14)) for v in values]
            file.write(json.dumps({"words": c.words, "values": told}) + "\n")
            file.flush()
    print(f"{n} recomputed, {passed} passed over; lower bounds: {total[0]} reached, "
          f"{total[1]} not")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 0)
