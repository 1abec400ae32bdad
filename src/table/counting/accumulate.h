/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting: batches of coded rows become cells. */
#ifndef CELLAR_TABLE_COUNTING_ACCUMULATE_H
#define CELLAR_TABLE_COUNTING_ACCUMULATE_H

#include "table/build.h"

/* Holds one small counter for every possible cell and lane while there are few possible cells, and
 * only the cells that occur when there are many. */
typedef struct cellar_accumulator cellar_accumulator;

typedef struct cellar_accumulator_spec {
    size_t n_variables;
    int n_lanes;
    int counted;          /* batches come with the number of records of each row */
    int weighted;         /* batches come with weights */
    uint64_t key_range;   /* batches come with record keys, summed modulo this; 0: none */
    uint64_t dense_limit; /* possible cells up to which every cell has a counter [default when 0] */
} cellar_accumulator_spec;

/* One batch: the codes of each variable; all codes of variable v are below n_codes[v]. */
typedef struct cellar_coded_rows {
    size_t n;
    const int32_t *const *codes;
    const size_t *n_codes;
    const uint64_t *counts; /* NULL: each row is one record */
    const cellar_int128 *weights;
    const uint64_t *record_keys;
} cellar_coded_rows;

cellar_status cellar_accumulator_create(const cellar_accumulator_spec *spec,
                                        cellar_accumulator **out, cellar_error *err);
void cellar_accumulator_free(cellar_accumulator *accumulator); /* NULL is fine */

/* Adds a batch. Thread-safe, one thread per lane. CELLAR_ERR_OVERFLOW when there are 2^63 possible
 * cells or more. */
cellar_status cellar_accumulator_add(cellar_accumulator *accumulator, int lane,
                                     const cellar_coded_rows *rows, cellar_error *err);

/* The number of different cells so far, for limits; exact only when sparse, else 0. */
size_t cellar_accumulator_n_cells(const cellar_accumulator *accumulator);

/* All cells: code c of variable v became leaf leaf_of[v][c], and the index of a cell is the sum of
 * leaf * stride[v]. Free the arrays with cellar_cells_clear(). */
cellar_status cellar_accumulator_cells(cellar_accumulator *accumulator,
                                       const uint32_t *const *leaf_of, const size_t *n_codes,
                                       const uint64_t *stride, cellar_cells *cells,
                                       cellar_error *err);

#endif
