/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals for a sum of counts when the law of the released sum depends on the counts summed:
 * numbers that were set to zero below some bound, and kernels.
 *
 * The counts a lie in a box, each between limits of its own, but for a chance that is shared by
 * all cells. Within the box the law of the released sum T under a is bounded, and those a are kept
 * whose T is not too small or too large for what was released. Both sets of a hold the true
 * counts with a chance that is chosen; so does their intersection, and the interval is where its
 * sums lie, or wider. It covers with at least its confidence, whatever the counts. */
#ifndef CELLAR_INFERENCE_INTERVAL_BOX_H
#define CELLAR_INFERENCE_INTERVAL_BOX_H

#include "inference/interval_parts.h"

/* Cells that were released as the same number: each count is from low to high (or infinite). */
typedef struct cellar_box_side {
    int64_t number;
    uint64_t n_cells;
    double low, high;
} cellar_box_side;

/* In order of low. */
typedef struct cellar_box {
    const cellar_channel *channel;
    cellar_box_side *sides;
    size_t n_sides;
    int64_t total; /* the number released for the sum */
    double tail;   /* what the box leaves of the error on either side */
} cellar_box;

/* Noise that is added, small numbers set to zero (interval_clamped.c). Narrows low and high. */
cellar_status cellar_box_clamped(const cellar_box *box, double *low, double *high,
                                 cellar_error *err);
/* Any kernel (interval_kernel.c). */
cellar_status cellar_box_kernel(const cellar_box *box, double *low, double *high,
                                cellar_error *err);

#endif
