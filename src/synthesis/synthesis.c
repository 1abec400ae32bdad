/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthesis/synthesis.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/codelist.h"
#include "table/formats/extension.h"

cellar_synthesis_options cellar_synthesis_options_default(void)
{
    return (cellar_synthesis_options){.max_records = 1000000000};
}

cellar_status cellar_synthesis_create(const synthesis_column *columns, size_t n_columns,
                                      size_t n_combinations, cellar_synthesis **out,
                                      cellar_error *err)
{
    cellar_synthesis *s = cellar_alloc(1, sizeof *s);
    *out = NULL;
    if (s != NULL) {
        s->columns = cellar_alloc(n_columns, sizeof *s->columns);
        s->categories = cellar_alloc(n_combinations, n_columns * sizeof *s->categories);
        s->counts = cellar_alloc(n_combinations, sizeof *s->counts);
    }
    if (s == NULL || s->columns == NULL || s->categories == NULL || s->counts == NULL) {
        cellar_synthesis_free(s);
        return cellar_fail_memory(err, "synthetic records");
    }
    s->n_columns = n_columns;
    for (size_t v = 0; v < n_columns; v++)
        s->columns[v] =
            (synthesis_column){cellar_schema_retain(columns[v].schema), columns[v].variable};
    *out = s;
    return CELLAR_OK;
}

void cellar_synthesis_free(cellar_synthesis *s)
{
    if (s == NULL)
        return;
    for (size_t v = 0; v < s->n_columns; v++)
        cellar_schema_free(s->columns[v].schema);
    cellar_free(s->columns);
    cellar_free(s->categories);
    cellar_free(s->counts);
    json_decref(s->description);
    cellar_free(s->description_text);
    cellar_free(s);
}

/* ---- what is said about them --------------------------------------------------- */

static json_t *describe_variable(const synthesis_column *column)
{
    cellar_text list = {0};
    json_t *variable = NULL;
    cellar_codelist_add_text(cellar_schema_codelist(column->schema, column->variable), &list);
    if (!list.failed)
        variable = json_pack(
            "{s:s, s:s, s:s#}", "name", cellar_schema_variable(column->schema, column->variable),
            "domain", cellar_domain_name(cellar_schema_domain(column->schema, column->variable)),
            "codelist", list.bytes, list.length);
    cellar_text_clear(&list);
    return variable;
}

cellar_status cellar_synthesis_describe(cellar_synthesis *s, json_t *facts, json_t *sources,
                                        cellar_error *err)
{
    json_t *variables = json_array();
    int failed = facts == NULL || sources == NULL || variables == NULL;

    s->description = json_pack("{s:s, s:s, s:I}", "kind", "synthetic records", "statement",
                               CELLAR_SYNTHETIC_STATEMENT, "records", (json_int_t) s->n_records);
    failed |= s->description == NULL || json_object_update_missing(s->description, facts) != 0;
    for (size_t v = 0; v < s->n_columns && !failed; v++)
        failed |= json_array_append_new(variables, describe_variable(&s->columns[v])) != 0;
    failed = failed || json_object_set(s->description, "variables", variables) != 0 ||
             json_object_set(s->description, "sources", sources) != 0;
    if (!failed)
        s->description_text = cellar_json_text(s->description, JSON_COMPACT);
    json_decref(facts);
    json_decref(sources);
    json_decref(variables);
    return s->description_text != NULL
               ? CELLAR_OK
               : cellar_fail_memory(err, "the description of synthetic records");
}

/* ---- queries -------------------------------------------------------------------- */

uint64_t cellar_synthesis_n_records(const cellar_synthesis *s)
{
    return s->n_records;
}

size_t cellar_synthesis_n_variables(const cellar_synthesis *s)
{
    return s->n_columns;
}

const char *cellar_synthesis_variable(const cellar_synthesis *s, size_t variable)
{
    return cellar_schema_variable(s->columns[variable].schema, s->columns[variable].variable);
}

size_t cellar_synthesis_n_categories(const cellar_synthesis *s, size_t variable)
{
    return cellar_schema_n_leaves(s->columns[variable].schema, s->columns[variable].variable);
}

const char *cellar_synthesis_code(const cellar_synthesis *s, size_t variable, size_t category)
{
    return cellar_schema_code(s->columns[variable].schema, s->columns[variable].variable, category);
}

size_t cellar_synthesis_n_combinations(const cellar_synthesis *s)
{
    return s->n_combinations;
}

const uint32_t *cellar_synthesis_combination(const cellar_synthesis *s, size_t combination,
                                             uint64_t *n_records)
{
    *n_records = s->counts[combination];
    return s->categories + combination * s->n_columns;
}

const char *cellar_synthesis_description(const cellar_synthesis *s)
{
    return s->description_text;
}
