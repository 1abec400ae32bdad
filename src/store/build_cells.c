/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From cells to a store: each cell is so many equal records. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/condition.h"
#include "store/building.h"

typedef struct cell_building {
    store_building to;
    const cellar_counted_cells *cells;
    size_t *order; /* of the cells: rows are the same, however their cells came */
} cell_building;

static cellar_status check(const cellar_tabulate_spec *spec, const cellar_counted_cells *cells,
                           cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (spec->weight_column != NULL || spec->unit_column != NULL ||
        spec->record_key_column != NULL || spec->record_id_column != NULL ||
        cells->weights != NULL || cells->keys != NULL)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "records made of cells have no weights, units or record keys");
    for (size_t w = 0; w < spec->n_where; w++) {
        cellar_condition *condition = NULL;
        CELLAR_TRY(cellar_condition_parse(spec->where[w], &condition, err));
        cellar_condition_free(condition);
    }
out:
    return status;
}

static cellar_status add_variable(store_building *b, size_t v, cellar_error *err)
{
    const cellar_variable_spec *variable = &b->spec->variables[v];
    cellar_coder_spec coder = {.recode = &variable->recode, .codelist = variable->codelist};
    cellar_status status = cellar_store_building_add(b, v, &coder, err);
    if (status == CELLAR_OK && b->heading.variables[v].domain == CELLAR_STORED_OBSERVED)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "variable '%.200s': cells counted elsewhere need declared categories: "
                           "name a code list, or a bottom, a top and a band",
                           b->heading.variables[v].spec.name);
    return status;
}

static cellar_status check_leaves(const cell_building *b, cellar_error *err)
{
    for (size_t v = 0; v < b->to.heading.n_variables; v++) {
        const size_t n_leaves = cellar_coder_n_codes(b->to.coders[v]);
        const uint32_t *leaves = b->cells->leaves[v];
        for (size_t i = 0; i < b->cells->n; i++)
            if (leaves[i] >= n_leaves && leaves[i] != CELLAR_LEAF_MISSING)
                return cellar_fail(err, CELLAR_ERR_INPUT,
                                   "cell %zu: variable '%.200s' has %zu leaves", i + 1,
                                   b->to.heading.variables[v].spec.name, n_leaves);
    }
    return CELLAR_OK;
}

/* ---- the order of the rows --------------------------------------------------------- */

/* What a cell has in the column of a variable; 0: a missing value. */
static uint32_t value_of(const cell_building *b, size_t v, size_t cell)
{
    return b->cells->leaves[v][cell] + 1; /* UINT32_MAX wraps */
}

static int compare(const void *left, const void *right, void *context)
{
    const cell_building *b = context;
    const size_t i = *(const size_t *) left, j = *(const size_t *) right;
    if (b->to.heading.sorted_by != NULL) {
        const size_t v = b->to.sort_column - CELLAR_STORED_N_BESIDE;
        const uint32_t x = value_of(b, v, i), y = value_of(b, v, j);
        if (x != y)
            return x < y ? -1 : 1;
    }
    for (size_t v = 0; v < b->to.heading.n_variables; v++) {
        const uint32_t x = value_of(b, v, i), y = value_of(b, v, j);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static cellar_status sort_cells(cell_building *b, cellar_error *err)
{
    b->order = cellar_alloc(b->cells->n, sizeof *b->order);
    if (b->order == NULL)
        return cellar_fail_memory(err, "the cells of a store");
    for (size_t i = 0; i < b->cells->n; i++)
        b->order[i] = i;
    qsort_r(b->order, b->cells->n, sizeof *b->order, compare, b);
    return CELLAR_OK;
}

/* ---- rows ----------------------------------------------------------------------------- */

static void put_rows(cell_building *b, size_t v, size_t cell, size_t n)
{
    const size_t place = CELLAR_STORED_N_BESIDE + v;
    cellar_stored_column *column = &b->to.heading.columns[place];
    const uint32_t value = value_of(b, v, cell);
    void *to = cellar_store_writer_at(&b->to.writer, place);
    if (value == 0)
        column->least = 0;
    if (column->width == 1)
        memset(to, (int) value, n);
    else
        for (size_t i = 0; i < n; i++)
            ((uint16_t *) to)[i] = (uint16_t) value;
}

static cellar_status add_rows(cell_building *b, size_t cell, cellar_error *err)
{
    uint64_t left = b->cells->counts[cell];
    cellar_status status = CELLAR_OK;
    if (left > STORED_ROWS_MAX - b->to.writer.n_rows)
        return cellar_fail(err, CELLAR_ERR_MEMORY, "a store holds up to %u records",
                           (unsigned) STORED_ROWS_MAX);
    while (left > 0) {
        const size_t room = cellar_store_writer_room(&b->to.writer);
        const size_t n = left < room ? (size_t) left : room;
        for (size_t v = 0; v < b->to.heading.n_variables; v++)
            put_rows(b, v, cell, n);
        CELLAR_TRY(cellar_store_writer_advance(&b->to.writer, n, err));
        left -= n;
    }
out:
    return status;
}

/* ---- all of it ------------------------------------------------------------------------ */

cellar_status cellar_store_build_from_cells(const cellar_tabulate_spec *data,
                                            const cellar_counted_cells *cells, const char *sort_by,
                                            cellar_output *output, const cellar_row_report *rows,
                                            cellar_error *err)
{
    cell_building b = {.cells = cells};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_store_building_init(&b.to, data, err));
    CELLAR_TRY(check(data, cells, err));
    for (size_t v = 0; v < data->n_variables; v++)
        CELLAR_TRY(add_variable(&b.to, v, err));
    CELLAR_TRY(check_leaves(&b, err));
    CELLAR_TRY(cellar_store_building_sort(&b.to, sort_by, err));
    CELLAR_TRY(sort_cells(&b, err));
    CELLAR_TRY(cellar_store_building_begin(&b.to, 0, output, err));
    for (size_t i = 0; i < cells->n; i++)
        CELLAR_TRY(add_rows(&b, b.order[i], err));
    CELLAR_TRY(cellar_store_building_finish(&b.to, rows, err));
out:
    cellar_store_building_clear(&b.to);
    cellar_free(b.order);
    return status;
}
