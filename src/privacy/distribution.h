/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distribution of the released value of one true count, as proven enclosures. This is the one
 * place that chooses how a probability is computed: by a closed form of the mechanism, by a row of
 * double-doubles, or by summing balls. */
#ifndef CELLAR_PRIVACY_DISTRIBUTION_H
#define CELLAR_PRIVACY_DISTRIBUTION_H

#include <arb.h>

#include "mechanism/mechanism.h"

/* q(0), q(1), ... of additive noise in doubles, as far as it was asked for: the same for every
 * count. */
typedef struct cellar_noise_table {
    double *q; /* each right to CELLAR_NEAR_ERROR of itself; 0: not known so well */
    size_t n;
} cellar_noise_table;

void cellar_noise_table_clear(cellar_noise_table *table); /* {0} is fine */

typedef struct cellar_distribution {
    const cellar_mechanism *m;
    int64_t count;
    int64_t low, high; /* support; INT64_MIN and INT64_MAX are unbounded */
    int is_clamped;    /* released values below zero are possible, and released as zero */
    int has_far;
    int64_t far_low, far_high; /* cellar_distribution_far(), once it was asked for */
    int has_row;
    cellar_law_row row;        /* of kernels; it grows as far as it is asked for */
    cellar_noise_table *noise; /* of additive noise: of the caller, or NULL */
} cellar_distribution;

/* Keeps `m`. A kernel without a row, or without the memory for one, is enclosed by balls: the same
 * answers, more slowly. */
void cellar_distribution_init(cellar_distribution *d, const cellar_mechanism *m, int64_t count,
                              cellar_negatives negatives);
void cellar_distribution_clear(cellar_distribution *d); /* {0} is fine */

/* 1 when `b` lies between the ends of the support. */
int cellar_distribution_holds(const cellar_distribution *d, int64_t b);

/* Enclosures of P(B = b), P(B >= b) and P(B <= b), to about `bits` bits where that is possible. */
void cellar_distribution_pmf(cellar_distribution *d, int64_t b, int64_t bits, arb_t out);
void cellar_distribution_upper(cellar_distribution *d, int64_t b, int64_t bits, arb_t out);
void cellar_distribution_lower(cellar_distribution *d, int64_t b, int64_t bits, arb_t out);

/* 1 and P(B = b) as a double that is right to CELLAR_NEAR_ERROR of itself, where a row or a table
 * of noise holds it, or 0 where it is known to be at most CELLAR_NEAR_LEAST: much quicker than a
 * ball, for sums over many values. */
int cellar_distribution_near(cellar_distribution *d, int64_t b, double *p);
#define CELLAR_NEAR_ERROR 0x1p-51
#define CELLAR_NEAR_LEAST 0x1p-690

/* The values that are looked at one by one: outside a kernel has about 1e-320 of its mass; additive
 * noise has closed forms for all that fit. */
void cellar_distribution_far(cellar_distribution *d, int64_t *low, int64_t *high);

/* No less than P(B > b) and P(B < b), quickly, for what is left out of a sum. */
double cellar_distribution_above(cellar_distribution *d, int64_t b);
double cellar_distribution_below(cellar_distribution *d, int64_t b);

/* Lowers *high to the last value that a row holds, where it ends before: below 2^-700. */
void cellar_distribution_cut(cellar_distribution *d, int64_t *high);

/* The window outside which P has about `tail` of its mass; within the support. */
void cellar_distribution_window(const cellar_distribution *d, double tail, int64_t *low,
                                int64_t *high);

#endif
