/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One row of a maximum-entropy matrix: the distribution of largest entropy on given changes with
 * mean zero, a given (or largest) variance, a least probability of no change, and probabilities
 * that do not fall on the way up to no change. */
#ifndef CELLAR_MECHANISM_MATRIX_ENTROPY_ROW_H
#define CELLAR_MECHANISM_MATRIX_ENTROPY_ROW_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

#include "math/flint.h"

enum { CELLAR_ENTROPY_REACH_MAX = 200 }; /* the largest change in absolute value */
enum { CELLAR_ENTROPY_BITS = 256 };      /* of the probabilities */

typedef struct cellar_entropy_row {
    const int64_t *changes; /* ascending; 0, or one below and one above, is there */
    size_t n;
    double variance;
    int at_most;  /* 1: the variance is a bound, 0: it is met */
    int monotone; /* 1: probabilities do not fall from the first change up to 0 */
    double stay;  /* P(change = 0) is at least that; without effect when 0 is no change */
} cellar_entropy_row;

/* The position of change 0, or n. */
size_t cellar_entropy_row_stay_at(const cellar_entropy_row *row);

/* The range of variances that distributions of this row can have, and the distributions at its
 * ends. */
double cellar_entropy_row_lowest(const cellar_entropy_row *row);
double cellar_entropy_row_highest(const cellar_entropy_row *row);
void cellar_entropy_row_lowest_law(const cellar_entropy_row *row, arb_ptr p);
void cellar_entropy_row_highest_law(const cellar_entropy_row *row, arb_ptr p);

/* Fills p[0..n). A variance above the feasible range is brought down to it; one below fails with
 * CELLAR_ERR_ARGUMENT. The constraints are met to about 30 digits. */
cellar_status cellar_entropy_row_solve(const cellar_entropy_row *row, arb_ptr p, cellar_error *err);

#endif
