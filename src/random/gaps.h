/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The successes of a long run of independent trials, found without trying: the failures before
 * each success are geometric, drawn exactly whatever the probability is. */
#ifndef CELLAR_RANDOM_GAPS_H
#define CELLAR_RANDOM_GAPS_H

#include "random/search.h"

/* Encloses the probability p of a success, 0 < p < 1, to a relative error of about 2^-bits. */
typedef void cellar_gaps_probability(const void *context, int64_t bits, arb_t out);

typedef struct cellar_gaps cellar_gaps; /* immutable; threads may share one */

/* Keeps `context`. On failure *out is NULL. */
cellar_status cellar_gaps_create(cellar_gaps_probability *probability, const void *context,
                                 cellar_gaps **out, cellar_error *err);
void cellar_gaps_free(cellar_gaps *gaps); /* NULL is fine */

/* The number of failures before the next success; UINT64_MAX stands for 2^63 or more. */
cellar_status cellar_gaps_next(const cellar_gaps *gaps, cellar_search *search, uint64_t *n_failures,
                               cellar_error *err);

#endif
