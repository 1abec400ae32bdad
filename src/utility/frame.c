/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "utility/frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Rules are asked about every cell, to know how many they leave. */
#define FRAME_MAX_RULED UINT64_C(268435456)

void cellar_utility_cells_clear(utility_cells *cells)
{
    if (cells->value != NULL)
        cellar_wipe(cells->value, cells->n * sizeof *cells->value);
    cellar_free(cells->index);
    cellar_free(cells->value);
    *cells = (utility_cells){0};
}

static cellar_status cells_reserve(utility_cells *cells, size_t n, cellar_error *err)
{
    uint64_t *index;
    int64_t *value;
    if (n <= cells->capacity && cells->index != NULL)
        return CELLAR_OK;
    index = cellar_alloc(n, sizeof *index);
    value = cellar_alloc(n, sizeof *value);
    if (index == NULL || value == NULL) {
        cellar_free(index);
        cellar_free(value);
        return cellar_fail_memory(err, "released values");
    }
    cellar_utility_cells_clear(cells);
    *cells = (utility_cells){.capacity = n, .index = index, .value = value};
    return CELLAR_OK;
}

cellar_status cellar_utility_cells_all(const cellar_cells *listed, utility_cells *out,
                                       cellar_error *err)
{
    cellar_status status = cells_reserve(out, listed->n, err);
    if (status != CELLAR_OK)
        return status;
    out->n = 0;
    for (size_t i = 0; i < listed->n; i++) {
        if (listed->count[i] == 0)
            continue;
        out->index[out->n] = listed->index == NULL ? i : listed->index[i];
        out->value[out->n++] = (int64_t) listed->count[i];
    }
    return CELLAR_OK;
}

/* ---- the table ------------------------------------------------------------------ */

/* The index of the leaves of a cell; 0 when some category is an aggregate. */
static int frame_index(const utility_frame *frame, uint64_t index, uint64_t *out)
{
    uint64_t leaves = 0;
    for (size_t v = 0; v < frame->n_variables; v++) {
        uint32_t category = schema_category(frame->schema, v, index);
        if (category >= frame->radix[v])
            return 0;
        leaves = leaves * frame->radix[v] + category;
    }
    *out = leaves;
    return 1;
}

cellar_status cellar_utility_frame_pick(const utility_frame *frame, const cellar_cells *listed,
                                        utility_cells *out, cellar_error *err)
{
    int all = cellar_schema_has_no_aggregate(frame->schema);
    cellar_status status = cells_reserve(out, listed->n, err);
    if (status != CELLAR_OK)
        return status;
    out->n = 0;
    for (size_t i = 0; i < listed->n; i++) {
        uint64_t index = listed->index == NULL ? i : listed->index[i];
        if (listed->count[i] == 0 || (!all && !frame_index(frame, index, &index)))
            continue;
        out->index[out->n] = index;
        out->value[out->n++] = (int64_t) listed->count[i];
    }
    return CELLAR_OK;
}

static int frame_is_ruled_out(const utility_frame *frame, uint64_t leaves)
{
    uint64_t index = 0;
    for (size_t v = frame->n_variables; v-- > 0;) {
        uint64_t above = schema_quotient(leaves, frame->radix[v]);
        index += (leaves - above * frame->radix[v]) * frame->schema->axes[v].stride;
        leaves = above;
    }
    return cellar_schema_is_structural_zero(frame->schema, index);
}

/* Structural zeros: those that rules tell, and those that only the table marks. */
static cellar_status frame_count(utility_frame *frame, const cellar_table *table, cellar_error *err)
{
    uint64_t n = 0, index;
    if (frame->schema->structural != NULL) {
        if (frame->n_leaves > FRAME_MAX_RULED)
            return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                               "rules declare cells impossible, and among %" PRIu64
                               " cells they cannot be counted",
                               frame->n_leaves);
        for (uint64_t i = 0; i < frame->n_leaves; i++)
            n += (uint64_t) frame_is_ruled_out(frame, i);
    }
    for (size_t i = 0; table->cells.status != NULL && i < table->cells.n; i++)
        if (table->cells.status[i] == CELLAR_CELL_STRUCTURAL_ZERO &&
            frame_index(frame, table_index(table, i), &index) && !frame_is_ruled_out(frame, index))
            n++;
    frame->n_cells = frame->n_leaves - n;
    return CELLAR_OK;
}

cellar_status cellar_utility_frame_init(utility_frame *frame, const cellar_table *table,
                                        cellar_error *err)
{
    const cellar_schema *schema = table->schema;
    cellar_status status;
    *frame = (utility_frame){.schema = schema, .n_variables = schema->n_variables, .n_leaves = 1};
    for (size_t v = 0; v < schema->n_variables; v++) {
        frame->radix[v] = schema->axes[v].n_leaves;
        frame->n_leaves *= frame->radix[v]; /* no overflow: fewer than 2^63 indices */
    }
    status = cellar_utility_frame_pick(frame, &table->cells, &frame->original, err);
    for (size_t i = 0; i < frame->original.n; i++)
        frame->total += (double) frame->original.value[i];
    return status == CELLAR_OK ? frame_count(frame, table, err) : status;
}

