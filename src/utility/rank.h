/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the largest cells are still the largest, and in their order. */
#ifndef CELLAR_UTILITY_RANK_H
#define CELLAR_UTILITY_RANK_H

#include "utility/frame.h"

/* The largest cells of the true table. */
typedef struct utility_top {
    size_t n;             /* how many are ranked: as asked, or all that are positive */
    int64_t least;        /* the n-th largest count */
    size_t n_larger;      /* cells above it, all among the n */
    size_t n_equal;       /* cells that have it */
    utility_cells chosen; /* n of them; of equal ones the first */
} utility_top;

cellar_status cellar_utility_top_init(utility_top *top, const utility_frame *frame, size_t n,
                                      cellar_error *err);
void cellar_utility_top_clear(utility_top *top);

/* The share of the n largest true cells that are among the n largest released ones; equal numbers
 * at the end share the places left. `heap` has room for n. NAN when nothing is ranked. */
double cellar_utility_top_overlap(const utility_top *top, const utility_frame *frame,
                                  const utility_cells *released, int64_t *heap);
/* Kendall's tau-b of true and released numbers over the n chosen cells; NAN when one side is
 * constant. `heap` as above. */
double cellar_utility_top_tau(const utility_top *top, const utility_cells *released, int64_t *heap);

#endif
