/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Released margins against the sums of released cells: the two no longer agree. */
#ifndef CELLAR_UTILITY_ADDITIVITY_H
#define CELLAR_UTILITY_ADDITIVITY_H

#include "utility/law.h"

/* 1 when the schema has aggregates, and not too many cells to add up. */
int cellar_additivity_is_known(const cellar_schema *schema);

typedef struct utility_gaps {
    double n;      /* aggregates of the table, structural zeros left out */
    double mean;   /* of |released aggregate - sum of its released leaves| */
    double square; /* the mean of its square */
    double largest;
} utility_gaps;

/* `listed` are cells of the schema, numbers in two's complement; `sums` has room for its indices.
 */
void cellar_additivity_gaps(const cellar_schema *schema, const cellar_cells *listed, double *sums,
                            utility_gaps *out);

/* The aggregates' counts, for expectations; *out has room for the stored cells of the table. */
size_t cellar_additivity_counts(const cellar_table *table, uint64_t *out);

/* The expectation of `square`, exactly; the moments must hold the counts of aggregates. */
cellar_status cellar_additivity_expect(const cellar_table *table,
                                       const utility_expectations *expectations, double *out,
                                       cellar_error *err);

#endif
