/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Do the margins and inner nodes of a table that was read add up? */
#include "table/table.h"

#include "base/error.h"

/* Nobody knows the sum of cells that are not known, nor of an interior that is not there. */
static int sums_are_known(const cellar_table *table)
{
    int interior = 0;

    for (size_t i = 0; i < cellar_table_n_cells(table); i++) {
        cellar_cell cell = cellar_table_cell(table, i);
        if (!cellar_schema_is_interior(table->schema, cell.index))
            continue;
        if (cell.status > CELLAR_CELL_STRUCTURAL_ZERO)
            return 0;
        interior = 1;
    }
    return interior;
}

static int sums_agree(const cellar_cell *a, const cellar_cell *b, int weighted)
{
    if (a->status > CELLAR_CELL_STRUCTURAL_ZERO || b->status > CELLAR_CELL_STRUCTURAL_ZERO)
        return 1;
    return a->count == b->count && a->key == b->key && (!weighted || a->weighted == b->weighted);
}

/* The first cell of `walked` that differs in `other`; 0 when there is none. */
static int sums_find_fault(const cellar_table *walked, const cellar_table *other, uint64_t *index)
{
    int weighted = cellar_table_is_weighted(walked);

    for (size_t i = 0; i < cellar_table_n_cells(walked); i++) {
        cellar_cell a = cellar_table_cell(walked, i), b = cellar_table_at(other, a.index);
        if (!sums_agree(&a, &b, weighted)) {
            *index = a.index;
            return 1;
        }
    }
    return 0;
}

/* Names a variable that the cell sums over, never the cell. */
static cellar_status sums_refuse(const cellar_schema *schema, uint64_t index, const char *name,
                                 cellar_error *err)
{
    size_t v = 0;
    while (v + 1 < schema->n_variables &&
           schema_category(schema, v, index) < schema->axes[v].n_leaves)
        v++;
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s: variable '%s': its sums are not the sums of the cells; if some of the "
                       "codes are sums of others, give the code list that says so",
                       name, schema->axes[v].name);
}

cellar_status cellar_table_check_sums(const cellar_table *table, const char *name,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_schema *schema = table->schema;
    cellar_margins margins = {.masks = schema->margins, .n_masks = schema->n_margins};
    cellar_table *sums = NULL;
    uint64_t index;

    for (size_t v = 0; v < schema->n_variables; v++)
        if (schema->axes[v].n_inner > 0)
            margins.hierarchies |= UINT64_C(1) << v;
    if ((schema->n_margins <= 1 && margins.hierarchies == 0) || !sums_are_known(table))
        return CELLAR_OK;
    CELLAR_TRY(cellar_table_create_expanded(table, &margins, &sums, err));
    if (sums_find_fault(table, sums, &index) || sums_find_fault(sums, table, &index))
        status = sums_refuse(schema, index, name, err);
out:
    cellar_table_free(sums);
    return status;
}
