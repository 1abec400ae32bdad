/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Composition of pairs whose losses add up: bounds from above and below that meet within 1e-3 in
 * epsilon, on the pairs' own lattice where they have one. */
#ifndef CELLAR_PRIVACY_TIGHT_H
#define CELLAR_PRIVACY_TIGHT_H

#include "privacy/supremum.h"

/* A dominating pair and how often it is met. */
typedef struct cellar_stake {
    cellar_pair pair;
    uint64_t times;
    int is_envelope; /* 1: stands for all counts of `reach`, and `pair` for one pair of them */
    int is_rough;    /* of the first. 1: grids are not refined until bounds meet; only the upper
                      * bound is asked for, 2: on a coarse grid, 3: closely */
    cellar_reach reach;
} cellar_stake;

typedef struct cellar_bounds {
    double upper, lower;
    int is_lattice;
} cellar_bounds;

/* Of delta at `epsilon`, and of epsilon at `delta` (INFINITY when there is none). The upper
 * bound need not be close where it is at most `enough`. */
cellar_status cellar_tight_delta(const cellar_stake *stakes, size_t n, double epsilon,
                                 double enough, cellar_bounds *out, cellar_error *err);
cellar_status cellar_tight_epsilon(const cellar_stake *stakes, size_t n, double delta,
                                   double enough, cellar_bounds *out, cellar_error *err);
/* An upper bound on P(|loss| > epsilon) of symmetric noise that is met up to stake->times times:
 * the largest. On a lattice, exact but for rounding. */
cellar_status cellar_tight_violation(const cellar_stake *stake, double epsilon, cellar_bounds *out,
                                     cellar_error *err);

#endif
