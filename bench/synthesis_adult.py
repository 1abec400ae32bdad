#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of all 2-way and 3-way margins of Adult: a cube, its synthetic records, Poisson synthesis.

usage: synthesis_adult.py PROGRAM adult.csv

Works in the current folder, which should be empty. Prints a table of docs/synthesis.md. The error of
Poisson synthesis of the table of all variables (alpha taken away again) is computed exactly: a sum of k
cells that holds A people has the variance A + alpha k. Its alpha is the smallest whose delta by equation 9
of Jackson and others (2022) is at most the cube's, at the cube's epsilon."""
import csv
import itertools
import json
import math
import subprocess
import sys

NAMES = ["workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "income"]
DELTA = 1e-6


def cellar(program, *words):
    return subprocess.run([program, *words], check=True, text=True, stdout=subprocess.PIPE).stdout


def read(path):
    with open(path, encoding="utf-8") as file:
        return [[row[name] for name in NAMES] for row in csv.DictReader(file)]


def count(records, columns):
    table = {}
    for record in records:
        key = tuple(record[c] for c in columns)
        table[key] = table.get(key, 0) + 1
    return table


def poisson_delta(alpha, epsilon):
    """1 - F(u) of the Poisson distribution with mean 1 + alpha, u = (1 + epsilon) / ln((1 + alpha) / alpha)."""
    mean, last = 1 + alpha, math.floor((1 + epsilon) / math.log1p(1 / alpha))
    terms = (math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(last + 1, last + 400))
    return math.fsum(terms)


def poisson_alpha(epsilon):
    """The smallest alpha on a fine grid from which on delta is small enough."""
    alpha = 1e5
    while poisson_delta(alpha / 1.001, epsilon) <= DELTA:
        alpha /= 1.001
    return alpha


def main():
    program, data = sys.argv[1:]
    truth = read(data)
    domains = [sorted({record[c] for record in truth}) for c in range(len(NAMES))]
    for name, domain in zip(NAMES, domains):
        with open(f"{name}.csv", "w", encoding="utf-8") as file:
            file.write("code\n" + "".join(f'"{code}"\n' for code in domain))
    print("| ρ | ε at δ = 1e-6 | margins | cells | cube | synthetic | Poisson |\n|---|---|---|---|---|---|---|")
    for rho in ("0.02", "0.1", "0.5"):
        with open(f"adult-{rho}.yaml", "w", encoding="utf-8") as file:
            file.write(f"plan: 1\ndata: {{file: {data}}}\nvariables:\n")
            file.writelines(f"  - {{name: {name}, codelist: {name}.csv}}\n" for name in NAMES)
            file.write(f"universe: {{file: adult-{rho}.cube, up_to: 3}}\nbudget: {{rho: {rho}}}\n"
                       "negatives: keep\nparameter_choice: public\n")
        cellar(program, "cube", "build", f"adult-{rho}.yaml")
        made = json.loads(cellar(program, "synthesize", f"adult-{rho}.cube", "-o", f"adult-{rho}.csv", "--json"))
        epsilon = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / DELTA))
        alpha = poisson_alpha(epsilon)
        records = read(f"adult-{rho}.csv")
        sds = {frozenset(fit["table"].split(" x ")): fit["sd"] for fit in made["tables"]}
        total = math.prod(len(domain) for domain in domains)
        for ways in (2, 3):
            squares = {"cells": 0, "cube": 0.0, "synthetic": 0.0, "poisson": 0.0}
            for columns in itertools.combinations(range(len(NAMES)), ways):
                own, other = count(truth, columns), count(records, columns)
                cells = math.prod(len(domains[c]) for c in columns)
                squares["cells"] += cells
                squares["cube"] += cells * sds[frozenset(NAMES[c] for c in columns)] ** 2
                squares["synthetic"] += sum((own.get(key, 0) - other.get(key, 0)) ** 2 for key in own.keys() | other.keys())
                squares["poisson"] += len(truth) + alpha * total
            cells = squares.pop("cells")
            errors = " | ".join(f"{math.sqrt(value / cells):.1f}" for value in squares.values())
            print(f"| {rho} | {epsilon:.2f} | {ways}-way | {cells} | {errors} |", flush=True)
    for fact in made["model"]:
        print(fact["variable"], "given", fact["given"] or "-", round(fact["information"], 4), file=sys.stderr)


main()
