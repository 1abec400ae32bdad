/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/table.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "table/structural/structural_cover.h"

/* ---- life cycle ---- */

/* A table is dense while its bits and ranks cost at most 6 bytes per stored cell. */
static int table_is_dense(const cellar_table *table)
{
    return table->cells.n < UINT32_MAX && table->schema->n_indices / 32 <= table->cells.n;
}

static cellar_status table_fill_bits(cellar_table *table, cellar_error *err)
{
    size_t n_words = (size_t) (table->schema->n_indices / 64 + 1);
    uint32_t rank = 0;
    table->bits = cellar_alloc(n_words, sizeof *table->bits);
    table->ranks = cellar_alloc(n_words, sizeof *table->ranks);
    if (table->bits == NULL || table->ranks == NULL)
        return cellar_fail_memory(err, "the cells of a table");
    for (size_t i = 0; i < table->cells.n; i++)
        table->bits[table->cells.index[i] / 64] |= UINT64_C(1) << (table->cells.index[i] % 64);
    for (size_t w = 0; w < n_words; w++) {
        table->ranks[w] = rank;
        rank += (uint32_t) __builtin_popcountll(table->bits[w]);
    }
    return CELLAR_OK;
}

cellar_status cellar_table_create(const cellar_schema *schema, cellar_cells *cells,
                                  uint64_t key_range, uint64_t n_records, cellar_table **out,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_table *table = cellar_alloc(1, sizeof *table);
    *out = NULL;
    if (table == NULL) {
        cellar_cells_clear(cells);
        return cellar_fail_memory(err, "a table");
    }
    table->schema = cellar_schema_retain(schema);
    table->n_records = n_records;
    table->key_range = key_range;
    table->cells = *cells;
    *cells = (cellar_cells){0};
    if (table->cells.n == schema->n_indices) {
        cellar_free(table->cells.index);
        table->cells.index = NULL;
    } else if (table_is_dense(table)) {
        CELLAR_TRY(table_fill_bits(table, err));
    }
    *out = table;
out:
    if (status != CELLAR_OK)
        cellar_table_free(table);
    return status;
}

void cellar_table_free(cellar_table *table)
{
    if (table == NULL)
        return;
    cellar_schema_free(table->schema);
    cellar_cells_clear(&table->cells);
    cellar_free(table->bits);
    cellar_free(table->ranks);
    cellar_free(table->tabulation);
    cellar_free(table);
}

/* ---- what was counted ---- */

cellar_status cellar_table_set_tabulation(cellar_table *table, const char *tabulation,
                                          cellar_error *err)
{
    size_t size = tabulation != NULL ? strlen(tabulation) + 1 : 0;
    char *copy = tabulation != NULL ? cellar_alloc(size, 1) : NULL;

    if (tabulation != NULL && copy == NULL)
        return cellar_fail_memory(err, "a description of the table");
    if (copy != NULL)
        memcpy(copy, tabulation, size);
    cellar_free(table->tabulation);
    table->tabulation = copy;
    return CELLAR_OK;
}

cellar_status cellar_table_inherit(cellar_table **table, const cellar_table *from,
                                   cellar_error *err)
{
    cellar_status status = cellar_table_set_tabulation(*table, from->tabulation, err);
    (*table)->max_weight = from->max_weight;
    if (status != CELLAR_OK) {
        cellar_table_free(*table);
        *table = NULL;
    }
    return status;
}

/* ---- from cells ---- */

static cellar_status cells_check(const cellar_schema *schema, cellar_cells *cells,
                                 uint64_t key_range, cellar_error *err)
{
    for (size_t i = 0; i < cells->n; i++)
        if (!cellar_schema_has_cell(schema, cells->index[i]))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a cell lies outside the table");
    if (cells->key != NULL && key_range != 0)
        for (size_t i = 0; i < cells->n; i++)
            cells->key[i] %= key_range;
    return CELLAR_OK;
}

/* Names the rule, not the cell: which categories a record has is nobody's business. */
static cellar_status cells_refuse(const cellar_schema *schema, uint64_t index, cellar_error *err)
{
    size_t rule = schema->structural != NULL && cellar_schema_is_interior(schema, index)
                      ? cellar_structural_first_rule(schema->structural, schema, index)
                      : 0;
    if (rule == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "a structural zero holds records");
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "a structural zero holds records: rule %zu declares their cell impossible",
                       rule);
}

