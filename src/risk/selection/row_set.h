/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of distinct rows of small numbers, with a count each: what profiles are gathered in. */
#ifndef CELLAR_RISK_SELECTION_ROW_SET_H
#define CELLAR_RISK_SELECTION_ROW_SET_H

#include <stddef.h>
#include <stdint.h>

typedef struct row_set {
    size_t width, n;
    uint32_t *rows; /* n x width */
    uint64_t *counts;
    size_t rows_capacity, counts_capacity;
    uint32_t *slots; /* row number + 1, or 0 */
    size_t n_slots;  /* a power of two */
} row_set;

void cellar_row_set_clear(row_set *set);
/* Adds `count` people with this row; 0 when memory ends or there are 2^32 rows. */
int cellar_row_set_add(row_set *set, const uint32_t *row, uint64_t count);
/* The number of a row that is in the set. */
size_t cellar_row_set_find(const row_set *set, const uint32_t *row);

#endif
