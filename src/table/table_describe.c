/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole description of a table. Objects whose members are sorted when they are written make
 * the order of variables and codes disappear. */
#include "table/counting/tabulation.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "table/formats/extension.h"
#include "table/table.h"

/* Drops an object that could not be completed. */
static json_t *describe_keep(json_t *object, int failed)
{
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

/* What a code means: its role, and its parent in each hierarchy. Labels say nothing. */
static json_t *describe_code(const cellar_codelist *list, size_t code)
{
    json_t *parents = json_object();
    int failed = parents == NULL;
    for (size_t h = 0; h < cellar_codelist_n_hierarchies(list); h++) {
        size_t parent = cellar_codelist_parent(list, h, code);
        if (parent != CELLAR_NO_CODE)
            failed |= json_object_set_new(parents, cellar_codelist_hierarchy(list, h),
                                          json_string(cellar_codelist_code(list, parent)));
    }
    return json_pack("{s:i, s:o}", "role", (int) cellar_codelist_role(list, code), "parents",
                     describe_keep(parents, failed));
}

static json_t *describe_variable(const schema_axis *axis)
{
    json_t *codes = json_object();
    int failed = codes == NULL;
    for (size_t code = 0; code < cellar_codelist_n_codes(axis->codelist); code++)
        failed |= json_object_set_new(codes, cellar_codelist_code(axis->codelist, code),
                                      describe_code(axis->codelist, code));
    codes = describe_keep(codes, failed);
    return json_pack("{s:b, s:b, s:o}", "declared", axis->domain == CELLAR_DOMAIN_DECLARED,
                     "levels", axis->n_inner > 0, "codes", codes);
}

static json_t *describe_variables(const cellar_schema *schema)
{
    json_t *variables = json_object();
    int failed = variables == NULL;
    for (size_t v = 0; v < schema->n_variables; v++)
        failed |= json_object_set_new(variables, schema->axes[v].name,
                                      describe_variable(&schema->axes[v]));
    return describe_keep(variables, failed);
}

/* ---- margins --------------------------------------------------------------- */

/* The place of a variable among all by name. */
static size_t describe_rank(const cellar_schema *schema, size_t variable)
{
    size_t rank = 0;
    for (size_t v = 0; v < schema->n_variables; v++)
        rank += strcmp(schema->axes[v].name, schema->axes[variable].name) < 0;
    return rank;
}

/* Each margin as a mask over the variables by name, ascending. */
static json_t *describe_margins(const cellar_schema *schema)
{
    uint64_t *masks = cellar_alloc(schema->n_margins, sizeof *masks);
    json_t *margins = masks != NULL ? json_array() : NULL;
    size_t ranks[CELLAR_MAX_VARIABLES];
    int failed = margins == NULL;

    for (size_t v = 0; v < schema->n_variables; v++)
        ranks[v] = describe_rank(schema, v);
    for (size_t m = 0; !failed && m < schema->n_margins; m++)
        for (size_t v = 0; v < schema->n_variables; v++)
            masks[m] |= (schema->margins[m] >> v & 1) << ranks[v];
    if (!failed)
        qsort(masks, schema->n_margins, sizeof *masks, cellar_order_u64);
    for (size_t m = 0; !failed && m < schema->n_margins; m++)
        failed |= json_array_append_new(margins, json_integer((json_int_t) masks[m]));
    cellar_free(masks);
    return describe_keep(margins, failed);
}

cellar_status cellar_table_describe(const cellar_table *table, char **out, cellar_error *err)
{
    const cellar_schema *schema = table->schema;
    cellar_text rules = {0};
    json_t *object;

    *out = NULL;
    CELLAR_ASSERT(table->tabulation != NULL);
    cellar_schema_add_rules(schema, &rules);
    object = rules.failed
                 ? NULL
                 : json_pack("{s:o, s:o, s:o, s:s}", "tabulation",
                             json_loads(table->tabulation, 0, NULL), "variables",
                             describe_variables(schema), "margins", describe_margins(schema),
                             "structural_zeros", rules.bytes != NULL ? rules.bytes : "");
    if (object != NULL)
        *out = cellar_json_text(object, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(object);
    cellar_text_clear(&rules);
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(err, "a description of the table");
}
