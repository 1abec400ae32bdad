/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of a sampling zero: whether it is listed, and as which number given that it is.
 * With it a domain of any size is released without visiting its zeros. */
#ifndef CELLAR_RELEASE_DRAW_ZEROS_H
#define CELLAR_RELEASE_DRAW_ZEROS_H

#include <cellar/mechanism.h>

#include "random/gaps.h"

/* Which released numbers are listed: all but zero, or those of at least a threshold (and then the
 * others have become zero). */
typedef struct cellar_listing {
    cellar_negatives negatives;
    int64_t threshold; /* at least 1; only with CELLAR_NEGATIVES_ZERO */
} cellar_listing;

static inline int cellar_listing_has(const cellar_listing *listing, int64_t released)
{
    return listing->negatives != CELLAR_NEGATIVES_ZERO ? released != 0
                                                       : released >= listing->threshold;
}

typedef struct cellar_zeros cellar_zeros; /* immutable; threads may share one */

/* Keeps `mechanism`. Fails with CELLAR_ERR_UNSUPPORTED when the law has no proven tail. On failure
 * *out is NULL. */
cellar_status cellar_zeros_create(const cellar_mechanism *mechanism, cellar_listing listing,
                                  cellar_zeros **out, cellar_error *err);
void cellar_zeros_free(cellar_zeros *zeros); /* NULL is fine */

/* P(a zero is listed), the nearest double; exactly 0 when it never is. */
double cellar_zeros_probability(const cellar_zeros *zeros);

/* How many zeros pass before the next listed one; UINT64_MAX: 2^63 or more. */
cellar_status cellar_zeros_skip(const cellar_zeros *zeros, cellar_search *search, uint64_t *n_zeros,
                                cellar_error *err);
/* The number released for a zero, given that it is listed. */
cellar_status cellar_zeros_draw(const cellar_zeros *zeros, cellar_search *search, int64_t *released,
                                cellar_error *err);

#endif
