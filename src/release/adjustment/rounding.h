/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of rounding a fit to whole numbers that add. */
#ifndef CELLAR_RELEASE_ADJUSTMENT_ROUNDING_H
#define CELLAR_RELEASE_ADJUSTMENT_ROUNDING_H

#include <jansson.h>

#include "release/adjustment/adjustment.h"

struct cellar_rounding {
    const cellar_adjustment *fit; /* while it is made */
    size_t n;
    double *before; /* non-negative, aggregates included */
    double *value;  /* whole numbers, aggregates included */
    cellar_rounding_proof proof;
    double distance, bound, largest_move, max_move;
    double total; /* of `value` */
    size_t n_far, n_beyond;
};

/* The nearest non-negative table with the unbiased total (zero if that is negative), aggregates
 * included, into `out` (adjustment_nonnegative.c). */
cellar_status cellar_adjustment_nonnegative(const cellar_adjustment *fit, double *out,
                                            cellar_error *err);

/* Brings `before` within max_move of the unbiased estimates where it can be (rounding_bounds.c),
 * and counts what is further; when not `searched` it only counts. */
cellar_status cellar_rounding_keep_near(cellar_rounding *rounding, int searched, cellar_error *err);

/* A guess of which unknowns are zero in that table: `diagonal` gets fit->diagonal, and 0 for those
 * (adjustment_active.c). */
cellar_status cellar_adjustment_guess_zeros(const cellar_adjustment *fit, double *diagonal,
                                            cellar_error *err);

/* Rounds the inner cells of `before` into `value` by an integer programme
 * (rounding_programme.c), or from the total downwards (rounding_greedy.c). */
cellar_status cellar_rounding_search(cellar_rounding *rounding,
                                     const cellar_rounding_options *options, cellar_error *err);
cellar_status cellar_rounding_greedy(cellar_rounding *rounding, cellar_error *err);

/* How whole numbers came about, for a description (adjustment_estimate.c); NULL without memory. */
json_t *cellar_rounding_json(const cellar_rounding *rounding);

#endif
