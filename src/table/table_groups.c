/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/table.h"

#include "base/error.h"

/* The table summed to quasi-identifiers and the sensitive variable, the latter fastest: the cells
 * of a group are then neighbours. */
static cellar_status groups_sort(const cellar_table *table, const size_t *kept, size_t n_kept,
                                 cellar_schema **schema, cellar_cells *cells, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    schema_axis_def defs[CELLAR_MAX_VARIABLES];
    for (size_t k = 0; k < n_kept; k++) {
        defs[k] = cellar_schema_axis_definition(table->schema, kept[k]);
        defs[k].has_inner = 0;
    }
    CELLAR_TRY(cellar_schema_build(defs, n_kept, NULL, 0, schema, err));
    CELLAR_TRY(cellar_cells_project(table, kept, *schema, cells, err));
    CELLAR_TRY(cellar_cells_sort(cells, (*schema)->n_indices, table->key_range, err));
out:
    return status;
}

static cellar_status groups_walk(const cellar_schema *schema, const cellar_cells *cells,
                                 uint64_t *counts, cellar_group_visitor *visit, void *context,
                                 cellar_error *err)
{
    size_t n_qid = schema->n_variables - 1, n_values = schema->axes[n_qid].n_leaves;
    uint32_t group[CELLAR_MAX_VARIABLES];

    for (size_t i = 0, end; i < cells->n; i = end) {
        uint64_t first = cells->index[i] - schema_category(schema, n_qid, cells->index[i]);
        int any = 0, stop = 0;
        for (end = i; end < cells->n && cells->index[end] < first + n_values; end++) {
            counts[cells->index[end] - first] = cells->count[end];
            any |= cells->count[end] != 0;
        }
        if (any) {
            cellar_schema_categories(schema, first, group);
            stop = visit(context, group, counts, n_values);
        }
        if (stop)
            return cellar_fail(err, CELLAR_ERR_CANCELLED, "the walk over groups was stopped");
        for (size_t k = i; k < end; k++)
            counts[cells->index[k] - first] = 0;
    }
    return CELLAR_OK;
}

cellar_status cellar_table_groups(const cellar_table *table, const size_t *qid, size_t n_qid,
                                  size_t sensitive, cellar_group_visitor *visit, void *context,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t kept[CELLAR_MAX_VARIABLES];
    cellar_schema *schema = NULL;
    cellar_cells cells = {0};
    uint64_t *counts = NULL;

    if (n_qid >= table->schema->n_variables)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "quasi-identifiers and the sensitive variable must differ");
    for (size_t k = 0; k < n_qid; k++)
        kept[k] = qid[k];
    kept[n_qid] = sensitive;
    CELLAR_TRY(cellar_table_check_variables(table, kept, n_qid + 1, err));
    CELLAR_TRY(groups_sort(table, kept, n_qid + 1, &schema, &cells, err));
    counts = cellar_alloc(schema->axes[n_qid].n_leaves, sizeof *counts);
    if (counts == NULL) {
        status = cellar_fail_memory(err, "the counts of a group");
        goto out;
    }
    CELLAR_TRY(groups_walk(schema, &cells, counts, visit, context, err));
out:
    cellar_free(counts);
    cellar_cells_clear(&cells);
    cellar_schema_free(schema);
    return status;
}
