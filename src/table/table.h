/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a table, for the files of this layer that walk it. */
#ifndef CELLAR_TABLE_TABLE_H
#define CELLAR_TABLE_TABLE_H

#include "table/schema.h"

/* The stored cells are parallel arrays in index order: O(stored cells), whatever is possible.
 * Three ways lead from an index to its position:
 *   full    every index is stored; position and index are the same and `cells.index` is NULL;
 *   dense   a bit per index, and the number of bits before each word: two look-ups;
 *   sparse  binary search. */
struct cellar_table {
    cellar_schema *schema;
    uint64_t n_records; /* counts of the interior */
    uint64_t key_range;
    cellar_cells cells;
    uint64_t *bits;  /* dense only */
    uint32_t *ranks; /* dense only: stored cells before the word */
};

static inline uint64_t table_index(const cellar_table *table, size_t position)
{
    return table->cells.index == NULL ? position : table->cells.index[position];
}

/* Makes a table of cells that are sorted, distinct, checked and not empty. Takes `cells`, retains
 * `schema`, in every case. */
cellar_status cellar_table_create(const cellar_schema *schema, cellar_cells *cells,
                                  uint64_t key_range, uint64_t n_records, cellar_table **out,
                                  cellar_error *err);

/* The table must have these variables, and none may be named twice. */
cellar_status cellar_table_check_variables(const cellar_table *table, const size_t *variables,
                                           size_t n, cellar_error *err);

/* Empty cells with room for n, in the arrays that `like` has. */
cellar_status cellar_cells_create_like(const cellar_cells *like, size_t n, cellar_cells *out,
                                       cellar_error *err);
/* Copies the cell `from` of `source` (its index too, if it has one) to position `to`. */
void cellar_cells_copy(cellar_cells *cells, size_t to, const cellar_cells *source, size_t from);
/* Adds the cell `from` of `source` to the cell at `to`; 0 when the count does not fit. */
int cellar_cells_add(cellar_cells *cells, size_t to, const cellar_cells *source, size_t from,
                     uint64_t key_range);

/* Drops the cells that have neither count, weight nor status. */
void cellar_cells_compact(cellar_cells *cells);
/* Sorts by index and adds up cells of the same index. `n_indices` bounds the indices. */
cellar_status cellar_cells_sort(cellar_cells *cells, uint64_t n_indices, uint64_t key_range,
                                cellar_error *err);

/* Cells that grow one by one, to be filled and then sorted. */
typedef struct cells_builder {
    cellar_cells cells;
    size_t capacity;
} cells_builder;

/* Makes room for `more` cells in the arrays that `like` has. The new cells are not zeroed. */
cellar_status cellar_cells_reserve(cells_builder *builder, const cellar_cells *like, size_t more,
                                   cellar_error *err);
/* Adds a cell marked as structural zero to a builder that has statuses. */
cellar_status cellar_cells_append_zero(cells_builder *builder, uint64_t index, cellar_error *err);
/* Adds all cells of `source`, which has the same arrays. */
cellar_status cellar_cells_append(cells_builder *builder, const cellar_cells *source,
                                  cellar_error *err);

/* The interior cells of a table by their index in `to`, whose variable k is kept[k]; neither
 * sorted nor added up. */
cellar_status cellar_cells_project(const cellar_table *table, const size_t *kept,
                                   const cellar_schema *to, cellar_cells *out, cellar_error *err);

#endif
