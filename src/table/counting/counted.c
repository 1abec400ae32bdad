/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of cells that were counted elsewhere. */
#include <string.h>

#include <cellar/columns.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/record_key.h"
#include "table/counting/declared.h"
#include "table/counting/tabulate.h"
#include "table/counting/tabulation.h"
#include "table/table.h"

static cellar_status check_extras(const cellar_tabulate_spec *spec,
                                  const cellar_counted_cells *given, cellar_error *err)
{
    const int has_keys = spec->record_key_column != NULL || spec->record_id_column != NULL;
    if ((spec->weight_column != NULL) != (given->weights != NULL))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "cells have weights exactly if the spec names their column");
    if (has_keys != (given->keys != NULL))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "cells have keys exactly if the spec names their column");
    return CELLAR_OK;
}

static cellar_status take_cell(const cellar_schema *schema, const cellar_counted_cells *given,
                               size_t i, uint64_t key_range, cellar_cells *cells, cellar_error *err)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    int is_exact;
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        categories[v] = given->leaves[v][i];
        if (categories[v] >= cellar_schema_n_leaves(schema, v))
            return cellar_fail(err, CELLAR_ERR_INPUT, "cell %zu: variable '%.200s' has %zu leaves",
                               i + 1, cellar_schema_variable(schema, v),
                               cellar_schema_n_leaves(schema, v));
    }
    cells->index[i] = cellar_schema_index(schema, categories);
    cells->count[i] = given->counts[i];
    if (cells->weight != NULL &&
        (given->weights[i] == NULL ||
         !cellar_parse_decimal(given->weights[i], strlen(given->weights[i]), CELLAR_WEIGHT_SCALE,
                               &cells->weight[i], &is_exact) ||
         !is_exact || cells->weight[i] < 0))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "cell %zu: expected a sum of weights, a decimal of at least 0 with at "
                           "most %d digits after the point",
                           i + 1, CELLAR_WEIGHT_SCALE);
    if (cells->key != NULL) {
        cells->key[i] = given->keys[i];
        if (key_range > 0 && cells->key[i] >= key_range)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "cell %zu: expected a sum of keys below the key range", i + 1);
    }
    return CELLAR_OK;
}

static cellar_status take_cells(const cellar_schema *schema, const cellar_counted_cells *given,
                                uint64_t key_range, cellar_cells *cells, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cells->n = given->n;
    cells->index = cellar_alloc(given->n, sizeof *cells->index);
    cells->count = cellar_alloc(given->n, sizeof *cells->count);
    if (given->weights != NULL)
        cells->weight = cellar_alloc(given->n, sizeof *cells->weight);
    if (given->keys != NULL)
        cells->key = cellar_alloc(given->n, sizeof *cells->key);
    if (cells->index == NULL || cells->count == NULL ||
        (given->weights != NULL && cells->weight == NULL) ||
        (given->keys != NULL && cells->key == NULL))
        return cellar_fail_memory(err, "cells");
    for (size_t i = 0; i < given->n; i++)
        CELLAR_TRY(take_cell(schema, given, i, key_range, cells, err));
out:
    return status;
}

/* Says of the table what cellar_tabulate() would. */
static cellar_status describe(const cellar_tabulate_spec *spec, cellar_table *table,
                              cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_condition **conditions = cellar_alloc(spec->n_where, sizeof *conditions);
    char *text = NULL;

    if (conditions == NULL)
        return cellar_fail_memory(err, "conditions");
    for (size_t w = 0; w < spec->n_where; w++)
        CELLAR_TRY(cellar_condition_parse(spec->where[w], &conditions[w], err));
    CELLAR_TRY(
        cellar_tabulation_describe(spec, (const cellar_condition *const *) conditions, &text, err));
    CELLAR_TRY(cellar_table_set_tabulation(table, text, err));
    CELLAR_TRY(cellar_table_set_max_weight(table, spec->max_weight, err));
out:
    for (size_t w = 0; w < spec->n_where; w++)
        cellar_condition_free(conditions[w]);
    cellar_free(conditions);
    cellar_free(text);
    return status;
}

cellar_status cellar_table_create_from_cells(const cellar_tabulate_spec *spec,
                                             const cellar_counted_cells *given, cellar_table **out,
                                             cellar_error *err)
{
    const cellar_margins *margins = &spec->margins;
    uint64_t key_range = 0;
    cellar_schema *schema = NULL;
    cellar_cells cells = {0};
    cellar_table *inner = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(cellar_tabulation_check(spec, err));
    CELLAR_TRY(check_extras(spec, given, err));
    if (given->keys != NULL)
        key_range = spec->key_range > 0 ? spec->key_range : CELLAR_DECIMAL_KEY_RANGE;
    CELLAR_TRY(cellar_tabulate_declared_schema(spec, &schema, err));
    if (schema == NULL)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "cells counted elsewhere need declared domains: give every variable "
                               "a code list"));
    CELLAR_TRY(take_cells(schema, given, key_range, &cells, err));
    CELLAR_TRY(cellar_table_from_cells(schema, &cells, key_range, &inner, err));
    CELLAR_TRY(describe(spec, inner, err));
    if (margins->all || margins->n_masks > 0 || margins->hierarchies != 0)
        CELLAR_TRY(cellar_table_create_expanded(inner, margins, out, err));
    else {
        *out = inner;
        inner = NULL;
    }
out:
    cellar_table_free(inner);
    cellar_cells_clear(&cells);
    cellar_schema_free(schema);
    return status;
}
