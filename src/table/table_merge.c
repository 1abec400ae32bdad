/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Partial tables of one spec, added up. */
#include <string.h>

#include <cellar/columns.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/counting/tabulation.h"
#include "table/table.h"

/* The description sorts variables and codes; cells are numbered in their order. */
static int have_same_order(const cellar_schema *a, const cellar_schema *b)
{
    if (cellar_schema_n_variables(a) != cellar_schema_n_variables(b) ||
        cellar_schema_n_indices(a) != cellar_schema_n_indices(b))
        return 0;
    for (size_t v = 0; v < cellar_schema_n_variables(a); v++) {
        const size_t n = cellar_schema_n_categories(a, v);
        if (n != cellar_schema_n_categories(b, v) ||
            strcmp(cellar_schema_variable(a, v), cellar_schema_variable(b, v)) != 0)
            return 0;
        for (size_t c = 0; c < n; c++)
            if (strcmp(cellar_schema_code(a, v, c), cellar_schema_code(b, v, c)) != 0)
                return 0;
    }
    return 1;
}

static cellar_status check_domains(const cellar_schema *schema, cellar_error *err)
{
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        if (cellar_schema_domain(schema, v) != CELLAR_DOMAIN_DECLARED &&
            cellar_schema_domain(schema, v) != CELLAR_DOMAIN_DRAFTED)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "variable '%.200s': partial tables are added up over declared "
                               "domains: give it a code list",
                               cellar_schema_variable(schema, v));
    return CELLAR_OK;
}

/* Whether table number `k` says the same as the first, whose description is `first`. */
static cellar_status check_same(const cellar_table *const *tables, size_t k, const char *first,
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    char *text = NULL;
    int is_same;
    if (tables[k]->tabulation == NULL)
        return cellar_fail(err, CELLAR_ERR_RULE, "partial table %zu does not say what was counted",
                           k + 1);
    CELLAR_TRY(cellar_table_describe(tables[k], &text, err));
    is_same = first == NULL ||
              (strcmp(text, first) == 0 && have_same_order(tables[0]->schema, tables[k]->schema) &&
               tables[0]->key_range == tables[k]->key_range &&
               tables[0]->max_weight == tables[k]->max_weight);
    if (!is_same)
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "partial table %zu was not counted like the first one: variables, "
                             "codes, conditions, weights and keys must be the same",
                             k + 1);
out:
    cellar_free(text);
    return status;
}

static cellar_status check_all(const cellar_table *const *tables, size_t n, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    char *first = NULL;
    CELLAR_TRY(check_same(tables, 0, NULL, err));
    CELLAR_TRY(check_domains(tables[0]->schema, err));
    CELLAR_TRY(cellar_table_describe(tables[0], &first, err));
    for (size_t k = 1; k < n; k++)
        CELLAR_TRY(check_same(tables, k, first, err));
out:
    cellar_free(first);
    return status;
}

cellar_status cellar_table_merge(const cellar_table *const *tables, size_t n_tables,
                                 cellar_table **out, cellar_error *err)
{
    cellar_cells like = {0}, all = {0};
    cellar_table *merged = NULL;
    cellar_status status = CELLAR_OK;
    size_t n = 0;

    *out = NULL;
    if (n_tables == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is no partial table to add up");
    CELLAR_TRY(check_all(tables, n_tables, err));
    for (size_t k = 0; k < n_tables; k++) {
        n += tables[k]->cells.n;
        like.weight = tables[k]->cells.weight != NULL ? tables[k]->cells.weight : like.weight;
        like.key = tables[k]->cells.key != NULL ? tables[k]->cells.key : like.key;
        like.status = tables[k]->cells.status != NULL ? tables[k]->cells.status : like.status;
    }
    CELLAR_TRY(cellar_cells_create_like(&like, n, &all, err));
    all.n = 0;
    for (size_t k = 0; k < n_tables; k++) {
        const cellar_cells *cells = &tables[k]->cells;
        CELLAR_ASSERT(cells->n == 0 || ((all.weight == NULL || cells->weight != NULL) &&
                                        (all.key == NULL || cells->key != NULL)));
        for (size_t i = 0; i < cells->n; i++)
            cells_copy(&all, all.n++, cells, i);
    }
    CELLAR_TRY(
        cellar_table_from_cells(tables[0]->schema, &all, tables[0]->key_range, &merged, err));
    CELLAR_TRY(cellar_table_inherit(&merged, tables[0], err));
    *out = merged;
    merged = NULL;
out:
    cellar_table_free(merged);
    cellar_cells_clear(&all);
    return status;
}
