/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of a table, summed over some of its variables. */
#ifndef CELLAR_TABLE_COUNTING_COLLAPSE_H
#define CELLAR_TABLE_COUNTING_COLLAPSE_H

#include "table/build.h"

/* One variable of a table: how many categories, and the stride in the smaller table, or 0 where it
 * is summed over. */
typedef struct cellar_collapse_axis {
    uint64_t n, stride;
} cellar_collapse_axis;

/* Sums the cells of a table, whose last variable runs fastest, to those of a smaller one with
 * `n_indices` possible cells. They are in no order, and some may repeat:
 * cellar_table_from_cells() adds them up. Clear *out in every case. */
cellar_status cellar_cells_collapse(const cellar_cells *cells, const cellar_collapse_axis *axes,
                                    size_t n_axes, uint64_t n_indices, uint64_t key_range,
                                    cellar_cells *out, cellar_error *err);

#endif
