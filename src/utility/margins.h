/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One-, two- and three-way margins, summed from the cells of leaves. */
#ifndef CELLAR_UTILITY_MARGINS_H
#define CELLAR_UTILITY_MARGINS_H

#include "utility/law.h"

enum { UTILITY_MAX_WAYS = 3 };

typedef struct utility_margin {
    size_t n_ways;
    size_t variables[UTILITY_MAX_WAYS]; /* ascending */
    size_t first, n_cells;              /* where its cells lie among those of all margins */
} utility_margin;

typedef struct utility_margins {
    size_t n;
    utility_margin *items; /* one-way ones first */
    size_t n_cells;        /* of all */
    size_t n_left_out;     /* too large */
    double *original;      /* n_cells sums of the true table */
} utility_margins;

cellar_status cellar_utility_margins_init(utility_margins *margins, const utility_frame *frame,
                                          size_t max_ways, cellar_error *err);
void cellar_utility_margins_clear(utility_margins *margins);

/* Sums of all margins; `sums` has room for margins->n_cells. */
void cellar_utility_margins_sum(const utility_margins *margins, const utility_frame *frame,
                                const utility_cells *cells, double *sums);

/* Half the sum of |a/n - b/m| over the cells of a margin, negative sums taken as zero and m the sum
 * of the others; NAN when nothing is positive. */
double cellar_utility_total_variation(const utility_margin *margin, const double *original,
                                      const double *released);
/* The mean of (b - a)^2 over the cells of a margin. */
double cellar_utility_margin_square(const utility_margin *margin, const double *original,
                                    const double *released);

/* The expectation of the latter for each margin, exactly: variances and biases of cells add up.
 * NAN when there are no expectations, or structural zeros. `out` has margins->n. */
cellar_status cellar_utility_margins_expect(const utility_margins *margins,
                                            const utility_frame *frame,
                                            const utility_expectations *expectations, double *out,
                                            cellar_error *err);

#endif
