/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a table, for the files of this layer that walk it. */
#ifndef CELLAR_TABLE_TABLE_H
#define CELLAR_TABLE_TABLE_H

#include "table/schema/schema.h"

/* The stored cells are parallel arrays in index order: O(stored cells), whatever is possible.
 * Three ways lead from an index to its position:
 *   full    every index is stored; position and index are the same and `cells.index` is NULL;
 *   dense   a bit per index, and the number of bits before each word: two look-ups;
 *   sparse  binary search. */
struct cellar_table {
    cellar_schema *schema;
    uint64_t n_records; /* counts of the interior */
    uint64_t key_range;
    uint64_t max_weight; /* weights were clipped to it; 0: no bound */
    char *tabulation;    /* what was counted (table/tabulation.h); NULL: not known */
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

/* Says what was counted: a copy of the text is kept. NULL says that it is not known. */
cellar_status cellar_table_set_tabulation(cellar_table *table, const char *tabulation,
                                          cellar_error *err);
/* The same records were counted for both: gives `table` what `from` says of them, the bound of
 * their weights included. On failure frees *table, which is NULL then. */
cellar_status cellar_table_inherit(cellar_table **table, const cellar_table *from,
                                   cellar_error *err);

/* An unweighted table whose counts are the weighted sums, each rounded half up by itself. As a
 * record changes a sum by a whole number at most, its bound, it changes the rounded sum by no
 * more. The table must have such a bound. On failure *out is NULL. */
cellar_status cellar_table_round_weights(const cellar_table *table, cellar_table **out,
                                         cellar_error *err);

/* The table must have these variables, and none may be named twice. */
cellar_status cellar_table_check_variables(const cellar_table *table, const size_t *variables,
                                           size_t n, cellar_error *err);

/* A table that was read from `name`: its margins and inner nodes must be the sums of its interior,
 * as far as the interior is known. */
cellar_status cellar_table_check_sums(const cellar_table *table, const char *name,
                                      cellar_error *err);

/* Empty cells with room for n, in the arrays that `like` has. */
cellar_status cellar_cells_create_like(const cellar_cells *like, size_t n, cellar_cells *out,
                                       cellar_error *err);

/* cellar_table_merge() where messages name the tables by their files (NULL: by their numbers). */
cellar_status cellar_table_merge_named(const cellar_table *const *tables, const char *const *names,
                                       size_t n_tables, cellar_table **out, cellar_error *err);

/* ---- single cells, inline because expansion spends its time here ---- */

/* Copies the cell `from` of `source` to position `to`. */
static inline void cells_copy(cellar_cells *cells, size_t to, const cellar_cells *source,
                              size_t from)
{
    cells->index[to] = source->index == NULL ? from : source->index[from];
    cells->count[to] = source->count[from];
    if (cells->weight != NULL)
        cells->weight[to] = source->weight[from];
    if (cells->key != NULL)
        cells->key[to] = source->key[from];
    if (cells->status != NULL)
        cells->status[to] = source->status == NULL ? CELLAR_CELL_NORMAL : source->status[from];
}

/* (a + b) mod range, where 0 stands for 2^64. Both are below the range. */
static inline uint64_t cells_key_add(uint64_t a, uint64_t b, uint64_t range)
{
    uint64_t sum = a + b;
    return range != 0 && (sum < a || sum >= range) ? sum - range : sum;
}

/* Adds the cell `from` of `source` to the cell at `to`; 0 when a sum does not fit. */
static inline int cells_add(cellar_cells *cells, size_t to, const cellar_cells *source, size_t from,
                            uint64_t key_range)
{
    if (__builtin_add_overflow(cells->count[to], source->count[from], &cells->count[to]))
        return 0;
    if (cells->weight != NULL &&
        __builtin_add_overflow(cells->weight[to], source->weight[from], &cells->weight[to]))
        return 0;
    if (cells->key != NULL)
        cells->key[to] = cells_key_add(cells->key[to], source->key[from], key_range);
    if (cells->status != NULL && source->status != NULL && source->status[from] > cells->status[to])
        cells->status[to] = source->status[from];
    return 1;
}

/* Puts a copy of a cell at the end of `to`, which has room, as part of the sum at `index`. */
static inline void cells_append_sum(cellar_cells *to, const cellar_cells *from, size_t i,
                                    uint64_t index)
{
    cells_copy(to, to->n, from, i);
    to->index[to->n] = index;
    if (to->status != NULL)
        to->status[to->n] = CELLAR_CELL_NORMAL; /* a remark says nothing about a sum */
    to->n++;
}

/* ---- arrays of cells ---- */

/* Drops the cells that have neither count, weight nor status, unless all indices are stored. */
void cellar_cells_compact(cellar_cells *cells);
/* 1 when every index is above the one before it. */
int cellar_cells_are_ascending(const cellar_cells *cells);
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

/* Adds the sums over variable v to sorted cells, which stay sorted: one for each inner node of its
 * hierarchies and, if `totals`, one for its total. */
cellar_status cellar_cells_expand_axis(const cellar_schema *schema, size_t v, int totals,
                                       uint64_t key_range, cells_builder *pool, cellar_error *err);

/* The interior cells of a table by their index in `to`, whose variable k is kept[k]; neither
 * sorted nor added up. */
cellar_status cellar_cells_project(const cellar_table *table, const size_t *kept,
                                   const cellar_schema *to, cellar_cells *out, cellar_error *err);

#endif
