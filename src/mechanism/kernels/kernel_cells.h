/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thresholds of a count's distribution, fast: probabilities as runs of double-doubles
 * (math/run.h), whose proven errors leave about one threshold in a million undecided; balls decide
 * that one. */
#ifndef CELLAR_MECHANISM_KERNELS_KERNEL_CELLS_H
#define CELLAR_MECHANISM_KERNELS_KERNEL_CELLS_H

#include "mechanism/kernels/kernel.h"
#include "random/inverse.h"

/* Thresholds of P(at most first + i), i < n, as random/inverse.h keeps them. */
typedef struct cellar_kernel_cells {
    int64_t first;
    int64_t *list;
    size_t n, n_room;
    size_t n_by_balls; /* how many the run left undecided */
} cellar_kernel_cells;

/* From the last threshold of all zeros to the first of all ones. *found is 0 when there are more
 * than n_max of them, or no run; then, and on failure, `out` is empty. `law` is that of the count,
 * in balls. */
cellar_status cellar_kernel_cells_make(const cellar_kernel *k, int64_t count, const cellar_law *law,
                                       size_t n_max, cellar_kernel_cells *out, int *found,
                                       cellar_error *err);
void cellar_kernel_cells_clear(cellar_kernel_cells *cells);

#endif
