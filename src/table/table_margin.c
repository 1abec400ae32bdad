/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/table.h"

#include "base/error.h"

/* ---- margins ---- */

cellar_status cellar_table_check_variables(const cellar_table *table, const size_t *variables,
                                           size_t n, cellar_error *err)
{
    uint64_t seen = 0;
    for (size_t k = 0; k < n; k++) {
        if (variables[k] >= table->schema->n_variables)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the table has no variable number %zu",
                               variables[k] + 1);
        if (seen >> variables[k] & 1)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%s' is named twice",
                               table->schema->axes[variables[k]].name);
        seen |= UINT64_C(1) << variables[k];
    }
    return CELLAR_OK;
}

/* The index in `to` of an interior cell of `from`, or UINT64_MAX for an aggregate. */
static uint64_t margin_index(const cellar_schema *from, uint64_t index, const size_t *kept,
                             const cellar_schema *to)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    uint64_t result = 0;
    cellar_schema_categories(from, index, categories);
    for (size_t v = 0; v < from->n_variables; v++)
        if (categories[v] >= from->axes[v].n_leaves)
            return UINT64_MAX;
    for (size_t k = 0; k < to->n_variables; k++)
        result += categories[kept[k]] * to->axes[k].stride;
    return result;
}

cellar_status cellar_cells_project(const cellar_table *table, const size_t *kept,
                                   const cellar_schema *to, cellar_cells *out, cellar_error *err)
{
    int whole = to->n_variables == table->schema->n_variables;
    size_t n = 0;
    cellar_status status = cellar_cells_create_like(&table->cells, table->cells.n, out, err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = 0; i < table->cells.n; i++) {
        uint64_t index = margin_index(table->schema, table_index(table, i), kept, to);
        if (index == UINT64_MAX)
            continue;
        cells_copy(out, n, &table->cells, i);
        if (out->status != NULL && !whole)
            out->status[n] = CELLAR_CELL_NORMAL; /* a remark says nothing about a sum */
        out->index[n++] = index;
    }
    out->n = n;
    return CELLAR_OK;
}

/* A cell of a margin is a structural zero by remark when all the cells it sums are: as many as
 * the leaves of the dropped variables have combinations. Adds those cells to `cells`. */
static cellar_status margin_add_zeros(const cellar_table *table, const size_t *kept,
                                      const cellar_schema *to, cells_builder *builder,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cells_builder zeros = {0};
    const cellar_cells plain = {0};
    uint64_t n_summed = 1;

    for (size_t v = 0; v < table->schema->n_variables; v++)
        n_summed *= table->schema->axes[v].n_leaves;
    for (size_t k = 0; k < to->n_variables; k++)
        n_summed /= to->axes[k].n_leaves;
    for (size_t i = 0; i < table->cells.n; i++) {
        uint64_t index = margin_index(table->schema, table_index(table, i), kept, to);
        if (index == UINT64_MAX || table->cells.status[i] != CELLAR_CELL_STRUCTURAL_ZERO)
            continue;
        CELLAR_TRY(cellar_cells_reserve(&zeros, &plain, 1, err));
        zeros.cells.index[zeros.cells.n] = index;
        zeros.cells.count[zeros.cells.n++] = 1;
    }
    CELLAR_TRY(cellar_cells_sort(&zeros.cells, to->n_indices, 0, err));
    for (size_t i = 0; i < zeros.cells.n; i++)
        if (zeros.cells.count[i] == n_summed)
            CELLAR_TRY(cellar_cells_append_zero(builder, zeros.cells.index[i], err));
out:
    cellar_cells_clear(&zeros.cells);
    return status;
}

