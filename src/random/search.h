/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact draws by binary search in a distribution function: fast, and in time that depends on the
 * value. For numbers that are published as drawn, never for noise that hides a count.
 *
 * P(Y <= j) is kept as an integer within 1.25 of 2^64 P(Y <= j). 64 random bits that come within
 * one of such an integer (a chance below 2^-62 each) are extended and compared with the exact
 * law; all others decide. So the law is exact even where a probability is a binary fraction and
 * no enclosure tells on which side of it a bound lies. */
#ifndef CELLAR_RANDOM_SEARCH_H
#define CELLAR_RANDOM_SEARCH_H

#include "random/thresholds.h"

/* The distribution function of one law; immutable, threads may share one. {0} is the law of the
 * certain value 0. */
typedef struct cellar_search_table {
    cellar_law law;
    uint64_t *cuts; /* non-decreasing */
    size_t n_cuts;
} cellar_search_table;

/* Fails with CELLAR_ERR_ARGUMENT when the law needs more than `n_max` cuts. On failure `out` is
 * cleared. Keeps law.context. */
cellar_status cellar_search_table_init(cellar_search_table *out, cellar_law law, size_t n_max,
                                       cellar_error *err);
void cellar_search_table_clear(cellar_search_table *table);

/* Bits taken from a generator by the handful. {.rng = rng} is ready. */
typedef struct cellar_search {
    cellar_rng *rng;
    uint64_t bits[256];
    size_t n_left;
} cellar_search;

cellar_status cellar_search_draw(cellar_search *search, const cellar_search_table *table,
                                 int64_t *value, cellar_error *err);
void cellar_search_clear(cellar_search *search); /* wipes the bits left */

#endif
