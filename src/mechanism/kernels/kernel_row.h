/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How one count is drawn: from a table of thresholds, or, when its distribution is too wide for
 * one, by rejection, perhaps as a sum of two independent parts. Which of them depends on the
 * mechanism and the count alone. */
#ifndef CELLAR_MECHANISM_KERNELS_KERNEL_ROW_H
#define CELLAR_MECHANISM_KERNELS_KERNEL_ROW_H

#include "mechanism/kernels/kernel.h"
#include "random/histogram.h"
#include "random/inverse.h"

typedef struct cellar_kernel_row {
    const cellar_kernel *k;
    int64_t count;
    int has_table;           /* 1: 64 bits decide. The table may have been dropped again, */
    cellar_inverse *inverse; /* and then this is NULL */
    struct cellar_kernel_part *parts[CELLAR_KERNEL_PARTS]; /* without a table */
} cellar_kernel_row;

/* Keeps `k`. On failure *out is NULL. */
cellar_status cellar_kernel_row_create(const cellar_kernel *k, int64_t count,
                                       cellar_kernel_row **out, cellar_error *err);
void cellar_kernel_row_free(cellar_kernel_row *row); /* NULL is fine */

/* Makes the table of a row that has one once more; free it with cellar_inverse_free(). */
cellar_status cellar_kernel_row_table(const cellar_kernel_row *row, cellar_inverse **out,
                                      cellar_error *err);

/* One draw for a row without a table. */
cellar_status cellar_kernel_row_draw_wide(const cellar_kernel_row *row, cellar_rng *rng,
                                          int64_t *value, cellar_error *err);

#endif
