/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact draws of wide unimodal laws on 0, 1, ... by rejection, for laws whose thresholds would not
 * fit a table.
 *
 * A histogram h >= P lies over the law: its blocks end at the mode, so that P is at most the value
 * at a block's end nearest to the mode, rounded up to a multiple of 2^-61. A uniform integer below
 * the weight of all blocks is at once the block, the place in it, and the first bits of the number
 * that is compared with P/h; more bits and more precision are drawn while undecided. The number of
 * trials tells nothing about the value: trials are independent. Every trial evaluates P once. */
#ifndef CELLAR_RANDOM_HISTOGRAM_H
#define CELLAR_RANDOM_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/random.h>

#include "math/flint.h"

typedef struct cellar_wide_law {
    /* Encloses P(first), P(first + 1), ... , n of them, to about `bits` bits. The law is unimodal.
     */
    void (*p_balls)(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out);
    /* 1 when P(2c) <= P(c)/4 is known for every c >= b. */
    int (*settles)(const void *context, int64_t b);
    const void *context;
} cellar_wide_law;

typedef struct cellar_histogram cellar_histogram;

/* Keeps law.context. On failure *out is NULL. */
cellar_status cellar_histogram_create(cellar_wide_law law, cellar_histogram **out,
                                      cellar_error *err);
void cellar_histogram_free(cellar_histogram *histogram); /* NULL is fine */

/* One draw. Values beyond 2^60, less likely than 2^-1000, are not released. */
cellar_status cellar_histogram_draw(const cellar_histogram *histogram, cellar_rng *rng,
                                    int64_t *value, cellar_error *err);

/* The share of trials that are accepted, roughly: for tests. */
double cellar_histogram_acceptance(const cellar_histogram *histogram);

#endif
