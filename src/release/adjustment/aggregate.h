/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All cells and aggregates of a schema as one array of numbers, by their index. */
#ifndef CELLAR_RELEASE_ADJUSTMENT_AGGREGATE_H
#define CELLAR_RELEASE_ADJUSTMENT_AGGREGATE_H

#include "table/build.h"

/* Sums the inner cells of `values` (one number for each index of the schema) into every
 * aggregate, whatever stood there. One pass for each variable, since summing over one commutes with
 * summing over another. */
void cellar_aggregate_sum(const cellar_schema *schema, double *values);

/* The transpose: adds the number of every aggregate to all inner cells it sums. What stands in
 * the aggregates' places afterwards means nothing. */
void cellar_aggregate_spread(const cellar_schema *schema, double *values);

#endif
