/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of rounding a fit to whole numbers that add. */
#ifndef CELLAR_RELEASE_ROUNDING_H
#define CELLAR_RELEASE_ROUNDING_H

#include "release/adjustment.h"

struct cellar_rounding {
    const cellar_adjustment *fit; /* while it is made */
    size_t n;
    double *before; /* non-negative, aggregates included */
    double *value;  /* whole numbers, aggregates included */
    cellar_rounding_proof proof;
    double distance, bound, largest_move;
    size_t n_far;
};

/* The nearest non-negative table, aggregates included, into `out` (adjustment_nonnegative.c). */
cellar_status cellar_adjustment_nonnegative(const cellar_adjustment *fit, double *out,
                                            cellar_error *err);

/* Rounds the interior cells of `before` into `value` by an integer programme
 * (rounding_programme.c), or from the total downwards (rounding_greedy.c). */
cellar_status cellar_rounding_search(cellar_rounding *rounding,
                                     const cellar_rounding_options *options, cellar_error *err);
cellar_status cellar_rounding_greedy(cellar_rounding *rounding, cellar_error *err);

#endif
