/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact expectations: sums over the law of the number released for a count. */
#ifndef CELLAR_UTILITY_LAW_H
#define CELLAR_UTILITY_LAW_H

#include "mechanism/mechanism.h"
#include "release/draw/zeros.h"
#include "utility/frame.h"

/* The number released is b, or zero when the listing does not have it. */
typedef struct utility_law {
    const cellar_mechanism *mechanism; /* NULL: there is no law of single cells */
    cellar_listing listing;
    int zeros_stay; /* 1: a cell without records is released as zero (cell keys) */
    double *p;      /* of low..high; once for additive noise, else of the last count asked */
    size_t capacity;
    int64_t low, high; /* additive: of the noise */
} utility_law;

cellar_status cellar_utility_law_init(utility_law *law, cellar_error *err);
void cellar_utility_law_clear(utility_law *law);

/* P(first + i | count), i < n. n is 0 when the law is too wide to be summed. */
typedef struct utility_row {
    int64_t count, first;
    size_t n;
    const double *p;
} utility_row;
cellar_status cellar_utility_law_row(utility_law *law, int64_t count, utility_row *out,
                                     cellar_error *err);

/* What becomes of a number drawn. */
static inline int64_t utility_law_released(const utility_law *law, int64_t drawn)
{
    return cellar_listing_has(&law->listing, drawn) ? drawn : 0;
}

/* 1 when noise is as often positive as negative and stays as it is: there is no bias at all. */
static inline int utility_law_is_symmetric(const utility_law *law)
{
    return law->mechanism->ops->is_additive && law->listing.negatives != CELLAR_NEGATIVES_ZERO;
}

/* Expectations for one count. */
typedef struct utility_moments {
    int64_t count;
    double times;                  /* cells that have it */
    double bias, square, absolute; /* of b - a */
    double root, root_square;      /* of |sqrt a - sqrt max(b, 0)| */
    double positive, not_positive; /* P(b > 0), P(b <= 0): each added up by itself, since
                                      1 - P loses the small one and may fall below 0 */
} utility_moments;

/* Expectations for every count of the table, for zero and for the counts looked at, ascending. */
typedef struct utility_expectations {
    int exists;
    size_t n, n_radii;
    utility_moments *moments;
    double *within; /* n times n_radii: P(|b - a| <= r) */
} utility_expectations;

/* Leaves `exists` 0 when the law is too wide. */
cellar_status cellar_utility_expect(utility_law *law, const utility_frame *frame,
                                    const uint64_t *counts, size_t n_counts, const uint64_t *radii,
                                    size_t n_radii, utility_expectations *out, cellar_error *err);
void cellar_utility_expectations_clear(utility_expectations *expectations);
/* Where a count is. */
size_t cellar_utility_find(const utility_expectations *expectations, int64_t count);

#endif