void cellar_utility_frame_clear(utility_frame *frame)
{
    cellar_utility_cells_clear(&frame->original);
}

/* ---- a release -------------------------------------------------------------------- */

/* From the release's categories to the table's leaves. */
typedef struct frame_map {
    size_t variable[CELLAR_MAX_VARIABLES]; /* of the table, for each of the release */
    uint32_t *leaves[CELLAR_MAX_VARIABLES];
    uint64_t stride[CELLAR_MAX_VARIABLES]; /* of the table's variables, among leaves */
} frame_map;

static cellar_status map_variable(frame_map *map, const utility_frame *frame,
                                  const cellar_schema *from, size_t v, cellar_error *err)
{
    const char *name = cellar_schema_variable(from, v);
    size_t to = cellar_schema_find_variable(frame->schema, name);
    size_t n = cellar_schema_n_leaves(from, v);
    if (to == CELLAR_NO_CODE)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "the release has the variable '%s', and the table does not", name);
    map->variable[v] = to;
    map->leaves[v] = cellar_alloc(n, sizeof **map->leaves);
    if (map->leaves[v] == NULL)
        return cellar_fail_memory(err, "categories");
    if (n != frame->radix[to])
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "variable '%s': the release has %zu categories, the table %u; declare "
                           "them to the table with the code list of the release",
                           name, n, frame->radix[to]);
    for (size_t c = 0; c < n; c++) {
        const char *code = cellar_schema_code(from, v, c);
        size_t found = cellar_schema_find_code(frame->schema, to, code, strlen(code));
        if (found == CELLAR_NO_CODE || found >= frame->radix[to])
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "variable '%s': the release has the category '%s', and the table "
                               "does not",
                               name, code);
        map->leaves[v][c] = (uint32_t) found;
    }
    return CELLAR_OK;
}

static cellar_status map_init(frame_map *map, const utility_frame *frame, const cellar_schema *from,
                              cellar_error *err)
{
    uint64_t stride = 1;
    cellar_status status = CELLAR_OK;
    if (from->n_variables != frame->n_variables)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "the release has %zu variables and the table %zu: it was not made from "
                           "this table",
                           from->n_variables, frame->n_variables);
    for (size_t v = frame->n_variables; v-- > 0; stride *= frame->radix[v])
        map->stride[v] = stride;
    for (size_t v = 0; v < from->n_variables && status == CELLAR_OK; v++)
        status = map_variable(map, frame, from, v, err);
    return status;
}

/* The table's index of a released cell; 0 when the cell is an aggregate. */
static int map_index(const frame_map *map, const cellar_schema *from, uint64_t index, uint64_t *out)
{
    uint64_t leaves = 0;
    for (size_t v = 0; v < from->n_variables; v++) {
        uint32_t category = schema_category(from, v, index);
        if (category >= from->axes[v].n_leaves)
            return 0;
        leaves += map->leaves[v][category] * map->stride[map->variable[v]];
    }
    *out = leaves;
    return 1;
}

typedef struct frame_pair {
    uint64_t index;
    int64_t value;
} frame_pair;

static int pair_order(const void *a, const void *b)
{
    uint64_t x = ((const frame_pair *) a)->index, y = ((const frame_pair *) b)->index;
    return (x > y) - (x < y);
}

cellar_status cellar_utility_frame_match(const utility_frame *frame, const cellar_release *release,
                                         utility_cells *out, cellar_error *err)
{
    const cellar_schema *from = cellar_release_schema(release);
    size_t n_listed = cellar_release_n_cells(release), n = 0;
    frame_pair *pairs = cellar_alloc(n_listed, sizeof *pairs);
    frame_map map = {0};
    cellar_status status = CELLAR_OK;

    if (pairs == NULL)
        return cellar_fail_memory(err, "released values");
    CELLAR_TRY(map_init(&map, frame, from, err));
    for (size_t i = 0; i < n_listed; i++) {
        cellar_released_cell cell = cellar_release_cell(release, i);
        if (cell.status == CELLAR_CELL_NORMAL && cell.released != 0 &&
            map_index(&map, from, cell.index, &pairs[n].index))
            pairs[n++].value = cell.released;
    }
    qsort(pairs, n, sizeof *pairs, pair_order);
    CELLAR_TRY(cells_reserve(out, n, err));
    for (out->n = 0; out->n < n; out->n++) {
        out->index[out->n] = pairs[out->n].index;
        out->value[out->n] = pairs[out->n].value;
    }
out:
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++)
        cellar_free(map.leaves[v]);
    cellar_free(pairs);
    return status;
}