cellar_status cellar_table_create_margin(const cellar_table *table, const size_t *variables,
                                         size_t n, cellar_table **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_schema *schema = NULL;
    cells_builder builder = {0};

    *out = NULL;
    CELLAR_TRY(cellar_table_check_variables(table, variables, n, err));
    CELLAR_TRY(cellar_schema_project(table->schema, variables, n, NULL, NULL, 0, 0, &schema, err));
    CELLAR_TRY(cellar_cells_project(table, variables, schema, &builder.cells, err));
    builder.capacity = table->cells.n;
    if (table->cells.status != NULL)
        CELLAR_TRY(margin_add_zeros(table, variables, schema, &builder, err));
    CELLAR_TRY(cellar_table_from_cells(schema, &builder.cells, table->key_range, out, err));
    CELLAR_TRY(cellar_table_inherit(out, table, err));
out:
    cellar_cells_clear(&builder.cells);
    cellar_schema_free(schema);
    return status;
}

/* ---- slices ---- */

static uint64_t mask_without(uint64_t mask, size_t variable)
{
    uint64_t below = mask & ((UINT64_C(1) << variable) - 1);
    return below | (mask >> 1 & ~((UINT64_C(1) << variable) - 1));
}

static cellar_status slice_schema(const cellar_schema *schema, size_t variable, uint32_t category,
                                  cellar_schema **out, cellar_error *err)
{
    const schema_axis *axis = &schema->axes[variable];
    size_t kept[CELLAR_MAX_VARIABLES], n_kept = 0, n_masks = 0;
    uint32_t fixed[CELLAR_MAX_VARIABLES] = {0};
    int keeps = category < axis->n_leaves + axis->n_inner, has_interior = 0;
    uint64_t *masks = cellar_alloc(schema->n_margins, sizeof *masks);
    cellar_status status = CELLAR_OK;

    if (masks == NULL)
        return cellar_fail_memory(err, "the list of margins");
    for (size_t v = 0; v < schema->n_variables; v++)
        if (v != variable)
            kept[n_kept++] = v;
    fixed[variable] = category;
    for (size_t m = 0; m < schema->n_margins; m++)
        if ((int) (schema->margins[m] >> variable & 1) == keeps) {
            masks[n_masks] = mask_without(schema->margins[m], variable);
            has_interior |= masks[n_masks++] == cellar_schema_full_mask(n_kept);
        }
    status = has_interior
                 ? cellar_schema_project(schema, kept, n_kept, fixed, masks, n_masks, 1, out, err)
                 : cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "the table lacks the margin of all variables but '%s', so its total "
                               "cannot be sliced out",
                               axis->name);
    cellar_free(masks);
    return status;
}

/* The schemas number categories alike, but the slice may do without some totals. */
static uint64_t slice_index(const cellar_schema *from, uint64_t index, size_t variable,
                            const cellar_schema *to)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_schema_categories(from, index, categories);
    for (size_t v = variable; v + 1 < from->n_variables; v++)
        categories[v] = categories[v + 1];
    return cellar_schema_index(to, categories);
}

cellar_status cellar_table_create_slice(const cellar_table *table, size_t variable, size_t category,
                                        cellar_table **out, cellar_error *err)
{
    const cellar_schema *schema = table->schema;
    cellar_status status = CELLAR_OK;
    cellar_schema *to = NULL;
    cellar_cells cells = {0};
    size_t n = 0;

    *out = NULL;
    if (variable >= schema->n_variables || category >= schema->axes[variable].n_categories)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the table has no such variable or category");
    CELLAR_TRY(slice_schema(schema, variable, (uint32_t) category, &to, err));
    for (size_t i = 0; i < table->cells.n; i++)
        n += schema_category(schema, variable, table_index(table, i)) == category;
    CELLAR_TRY(cellar_cells_create_like(&table->cells, n, &cells, err));
    n = 0;
    for (size_t i = 0; i < table->cells.n; i++) {
        uint64_t index = table_index(table, i);
        if (schema_category(schema, variable, index) != category)
            continue;
        cells_copy(&cells, n, &table->cells, i);
        cells.index[n++] = slice_index(schema, index, variable, to);
    }
    CELLAR_TRY(cellar_table_from_cells(to, &cells, table->key_range, out, err));
    (*out)->max_weight = table->max_weight; /* what was counted it cannot say: not all records */
out:
    cellar_cells_clear(&cells);
    cellar_schema_free(to);
    return status;
}
