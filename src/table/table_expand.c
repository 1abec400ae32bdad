/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/table.h"

#include <stdlib.h>

#include "base/error.h"

/* Variables with many categories first: their totals are few, and the later steps see less. */
static void expand_order(const cellar_schema *schema, size_t *order)
{
    for (size_t v = 0; v < schema->n_variables; v++) {
        size_t k = v;
        for (; k > 0 && schema->axes[order[k - 1]].n_leaves < schema->axes[v].n_leaves; k--)
            order[k] = order[k - 1];
        order[k] = v;
    }
}

/* ---- some margins ---- */

/* The cells of the pool that belong to one margin. */
typedef struct expand_span {
    uint64_t mask;
    size_t first, n;
} expand_span;

/* More variables first, so that a margin comes after those it can be summed from. */
static int span_compare(const void *a, const void *b)
{
    const expand_span *x = a, *y = b;
    int n_x = __builtin_popcountll(x->mask), n_y = __builtin_popcountll(y->mask);
    if (n_x != n_y)
        return n_x < n_y ? 1 : -1;
    return (x->mask > y->mask) - (x->mask < y->mask);
}

/* The smallest margin with one variable more, else the interior, which comes first. */
static const expand_span *span_source(const expand_span *spans, size_t n_spans, uint64_t mask,
                                      size_t n_variables)
{
    const expand_span *best = NULL;
    for (size_t v = 0; v < n_variables; v++) {
        expand_span wanted = {.mask = mask | UINT64_C(1) << v};
        const expand_span *found =
            wanted.mask == mask ? NULL
                                : bsearch(&wanted, spans, n_spans, sizeof *spans, span_compare);
        if (found != NULL && (best == NULL || found->n < best->n))
            best = found;
    }
    return best != NULL ? best : &spans[0];
}

static cellar_status expand_margin(const cellar_schema *schema, const expand_span *source,
                                   expand_span *span, uint64_t key_range, cells_builder *pool,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t dropped = source->mask & ~span->mask;
    cells_builder sums = {0};

    CELLAR_TRY(cellar_cells_reserve(&sums, &pool->cells, source->n, err));
    for (size_t i = source->first; i < source->first + source->n; i++) {
        uint64_t index = pool->cells.index[i];
        for (uint64_t rest = dropped; rest != 0; rest &= rest - 1) {
            size_t v = (size_t) __builtin_ctzll(rest);
            const schema_axis *axis = &schema->axes[v];
            uint32_t leaf = schema_category(schema, v, index);
            index += (axis->n_categories - 1 - leaf) * axis->stride;
        }
        cells_append_sum(&sums.cells, &pool->cells, i, index);
    }
    CELLAR_TRY(cellar_cells_sort(&sums.cells, schema->n_indices, key_range, err));
    span->first = pool->cells.n;
    span->n = sums.cells.n;
    CELLAR_TRY(cellar_cells_append(pool, &sums.cells, err));
out:
    cellar_cells_clear(&sums.cells);
    return status;
}

static cellar_status expand_margins(const cellar_schema *schema, uint64_t key_range,
                                    cells_builder *pool, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    expand_span *spans = cellar_alloc(schema->n_margins, sizeof *spans);
    if (spans == NULL)
        return cellar_fail_memory(err, "the list of margins");
    for (size_t m = 0; m < schema->n_margins; m++)
        spans[m].mask = schema->margins[m];
    qsort(spans, schema->n_margins, sizeof *spans, span_compare);
    spans[0].n = pool->cells.n;
    for (size_t m = 1; m < schema->n_margins; m++) {
        const expand_span *source = span_source(spans, m, spans[m].mask, schema->n_variables);
        CELLAR_TRY(expand_margin(schema, source, &spans[m], key_range, pool, err));
    }
out:
    cellar_free(spans);
    return status;
}

/* ---- all together ---- */

