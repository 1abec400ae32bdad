/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From counters to tables. */
#include "base/error.h"
#include "base/memory.h"
#include "table/counting/stored.h"
#include "table/counting/tabulate_run.h"
#include "table/counting/tabulation.h"
#include "table/table.h"

static cellar_domain variable_domain(const tabulation *t, size_t v)
{
    return cellar_codelist_domain(cellar_coder_is_declared(t->coders[v]) ? t->domains[v] : NULL,
                                  t->spec->variables[v].domain_public);
}

/* The categories of all variables, once all rows were seen. */
static cellar_status tabulation_domains(tabulation *t, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t v = 0; v < t->spec->n_variables; v++) {
        if (cellar_coder_n_codes(t->coders[v]) == 0)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: no row was counted, so variable '%.200s' has no category; "
                               "declare its domain",
                               t->spec->path, cellar_coder_variable(t->coders[v]));
        CELLAR_TRY(cellar_coder_domain(t->coders[v], &t->domains[v], &t->leaf_of[v], err));
    }
out:
    return status;
}

static cellar_status set_schema(const tabulation *t, const cellar_tabulate_set *set,
                                cellar_schema **out, cellar_error *err)
{
    cellar_schema_variable_def defs[CELLAR_MAX_VARIABLES];
    for (size_t k = 0; k < set->n; k++) {
        const size_t v = set->variables[k];
        defs[k] = (cellar_schema_variable_def){.name = cellar_coder_variable(t->coders[v]),
                                               .domain = variable_domain(t, v),
                                               .codelist = t->domains[v]};
    }
    return cellar_schema_create(defs, set->n, t->rules, out, err);
}

/* Says what was counted: as if only the variables of the table had been asked for. */
static cellar_status set_describe(const tabulation *t, const cellar_tabulate_set *set,
                                  cellar_table *table, cellar_error *err)
{
    const cellar_stored_file *stored = cellar_scan_stored(t->scan);
    cellar_variable_spec variables[CELLAR_MAX_VARIABLES];
    size_t columns[CELLAR_MAX_VARIABLES];
    cellar_tabulate_spec spec = *t->spec;
    char *text = NULL;
    cellar_status status;
    for (size_t k = 0; k < set->n; k++) {
        variables[k] = t->spec->variables[set->variables[k]];
        columns[k] = t->uses[set->variables[k]].column;
    }
    spec.variables = variables;
    spec.n_variables = set->n;
    status =
        stored != NULL
            ? cellar_stored_describe(stored, &spec, columns,
                                     (const cellar_condition *const *) t->conditions, &text, err)
            : cellar_tabulation_describe(&spec, (const cellar_condition *const *) t->conditions,
                                         &text, err);
    if (status == CELLAR_OK)
        status = cellar_table_set_tabulation(table, text, err);
    cellar_free(text);
    return status;
}

/* The inner cells of one table. */
static cellar_status set_cells(const tabulation *t, size_t s, const cellar_schema *schema,
                               cellar_cells *out, cellar_error *err)
{
    const cellar_tabulate_set *set = &t->sets[s];
    const uint32_t *leaf_of[CELLAR_MAX_VARIABLES];
    size_t n_codes[CELLAR_MAX_VARIABLES];
    uint64_t stride[CELLAR_MAX_VARIABLES];
    cellar_status status = CELLAR_OK;
    for (size_t k = set->n; k-- > 0;) {
        leaf_of[k] = t->leaf_of[set->variables[k]];
        n_codes[k] = cellar_coder_n_codes(t->coders[set->variables[k]]);
        stride[k] = k + 1 == set->n ? 1 : stride[k + 1] * cellar_schema_n_leaves(schema, k + 1);
    }
    CELLAR_TRY(cellar_accumulator_cells(t->accumulators[s], leaf_of, n_codes, stride, out, err));
    status = cellar_tabulation_check_size(t, out->n, err);
    if (status != CELLAR_OK)
        cellar_cells_clear(out);
out:
    return status;
}

static cellar_status set_table(tabulation *t, size_t s, cellar_table **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_margins *margins = &t->spec->margins;
    cellar_cells cells = {0};
    cellar_schema *schema = NULL;
    cellar_table *inner = NULL;
    cellar_error refusal = {""};

    CELLAR_TRY(set_schema(t, &t->sets[s], &schema, err));
    CELLAR_TRY(set_cells(t, s, schema, &cells, err));
    status = cellar_table_from_cells(schema, &cells, t->admission.key_range, &inner, &refusal);
    if (status != CELLAR_OK) {
        cellar_fail(err, status, "%s: %s",
                    t->rules != NULL ? t->spec->structural_zeros_path : t->spec->path,
                    refusal.message);
        goto out;
    }
    CELLAR_TRY(cellar_table_set_max_weight(inner, t->spec->max_weight, err));
    CELLAR_TRY(set_describe(t, &t->sets[s], inner, err));
    if (margins->all || margins->n_masks > 0 || margins->hierarchies != 0)
        CELLAR_TRY(cellar_table_create_expanded(inner, margins, out, err));
    else {
        *out = inner;
        inner = NULL;
    }
out:
    cellar_table_free(inner);
    cellar_schema_free(schema);
    return status;
}

cellar_status cellar_tabulation_tables(tabulation *t, cellar_table **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(tabulation_domains(t, err));
    for (size_t s = 0; s < t->n_sets; s++)
        CELLAR_TRY(set_table(t, s, &out[s], err));
out:
    return status;
}
