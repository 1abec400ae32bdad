/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting equal rows of a store before anybody asks what they mean: a counter for every
 * combination of stored values, if there are few enough. */
#ifndef CELLAR_DATA_STORED_COUNT_H
#define CELLAR_DATA_STORED_COUNT_H

#include "base/text.h"
#include "data/stored/file.h"

enum { STORED_DIMENSIONS_MAX = 24, STORED_CELLS_MAX = 1 << 20 };

/* Which columns to cross, and what to add up. A combination of values is a cell, its index the
 * mixed-radix number of the values, last column fastest. */
typedef struct cellar_stored_request {
    size_t n;
    size_t columns[STORED_DIMENSIONS_MAX]; /* places in the store, each once */
    int adds_keys, adds_weights;
    uint64_t largest_weight; /* in units of 1e-9; larger weights count as this; 0: no bound */
    uint64_t max_per_unit;   /* the first so many records of a unit count, a second pass; 0: all */

    /* filled by cellar_stored_request_fits() */
    uint32_t least[STORED_DIMENSIONS_MAX]; /* the first value of each column */
    uint32_t radix[STORED_DIMENSIONS_MAX], stride[STORED_DIMENSIONS_MAX];
    unsigned width[STORED_DIMENSIONS_MAX];
    uint32_t n_cells;

    /* the answer, for each cell; NULL where it was not asked for */
    uint64_t *counts, *keys; /* keys: sums modulo the store's key range */
    cellar_uint128 *weights;
} cellar_stored_request;

/* 1 when the combinations are few enough to have a counter each, and fewer than reading the rows
 * one by one is worth. */
int cellar_stored_request_fits(cellar_stored_request *request, const cellar_stored_file *file);
void cellar_stored_request_clear(cellar_stored_request *request); /* {0} is fine */

/* The cell of a row, whose values lie in these pieces. */
static inline uint32_t cellar_stored_cell(const cellar_stored_request *request,
                                          const void *const *values, size_t row)
{
    uint32_t cell = 0;
    for (size_t d = 0; d < request->n; d++)
        cell += ((uint32_t) cellar_stored_value(values[d], request->width[d], row) -
                 request->least[d]) *
                request->stride[d];
    return cell;
}

/* Answers all requests in one pass over the store; where records of units are bounded, only with
 * counts, of all records. On failure all answers are NULL. */
cellar_status cellar_stored_count(const cellar_stored_file *file,
                                  cellar_stored_request *const *requests, size_t n_requests,
                                  int n_threads, const cellar_progress *progress,
                                  cellar_error *err);

/* Counts again, in the order of the data: of the cells that count the first records of each unit,
 * of others all, with what is to be added up. *n_over is how many records were beyond the bound. */
cellar_status cellar_stored_bound_units(const cellar_stored_file *file,
                                        cellar_stored_request *request, const uint8_t *is_counted,
                                        uint64_t *n_over, cellar_error *err);

#endif
