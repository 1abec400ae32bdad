/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inverse transform sampling without rounding: the distribution function of an integer law as
 * integer thresholds with proven bounds, refined only when bits lie too near to one.
 *
 * Write t_j = P(Y <= j), j = 0, 1, ... and u for a uniform number whose binary digits are drawn
 * one by one. Then Y = #{j : u >= t_j} has exactly the stated law. A threshold is kept as the cell
 * T with T < 2^96 t <= T + 1; the first 96 bits U of u decide u >= t when U > T and u < t when
 * U < T. When U = T (a chance of 2^-96 each) more bits are drawn and t is enclosed more tightly,
 * as often as needed. */
#ifndef CELLAR_RANDOM_THRESHOLDS_H
#define CELLAR_RANDOM_THRESHOLDS_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/random.h>

#include "math/flint.h"

/* A law on 0, 1, ..., last. */
typedef struct cellar_law {
    /* Encloses P(Y <= first + i) for i = 0..n-1, to an absolute error of about 2^-bits. */
    void (*cdf_balls)(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out);
    const void *context;
    int64_t last; /* INT64_MAX when unbounded */
} cellar_law;

typedef struct cellar_thresholds {
    cellar_law law;
    /* First 32 bits of each threshold, less 2^31 so that signed comparison orders them. Of those
     * that are all ones, only one is kept: no 32 bits are above it. */
    int32_t *first;
    size_t n_first;
    uint32_t *high; /* all 96 bits; again only one that is all ones */
    uint64_t *low;
    size_t n_second;
} cellar_thresholds;

/* Fails with CELLAR_ERR_ARGUMENT when the law needs more than `n_max` thresholds. On failure
 * `out` is cleared. Keeps law.context. */
cellar_status cellar_thresholds_init(cellar_thresholds *out, cellar_law law, size_t n_max,
                                     cellar_error *err);
void cellar_thresholds_clear(cellar_thresholds *thresholds);

/* The value of 96 bits (high: the first 32), in time that depends on the number of thresholds
 * only. *tie becomes UINT32_MAX when the bits do not decide, else 0. */
int32_t cellar_thresholds_decide(const cellar_thresholds *thresholds, uint32_t high, uint64_t low,
                                 uint32_t *tie);

/* The value of those bits followed by as many more from `rng` as it takes. */
cellar_status cellar_thresholds_resolve(const cellar_thresholds *thresholds, uint32_t high,
                                        uint64_t low, cellar_rng *rng, int64_t *value,
                                        cellar_error *err);

/* The same from the start, with the first `bits` bits given: what resolve does, at any precision,
 * so that a test can run every bit string of a toy precision. */
cellar_status cellar_law_draw(const cellar_law *law, const fmpz_t prefix, int64_t bits,
                              cellar_rng *rng, int64_t *value, cellar_error *err);

#endif
