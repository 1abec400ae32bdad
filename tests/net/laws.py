# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws of released numbers by their definitions, term by term, in numbers of 50 digits.

Nothing here is taken from the library: the formulas are those of the papers.
"""
import functools
import os

from mpmath import besselk, erfc, exp, floor, inf, mp, mpf, pi, sqrt

mp.dps = 50
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
MOST = 4000  # numbers of a law that are looked at
ADDITIVE = ("laplace", "discrete-laplace", "gaussian", "discrete-gaussian", "truncated-laplace",
            "truncated-normal", "identity")


class Skip(Exception):
    """Not for direct sums."""


def parse(spec):
    name, _, rest = spec.partition(":")
    return name, dict(pair.split("=") for pair in rest.split(",") if pair)


# ---- additive noise --------------------------------------------------------------


def noise_function(name, p):
    """q(k) up to a constant, and the largest |k| (None: no bound)."""
    if name == "identity":
        return (lambda k: mpf(1) if k == 0 else mpf(0)), 0
    if "sigma" in p:
        s = mpf(p["sigma"])
        if name == "discrete-gaussian":
            return (lambda k: exp(-mpf(k) ** 2 / (2 * s * s))), None
        r = s * sqrt(mpf(2))
        return (lambda k: (erfc((abs(k) - mpf(1) / 2) / r) - erfc((abs(k) + mpf(1) / 2) / r)) / 2), None
    if "epsilon" not in p or "delta" in p:
        raise Skip
    e = mpf(p["epsilon"])
    if name == "laplace":
        return (lambda k: 1 - exp(-e / 2) if k == 0
                else exp(-e * (abs(k) - mpf(1) / 2)) * (1 - exp(-e)) / 2), None
    if name == "discrete-laplace":
        return (lambda k: exp(-e * abs(k))), None
    m = int(p["m"])
    if name == "truncated-laplace":
        return (lambda k: exp(-e * abs(k))), m
    return (lambda k: exp(-e * mpf(k) ** 2 / (2 * m + 1))), m


@functools.lru_cache(maxsize=4)
def noise(spec, tolerance):
    """q(0), q(1), ..., until it is below `tolerance`; and whether zeros follow."""
    name, p = parse(spec)
    q, most = noise_function(name, p)
    out = []
    while (most is None or len(out) <= most) and (not out or out[-1] > tolerance):
        out.append(q(len(out)))
        if len(out) > MOST:
            raise Skip
    total = out[0] + 2 * sum(out[1:])
    if name in ("laplace", "gaussian"):
        assert total <= 1 + mpf(10) ** -45
        total = mpf(1)
    return [x / total for x in out], most is not None and len(out) == most + 1


def noise_pair(spec, shift, tolerance):
    """(p, q) of every number, drawn from 0 and from `shift`."""
    q, is_bounded = noise(spec, tolerance)
    n = len(q) - 1
    low, high = -n, n + shift
    if not is_bounded:  # both laws are known where one is
        q, _ = noise_longer(spec, n + shift)
        low, high = -n, n + shift
    at = lambda k: q[abs(k)] if abs(k) < len(q) else mpf(0)
    return [(b, at(b), at(b - shift)) for b in range(low, high + 1)]


@functools.lru_cache(maxsize=4)
def noise_longer(spec, n):
    name, p = parse(spec)
    q, _ = noise_function(name, p)
    if n > 2 * MOST:
        raise Skip
    out = [q(k) for k in range(n + 1)]
    if name in ("laplace", "gaussian"):
        return out, False
    tail = [q(k) for k in range(n + 1, n + 2)]
    total = out[0] + 2 * sum(out[1:])
    if name == "discrete-laplace":  # the rest is geometric
        total += 2 * tail[0] / (1 - out[1] / out[0])
    k = n + 1
    while name == "discrete-gaussian" and q(k) > total * mpf(10) ** -48:
        total += 2 * q(k)
        k += 1
    return [x / total for x in out], False


# ---- kernels ---------------------------------------------------------------------


def sichel_row(mu, s, nu, n):
    """The law of mean mu for 0..n; of order -1/2 it is the Poisson-inverse Gaussian one."""
    g = besselk(nu + 1, 1 / s) / besselk(nu, 1 / s)
    c = sqrt(1 / s ** 2 + 2 * mu / (g * s))
    base = mu / (g * c * s)
    out, factor = [], (c * s) ** -nu / besselk(nu, 1 / s)
    for y in range(n + 1):
        if y < 2 or y + nu < 2:
            out.append(factor * besselk(y + nu, c))
        else:  # K_{v+1}(c) = K_{v-1}(c) + 2 v/c K_v(c)
            out.append(base ** 2 / (y * (y - 1)) * out[-2] + base * 2 * (y + nu - 1) / (c * y) * out[-1])
        factor *= base / (y + 1)
    return out


def poisson_row(mu, n):
    out = [exp(-mu)]
    for y in range(n):
        out.append(out[-1] * mu / (y + 1))
    return out


def negbin_row(mu, s, n):
    out = [(1 + s * mu) ** (-1 / s)]
    for y in range(n):
        out.append(out[-1] * (y + 1 / s) / (y + 1) * (s * mu / (1 + s * mu)))
    return out


def delaporte_row(mu, s, nu, n):
    if n > 500:
        raise Skip
    one, two = poisson_row(mu * nu, n), negbin_row(mu * (1 - nu), s, n)
    return [sum(one[i] * two[y - i] for i in range(y + 1)) for y in range(n + 1)]


@functools.lru_cache(maxsize=400)
def kernel_row(spec, count, n):
    name, p = parse(spec)
    mu = mpf(count) + mpf(p["alpha"])
    if name == "poisson":
        return poisson_row(mu, n)
    s = mpf(p["sigma"])
    if name == "negbin":
        return negbin_row(mu, s, n)
    if name == "pig":
        return sichel_row(mu, s, mpf(-1) / 2, n)
    if name == "sichel":
        return sichel_row(mu, s, mpf(p["nu"]), n)
    return delaporte_row(mu, s, mpf(p["nu"]), n)


def kernel_pair(spec, a, b, tolerance):
    n = 64
    while True:
        p, q = kernel_row(spec, a, n), kernel_row(spec, b, n)
        if max(p[-1], q[-1]) < tolerance and p[-1] < p[-2] and q[-1] < q[-2]:
            break
        n *= 2
        if n > MOST:
            raise Skip
    assert sum(p) < 1 + mpf(10) ** -40 and sum(q) < 1 + mpf(10) ** -40
    assert sum(p) > 1 - 1e6 * tolerance - mpf(10) ** -40
    return list(zip(range(n + 1), p, q))


# ---- Hellinger ---------------------------------------------------------------------

BERNOULLI = [(2, mpf(1) / 6), (4, mpf(-1) / 30), (6, mpf(1) / 42), (8, mpf(-1) / 30),
             (10, mpf(5) / 66), (12, mpf(-691) / 2730)]


@functools.lru_cache(maxsize=400)
def hellinger_tail(c, start):
    """Sum of exp(-c sqrt b) from b = start on: terms, then Euler-Maclaurin."""
    m = max(start, 1500)
    total = sum((exp(-c * sqrt(mpf(b))) for b in range(start, m)), mpf(0))
    root, f = sqrt(mpf(m)), exp(-c * sqrt(mpf(m)))
    square = [root]  # of sqrt(m + h) in powers of h
    for k in range(1, 13):
        square.append(square[-1] * (mpf(3) / 2 - k) / (k * m))
    power = [f]  # of exp(-c sqrt(m + h))
    for k in range(1, 13):
        power.append(-c / k * sum(j * square[j] * power[k - j] for j in range(1, k + 1)))
    total += 2 * (c * root + 1) / c ** 2 * f + f / 2
    factorial = mpf(1)
    for k, number in BERNOULLI:  # B_k / k! f^(k-1), and f^(k-1) = (k-1)! power[k-1]
        total -= number / k * power[k - 1]
    return total


@functools.lru_cache(maxsize=400)
def hellinger_norm(c, a):
    below = sum((exp(-c * (sqrt(mpf(a)) - sqrt(mpf(b)))) for b in range(a)), mpf(0))
    return below + exp(c * sqrt(mpf(a))) * hellinger_tail(c, a)


def hellinger_pair(spec, a, b):
    c = mpf(parse(spec)[1]["epsilon"]) / 2
    if max(a, b) > MOST:
        raise Skip
    z, y, top = hellinger_norm(c, a), hellinger_norm(c, b), max(a, b)
    law = lambda k, count, norm: exp(-c * abs(sqrt(mpf(k)) - sqrt(mpf(count)))) / norm
    out = [(k, law(k, a, z), law(k, b, y)) for k in range(top)]
    tail = hellinger_tail(c, top)
    return out + [(top, tail * exp(c * sqrt(mpf(a))) / z, tail * exp(c * sqrt(mpf(b))) / y)]


# ---- matrices ------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def matrix_file(name):
    rows = {}
    with open(os.path.join(DATA, name), encoding="ascii") as file:
        for line in list(file)[1:]:
            i, _, p, v, _ = line.split(";")
            rows.setdefault(int(i), {})[int(v)] = mpf(p)
    return rows


def entropy_row(support, count, variance, is_equal):
    """The law of largest entropy by Newton's method: exp(x v + y v^2) on changes v."""
    changes = [b - count for b in support]
    low, high = changes[0], changes[-1]
    x, y = mpf(0), mpf(0)

    def law(x, y):
        w = [exp(x * v + y * v * v) for v in changes]
        return [i / sum(w) for i in w]

    def moment(p, k):
        return sum(i * v ** k for i, v in zip(p, changes))
    if -low * high <= variance:
        raise Skip
    for with_variance in (False, True):
        if with_variance and not is_equal and moment(law(x, y), 2) <= variance:
            break
        for _ in range(200):
            m1, m2, m3, m4 = (moment(law(x, y), k) for k in (1, 2, 3, 4))
            if with_variance:
                a, b, d, r, t = m2 - m1 ** 2, m3 - m1 * m2, m4 - m2 ** 2, -m1, variance - m2
                dx, dy = (d * r - b * t) / (a * d - b * b), (a * t - b * r) / (a * d - b * b)
            else:
                dx, dy = -m1 / (m2 - m1 ** 2), mpf(0)
            size = max(abs(dx), abs(dy) * 3)
            step = min(mpf(1), mpf("0.3") / size) if size > 0 else 1
            x, y = x + step * dx, y + step * dy
            if size < mpf(10) ** -30:
                break
        else:
            raise Skip
    return dict(zip(changes, law(x, y)))