/* Turns interior cells, which are sorted, into all cells of the schema; unsorted, some perhaps
 * empty. All margins come one variable at a time, each step starting from the sums of the steps
 * before: a cell is visited once per variable, not once per margin. */
static cellar_status expand_cells(const cellar_schema *schema, uint64_t key_range,
                                  cells_builder *pool, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t order[CELLAR_MAX_VARIABLES];
    int all = schema->n_variables < 64 && schema->n_margins == (size_t) 1 << schema->n_variables;

    if (!all) {
        CELLAR_TRY(expand_margins(schema, key_range, pool, err));
        CELLAR_TRY(cellar_cells_sort(&pool->cells, schema->n_indices, key_range, err));
        pool->capacity = pool->cells.n;
    }
    expand_order(schema, order);
    for (size_t k = 0; k < schema->n_variables; k++)
        if (all || schema->axes[order[k]].n_inner > 0)
            CELLAR_TRY(cellar_cells_expand_axis(schema, order[k], all, key_range, pool, err));
out:
    return status;
}

/* How many interior cells a cell sums. */
static uint64_t expand_n_summed(const cellar_schema *schema, uint64_t index)
{
    uint64_t n = 1;
    for (size_t v = 0; v < schema->n_variables; v++) {
        size_t n_members;
        cellar_schema_members(schema, v, schema_category(schema, v, index), &n_members);
        n *= n_members;
    }
    return n;
}

/* A sum is a structural zero by remark when all the cells it sums are: they are counted like
 * records. Adds those sums to the pool. */
static cellar_status expand_zeros(const cellar_schema *schema, const cellar_cells *interior,
                                  cells_builder *pool, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_cells plain = {0};
    cells_builder zeros = {0};

    CELLAR_TRY(cellar_cells_reserve(&zeros, &plain, interior->n, err));
    for (size_t i = 0; i < interior->n; i++)
        if (interior->status[i] == CELLAR_CELL_STRUCTURAL_ZERO) {
            zeros.cells.index[zeros.cells.n] = interior->index[i];
            zeros.cells.count[zeros.cells.n++] = 1;
        }
    CELLAR_TRY(expand_cells(schema, 0, &zeros, err));
    for (size_t i = 0; i < zeros.cells.n; i++)
        if (zeros.cells.count[i] == expand_n_summed(schema, zeros.cells.index[i]))
            CELLAR_TRY(cellar_cells_append_zero(pool, zeros.cells.index[i], err));
out:
    cellar_cells_clear(&zeros.cells);
    return status;
}

cellar_status cellar_table_create_expanded(const cellar_table *table, const cellar_margins *margins,
                                           cellar_table **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t same[CELLAR_MAX_VARIABLES];
    cellar_schema *schema = NULL;
    cellar_cells interior = {0};
    cells_builder pool = {0};

    *out = NULL;
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++)
        same[v] = v;
    CELLAR_TRY(cellar_schema_expand(table->schema, margins, &schema, err));
    CELLAR_TRY(cellar_cells_project(table, same, schema, &interior, err));
    if (interior.status != NULL) {
        CELLAR_TRY(cellar_cells_append(&pool, &interior, err)); /* needed once more below */
    } else {
        pool = (cells_builder){interior, interior.n};
        interior = (cellar_cells){0};
    }
    CELLAR_TRY(expand_cells(schema, table->key_range, &pool, err));
    if (interior.status != NULL)
        CELLAR_TRY(expand_zeros(schema, &interior, &pool, err));
    CELLAR_TRY(cellar_cells_sort(&pool.cells, schema->n_indices, table->key_range, err));
    cellar_cells_compact(&pool.cells);
    CELLAR_TRY(
        cellar_table_create(schema, &pool.cells, table->key_range, table->n_records, out, err));
    CELLAR_TRY(cellar_table_inherit(out, table, err));
out:
    cellar_cells_clear(&interior);
    cellar_cells_clear(&pool.cells);
    cellar_schema_free(schema);
    return status;
}
