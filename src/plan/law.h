/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bias and variance of a released number, after negatives and a threshold. */
#ifndef CELLAR_PLAN_LAW_H
#define CELLAR_PLAN_LAW_H

#include <cellar/mechanism.h>

#include "release/draw/zeros.h"

enum { PLAN_LAW_CACHED = 4096 };

typedef struct plan_moments {
    double bias, variance;
    double listed; /* P(the number is not zero) */
} plan_moments;

typedef struct plan_law {
    const cellar_mechanism *mechanism;
    cellar_listing listing;
    double offset, variance; /* of additive noise */
    /* Of additive noise that is cut off: sums of q(k), k q(k) and k^2 q(k) over low <= k < low + i
     */
    int64_t low;
    size_t n;
    double *mass, *first, *second;
    plan_moments *cached; /* of small counts */
    unsigned char *is_cached;
} plan_law;

/* `threshold` 0: none. Keeps `mechanism`. Clear it in every case. */
cellar_status cellar_plan_law_init(plan_law *law, const cellar_mechanism *mechanism,
                                   cellar_negatives negatives, uint64_t threshold,
                                   cellar_error *err);
void cellar_plan_law_clear(plan_law *law);

plan_moments cellar_plan_law_at(plan_law *law, int64_t count);
/* P(a positive number is released for an empty cell). */
double cellar_plan_law_false_positive(const plan_law *law);

#endif