@functools.lru_cache(maxsize=None)
def entropy_matrix(spec):
    p = parse(spec)[1]
    if p.get("min", "0") != "0" or "stay" in p or "mono" in p:
        raise Skip
    m, variance = int(p["m"]), mpf(p["variance"])
    rows = {0: {0: mpf(1)}}
    for a in range(1, m + 1):
        rows[a] = entropy_row(list(range(max(0, a - m), a + m + 1)), a, variance,
                              p.get("form") != "at-most")
    return rows


def matrix_row(spec, count):
    name, p = parse(spec)
    if name == "round":
        base = int(p["base"])
        low, rest = count - count % base, count % base
        return {low: 1 - mpf(rest) / base, low + base: mpf(rest) / base} if rest else {low: mpf(1)}
    rows = matrix_file(p["file"]) if name == "ptable" else entropy_matrix(spec)
    return {count + v: q for v, q in rows[min(count, max(rows))].items()}


def matrix_pair(spec, a, b):
    p, q = matrix_row(spec, a), matrix_row(spec, b)
    return [(k, p.get(k, mpf(0)), q.get(k, mpf(0))) for k in sorted({*p, *q})]


# ---- pairs -----------------------------------------------------------------------------


def clamp(triples):
    zero = [t for t in triples if t[0] <= 0]
    rest = [t for t in triples if t[0] > 0]
    return [(0, sum(t[1] for t in zero), sum(t[2] for t in zero))] + rest


def pair(spec, a, b, is_clamped, tolerance):
    """(released, P from a, P from b) of all numbers that matter. a None: a count beyond all."""
    name = parse(spec)[0]
    if name in ADDITIVE:
        if a is None:
            return noise_pair(spec, b, tolerance)
        if not is_clamped:
            return noise_pair(spec, abs(b - a), tolerance)
        low = min(a, b)
        triples = noise_pair(spec, abs(b - a), tolerance ** 2)
        if a > b:
            triples = [(k, q, p) for k, p, q in triples]
        return clamp([(k + low, p, q) for k, p, q in triples])
    if name == "hellinger":
        return hellinger_pair(spec, a, b)
    if name in ("round", "ptable", "max-entropy"):
        return matrix_pair(spec, a, b)
    if name in ("poisson", "negbin", "pig", "sichel", "delaporte"):
        return kernel_pair(spec, a, b, tolerance)
    raise Skip
