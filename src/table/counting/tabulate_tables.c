/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From counters to tables. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/counting/collapse.h"
#include "table/counting/stored.h"
#include "table/counting/tabulate.h"
#include "table/counting/tabulation.h"
#include "table/table.h"

static cellar_domain variable_domain(const cellar_tabulation *t, size_t v)
{
    return cellar_codelist_domain(cellar_coder_is_declared(t->coders[v]) ? t->domains[v] : NULL,
                                  t->spec->variables[v].domain_public);
}

/* The categories of all variables, once all rows were seen. */
static cellar_status tabulation_domains(cellar_tabulation *t, cellar_error *err)
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

static cellar_status set_schema(const cellar_tabulation *t, const cellar_tabulate_set *set,
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
static cellar_status set_describe(const cellar_tabulation *t, const cellar_tabulate_set *set,
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

/* ---- cells ------------------------------------------------------------------------- */

static uint64_t n_leaves(const cellar_tabulation *t, const cellar_tabulate_set *set, size_t k)
{
    return cellar_codelist_n_leaves(t->domains[set->variables[k]]);
}

/* The inner cells of one counted table. */
static cellar_status counted_cells(const cellar_tabulation *t, size_t c, cellar_cells *out,
                                   cellar_error *err)
{
    const cellar_tabulate_set *set = &t->cover.counted[c];
    const uint32_t *leaf_of[CELLAR_MAX_VARIABLES];
    size_t n_codes[CELLAR_MAX_VARIABLES];
    uint64_t stride[CELLAR_MAX_VARIABLES];
    for (size_t k = set->n; k-- > 0;) {
        leaf_of[k] = t->leaf_of[set->variables[k]];
        n_codes[k] = cellar_coder_n_codes(t->coders[set->variables[k]]);
        stride[k] = k + 1 == set->n ? 1 : stride[k + 1] * n_leaves(t, set, k + 1);
    }
    return cellar_accumulator_cells(t->accumulators[c], leaf_of, n_codes, stride, out, err);
}

/* Those of a wanted table, summed from its source. */
static cellar_status wanted_cells(const cellar_tabulation *t, size_t s, const cellar_cells *cells,
                                  const cellar_schema *schema, cellar_cells *out, cellar_error *err)
{
    const cellar_tabulate_set *set = &t->sets[s], *source = &t->cover.counted[t->cover.source[s]];
    cellar_collapse_axis axes[CELLAR_MAX_VARIABLES];
    uint64_t stride = 1;
    for (size_t k = 0; k < source->n; k++)
        axes[k] = (cellar_collapse_axis){.n = n_leaves(t, source, k)};
    for (size_t k = set->n; k-- > 0;) {
        size_t at = 0;
        while (source->variables[at] != set->variables[k])
            at++;
        axes[at].stride = stride;
        stride *= n_leaves(t, set, k);
    }
    return cellar_cells_collapse(cells, axes, source->n, cellar_schema_n_indices(schema),
                                 t->admission.key_range, out, err);
}

/* ---- tables ------------------------------------------------------------------------ */

/* Takes `cells`, those of the table. */
static cellar_status set_table(const cellar_tabulation *t, size_t s, cellar_schema *schema,
                               cellar_cells *cells, cellar_table **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_margins *margins = &t->spec->margins;
    cellar_table *inner = NULL;
    cellar_error refusal = {""};

    status = cellar_table_from_cells(schema, cells, t->admission.key_range, &inner, &refusal);
    if (status != CELLAR_OK) {
        cellar_fail(err, status, "%s: %s",
                    t->rules != NULL ? t->spec->structural_zeros_path : t->spec->path,
                    refusal.message);
        goto out;
    }
    CELLAR_TRY(cellar_tabulation_check_size(t, cellar_table_n_cells(inner), err));
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
    return status;
}

/* 1 when a wanted table is its source. */
static int is_source(const cellar_tabulation *t, size_t s)
{
    const cellar_tabulate_set *source = &t->cover.counted[t->cover.source[s]];
    return t->sets[s].n == source->n &&
           memcmp(t->sets[s].variables, source->variables, source->n) == 0;
}

/* One wanted table from the cells of its source, which it takes if it may. */
static cellar_status make_table(const cellar_tabulation *t, size_t s, int takes,
                                cellar_cells *counted, cellar_table **out, cellar_error *err)
{
    cellar_schema *schema = NULL;
    cellar_cells cells = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(set_schema(t, &t->sets[s], &schema, err));
    if (!takes)
        CELLAR_TRY(wanted_cells(t, s, counted, schema, &cells, err));
    CELLAR_TRY(set_table(t, s, schema, takes ? counted : &cells, out, err));
out:
    cellar_cells_clear(&cells);
    cellar_schema_free(schema);
    return status;
}

/* All wanted tables of one counted one, whose counters are given back. The one that is the source
 * itself comes last. */
static cellar_status make_tables(cellar_tabulation *t, size_t c, cellar_table **out,
                                 cellar_error *err)
{
    size_t last = SIZE_MAX;
    cellar_cells counted = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(counted_cells(t, c, &counted, err));
    cellar_accumulator_free(t->accumulators[c]);
    t->accumulators[c] = NULL;
    for (size_t s = 0; s < t->n_sets; s++) {
        if (t->cover.source[s] != c)
            continue;
        if (last == SIZE_MAX && is_source(t, s))
            last = s;
        else
            CELLAR_TRY(make_table(t, s, 0, &counted, &out[s], err));
    }
    if (last != SIZE_MAX)
        CELLAR_TRY(make_table(t, last, 1, &counted, &out[last], err));
out:
    cellar_cells_clear(&counted);
    return status;
}

cellar_status cellar_tabulation_tables(cellar_tabulation *t, cellar_table **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(tabulation_domains(t, err));
    for (size_t c = 0; c < t->cover.n_counted; c++)
        CELLAR_TRY(make_tables(t, c, out, err));
out:
    return status;
}
