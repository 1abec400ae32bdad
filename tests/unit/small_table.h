/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of two or three declared variables for tests of releases. */
#ifndef CELLAR_TESTS_SMALL_TABLE_H
#define CELLAR_TESTS_SMALL_TABLE_H

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "check.h"
#include "code_lists.h"
#include "data/codelist.h"
#include "table/build.h"
#include "table/structural/structural.h"
#include "table/table.h"

typedef struct small_table {
    size_t n_variables, sizes[3]; /* categories */
    const char *rules; /* structural zeros over x, y, z with codes c0, c1, ...; or NULL */
    cellar_domain domain;
    cellar_margins margins;
    size_t n_cells; /* with counts, in the interior */
    uint64_t index[16], count[16];
    int with_weights, with_statuses;
    uint64_t max_weight; /* 0: no bound */
    uint8_t status[16];
    uint64_t key_range; /* 0: no keys */
    uint64_t key[16];
    const char *tabulation; /* what was counted; or NULL */
} small_table;

static inline cellar_schema *small_schema(const small_table *small)
{
    static const char *const names[] = {"x", "y", "z"};
    cellar_schema_variable_def defs[3];
    cellar_structural_rules *rules = NULL;
    cellar_schema *schema = NULL;
    for (size_t v = 0; v < small->n_variables; v++)
        defs[v] = (cellar_schema_variable_def){names[v], small->domain,
                                               numbered_list("c", small->sizes[v])};
    if (small->rules != NULL)
        assert_int_equal(cellar_structural_rules_parse("rules", small->rules, strlen(small->rules),
                                                       &rules, NULL),
                         CELLAR_OK);
    assert_int_equal(cellar_schema_create(defs, small->n_variables, rules, &schema, NULL),
                     CELLAR_OK);
    for (size_t v = 0; v < small->n_variables; v++)
        cellar_codelist_free((cellar_codelist *) (uintptr_t) defs[v].codelist);
    cellar_structural_rules_free(rules);
    return schema;
}

static inline cellar_table *small_table_create(const small_table *small)
{
    cellar_schema *schema = small_schema(small);
    cellar_cells cells = {.n = small->n_cells};
    cellar_table *table = NULL, *expanded = NULL;

    cells.index = cellar_alloc(cells.n, sizeof *cells.index);
    cells.count = cellar_alloc(cells.n, sizeof *cells.count);
    cells.weight = small->with_weights ? cellar_alloc(cells.n, sizeof *cells.weight) : NULL;
    cells.status = small->with_statuses ? cellar_alloc(cells.n, sizeof *cells.status) : NULL;
    cells.key = small->key_range != 0 ? cellar_alloc(cells.n, sizeof *cells.key) : NULL;
    for (size_t i = 0; i < cells.n; i++) {
        cells.index[i] = small->index[i];
        cells.count[i] = small->count[i];
        if (cells.weight != NULL)
            cells.weight[i] = (cellar_int128) small->count[i] * 1500000000;
        if (cells.status != NULL)
            cells.status[i] = small->status[i];
        if (cells.key != NULL)
            cells.key[i] = small->key[i];
    }
    assert_int_equal(cellar_table_from_cells(schema, &cells, small->key_range, &table, NULL),
                     CELLAR_OK);
    cellar_schema_free(schema);
    assert_int_equal(cellar_table_set_max_weight(table, small->max_weight, NULL), CELLAR_OK);
    assert_int_equal(cellar_table_set_tabulation(table, small->tabulation, NULL), CELLAR_OK);
    if (!small->margins.all && small->margins.n_masks == 0)
        return table;
    assert_int_equal(cellar_table_create_expanded(table, &small->margins, &expanded, NULL),
                     CELLAR_OK);
    cellar_table_free(table);
    return expanded;
}

#endif