static cellar_status cells_check_structural(const cellar_schema *schema, const cellar_cells *cells,
                                            cellar_error *err)
{
    if (schema->structural == NULL && cells->status == NULL)
        return CELLAR_OK;
    for (size_t i = 0; i < cells->n; i++) {
        if (cells->count[i] == 0 && (cells->weight == NULL || cells->weight[i] == 0))
            continue;
        if ((cells->status != NULL && cells->status[i] == CELLAR_CELL_STRUCTURAL_ZERO) ||
            cellar_schema_is_structural_zero(schema, cells->index[i]))
            return cells_refuse(schema, cells->index[i], err);
    }
    return CELLAR_OK;
}

static cellar_status cells_sum_interior(const cellar_schema *schema, const cellar_cells *cells,
                                        uint64_t *sum, cellar_error *err)
{
    int all = cellar_schema_has_no_aggregate(schema);
    *sum = 0;
    for (size_t i = 0; i < cells->n; i++)
        if ((all || cellar_schema_is_interior(schema, cells->index[i])) &&
            __builtin_add_overflow(*sum, cells->count[i], sum))
            return cellar_fail(err, CELLAR_ERR_OVERFLOW, "the number of records is too large");
    return CELLAR_OK;
}

cellar_status cellar_table_from_cells(const cellar_schema *schema, cellar_cells *cells,
                                      uint64_t key_range, cellar_table **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t n_records;

    *out = NULL;
    CELLAR_TRY(cells_check(schema, cells, key_range, err));
    CELLAR_TRY(cellar_cells_sort(cells, schema->n_indices, key_range, err));
    cellar_cells_compact(cells);
    CELLAR_TRY(cells_check_structural(schema, cells, err));
    CELLAR_TRY(cells_sum_interior(schema, cells, &n_records, err));
    CELLAR_TRY(cellar_table_create(schema, cells, key_range, n_records, out, err));
out:
    cellar_cells_clear(cells);
    return status;
}

/* ---- queries ---- */

const cellar_schema *cellar_table_schema(const cellar_table *table)
{
    return table->schema;
}

uint64_t cellar_table_n_records(const cellar_table *table)
{
    return table->n_records;
}

int cellar_table_is_weighted(const cellar_table *table)
{
    return table->cells.weight != NULL;
}

uint64_t cellar_table_max_weight(const cellar_table *table)
{
    return table->max_weight;
}

const char *cellar_table_tabulation(const cellar_table *table)
{
    return table->tabulation;
}

uint64_t cellar_table_key_range(const cellar_table *table)
{
    return table->key_range;
}

size_t cellar_table_n_cells(const cellar_table *table)
{
    return table->cells.n;
}

cellar_int128 cellar_table_weight(const cellar_table *table, size_t position)
{
    CELLAR_ASSERT(position < table->cells.n);
    return table->cells.weight == NULL ? 0 : table->cells.weight[position];
}

cellar_cell cellar_table_cell(const cellar_table *table, size_t position)
{
    const cellar_cells *cells = &table->cells;
    cellar_cell cell = {.weighted = (double) NAN};
    CELLAR_ASSERT(position < cells->n);
    cell.index = table_index(table, position);
    cell.count = cells->count[position];
    if (cells->weight != NULL)
        cell.weighted = (double) cells->weight[position] / 1e9; /* CELLAR_WEIGHT_SCALE */
    if (cells->key != NULL)
        cell.key = cells->key[position];
    if (cells->status != NULL)
        cell.status = (cellar_cell_status) cells->status[position];
    return cell;
}

static size_t table_search(const cellar_table *table, uint64_t index)
{
    size_t low = 0, high = table->cells.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->cells.index[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->cells.n && table->cells.index[low] == index ? low : CELLAR_NO_CODE;
}

/* The position of a stored cell, or CELLAR_NO_CODE. */
static size_t table_find(const cellar_table *table, uint64_t index)
{
    uint64_t word, bit = UINT64_C(1) << (index % 64);
    if (table->cells.index == NULL) /* full, or a table of no records */
        return index < table->cells.n ? (size_t) index : CELLAR_NO_CODE;
    if (table->bits == NULL)
        return table_search(table, index);
    word = table->bits[index / 64];
    if ((word & bit) == 0)
        return CELLAR_NO_CODE;
    return table->ranks[index / 64] + (size_t) __builtin_popcountll(word & (bit - 1));
}

cellar_cell cellar_table_at(const cellar_table *table, uint64_t index)
{
    cellar_cell cell = {.index = index, .weighted = table->cells.weight == NULL ? (double) NAN : 0};
    size_t position;
    CELLAR_ASSERT(index < table->schema->n_indices);
    position = table_find(table, index);
    if (position != CELLAR_NO_CODE)
        return cellar_table_cell(table, position);
    if (cellar_schema_is_structural_zero(table->schema, index))
        cell.status = CELLAR_CELL_STRUCTURAL_ZERO;
    return cell;
}
