/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/building.h"

#include <string.h>

#include "base/error.h"
#include "data/codelist.h"
#include "store/heading.h"
#include "table/counting/tabulation.h"

/* ---- life cycle ------------------------------------------------------------------ */

static cellar_status check_spec(const cellar_tabulate_spec *spec, cellar_error *err)
{
    if (spec->n_variables == 0 || spec->n_variables > STORED_VARIABLES_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a store has 1 to %d variables, not %zu",
                           STORED_VARIABLES_MAX, spec->n_variables);
    if (spec->reader.count_column != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a store holds records: a row that stands for several is none");
    for (size_t v = 0; v < spec->n_variables; v++)
        if (spec->variables[v].level > 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a store holds the finest categories; tables choose levels");
    if (spec->max_weight > 0 || spec->max_per_unit > 0 || spec->max_cells > 0 ||
        spec->structural_zeros_path != NULL || spec->margins.all || spec->margins.n_masks > 0 ||
        spec->margins.hierarchies != 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "bounds, margins and structural zeros belong to tables, not to a store");
    return CELLAR_OK;
}

cellar_status cellar_store_building_init(store_building *b, const cellar_tabulate_spec *spec,
                                         cellar_error *err)
{
    cellar_stored_file *h = &b->heading;
    cellar_status status = CELLAR_OK;
    *b = (store_building){.spec = spec};
    CELLAR_TRY(check_spec(spec, err));
    h->n_variables = spec->n_variables;
    h->n_columns = CELLAR_STORED_N_BESIDE + h->n_variables;
    b->coders = cellar_alloc(h->n_variables, sizeof *b->coders);
    h->arena = cellar_arena_create(SIZE_MAX / 2);
    if (b->coders == NULL || h->arena == NULL)
        return cellar_fail_memory(err, "a store");
    h->variables = cellar_arena_alloc(h->arena, h->n_variables, sizeof *h->variables);
    h->columns = cellar_arena_alloc(h->arena, h->n_columns, sizeof *h->columns);
    if (h->variables == NULL || h->columns == NULL)
        return cellar_fail_memory(err, "a store");
out:
    return status;
}

void cellar_store_building_clear(store_building *b)
{
    for (size_t v = 0; b->heading.variables != NULL && v < b->heading.n_variables; v++)
        cellar_codelist_free(b->heading.variables[v].list);
    for (size_t v = 0; b->coders != NULL && v < b->heading.n_variables; v++)
        cellar_coder_free(b->coders[v]);
    cellar_store_writer_clear(&b->writer);
    cellar_arena_free(b->heading.arena);
    cellar_free(b->coders);
    *b = (store_building){0};
}

/* ---- variables --------------------------------------------------------------------- */

/* Tables would ask in vain for missing values as a level. */
static cellar_status check_level(cellar_coder_spec coder, cellar_missing_policy policy,
                                 cellar_error *err)
{
    cellar_coder *tried = NULL;
    cellar_status status;
    coder.missing_policy = policy;
    status = cellar_coder_create(&coder, &tried, err);
    cellar_coder_free(tried);
    return status;
}

/* How many bytes a variable takes: known in advance where its domain is. */
static cellar_status lay_out(store_building *b, size_t v, cellar_error *err)
{
    cellar_stored_variable *variable = &b->heading.variables[v];
    cellar_stored_column *column = &b->heading.columns[CELLAR_STORED_N_BESIDE + v];
    const size_t n = cellar_coder_n_codes(b->coders[v]);
    const int is_observed = variable->domain == CELLAR_STORED_OBSERVED;
    if (n > STORED_CODES_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "variable '%.200s': a store holds up to %d categories of a variable; "
                           "band or recode it",
                           variable->spec.name, STORED_CODES_MAX);
    *column = (cellar_stored_column){.name = variable->spec.name,
                                     .width = is_observed || n > UINT8_MAX ? 2 : 1,
                                     .least = 1, /* until a missing value is met */
                                     .limit = is_observed ? STORED_CODES_MAX + 1 : n + 1};
    return CELLAR_OK;
}

cellar_status cellar_store_building_add(store_building *b, size_t v, cellar_coder_spec *coder,
                                        cellar_error *err)
{
    const cellar_variable_spec *variable = &b->spec->variables[v];
    cellar_stored_variable *stored = &b->heading.variables[v];
    cellar_status status = CELLAR_OK;

    stored->spec = *variable;
    if (variable->name == NULL)
        stored->spec.name = variable->column;
    for (size_t other = 0; other < v; other++)
        if (strcmp(b->heading.variables[other].spec.name, stored->spec.name) == 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.200s' is named twice",
                               stored->spec.name);
    coder->variable = stored->spec.name;
    coder->missing = b->spec->missing;
    coder->n_missing = b->spec->n_missing;
    coder->missing_policy = CELLAR_MISSING_DROP;
    CELLAR_TRY(check_level(*coder, cellar_tabulation_policy(b->spec, variable), err));
    CELLAR_TRY(cellar_coder_create(coder, &b->coders[v], err));
    stored->domain = variable->codelist != NULL               ? CELLAR_STORED_DECLARED
                     : cellar_coder_is_declared(b->coders[v]) ? CELLAR_STORED_IMPLIED
                                                              : CELLAR_STORED_OBSERVED;
    CELLAR_TRY(lay_out(b, v, err));
out:
    return status;
}

/* ---- rows ---------------------------------------------------------------------------- */

cellar_status cellar_store_building_sort(store_building *b, const char *sort_by, cellar_error *err)
{
    cellar_stored_file *h = &b->heading;
    size_t v = 0;
    if (sort_by == NULL)
        return CELLAR_OK;
    while (v < h->n_variables && strcmp(h->variables[v].spec.name, sort_by) != 0)
        v++;
    if (v == h->n_variables)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "rows are to be sorted by '%.200s', which is no variable of the store",
                           sort_by);
    b->sort_column = CELLAR_STORED_N_BESIDE + v;
    h->sorted_by = sort_by;
    if (b->spec->unit_column != NULL)
        h->columns[CELLAR_STORED_ORDER] = (cellar_stored_column){
            .name = "order of the data", .width = cellar_stored_beside_width(CELLAR_STORED_ORDER)};
    return CELLAR_OK;
}

cellar_status cellar_store_building_begin(store_building *b, int is_held, cellar_output *output,
                                          cellar_error *err)
{
    cellar_stored_file *h = &b->heading;
    cellar_stored_lay_out(h->columns, h->n_columns, &h->group_bytes);
    return cellar_store_writer_init(&b->writer, h->columns, h->n_columns, is_held, output, err);
}

cellar_status cellar_store_building_fail_categories(const store_building *b, size_t v,
                                                    cellar_error *err)
{
    return cellar_fail(
        err, CELLAR_ERR_INPUT,
        "%s: variable '%.200s': more than %d categories were observed; leave it out, or band or "
        "recode it",
        b->spec->path, b->heading.variables[v].spec.name, STORED_CODES_MAX);
}

/* ---- the heading ---------------------------------------------------------------------- */

/* An observed domain in the order of its codes, in which it was met. */
static cellar_status observed_list(const cellar_codelist *sorted, const uint32_t *leaf_of,
                                   cellar_codelist **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_codelist_create(out, err));
    for (size_t c = 0; c < cellar_codelist_n_leaves(sorted); c++) {
        const size_t code = cellar_codelist_leaf(sorted, leaf_of[c]);
        const char *text = cellar_codelist_code(sorted, code);
        const char *label = cellar_codelist_label(sorted, code, 0);
        CELLAR_TRY(cellar_codelist_add(*out, text, strcmp(label, text) != 0 ? label : NULL, NULL,
                                       CELLAR_CODE_PLAIN, err));
    }
    CELLAR_TRY(cellar_codelist_finish(*out, err));
out:
    return status;
}

static cellar_status find_list(store_building *b, size_t v, cellar_error *err)
{
    cellar_stored_variable *variable = &b->heading.variables[v];
    cellar_codelist *list = NULL;
    uint32_t *leaf_of = NULL;
    cellar_status status = CELLAR_OK;

    if (cellar_coder_n_codes(b->coders[v]) == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: no row was stored, so variable '%.200s' has no category; declare "
                           "its domain",
                           b->spec->path, variable->spec.name);
    if (cellar_coder_n_codes(b->coders[v]) > STORED_CODES_MAX)
        return cellar_store_building_fail_categories(b, v, err);
    CELLAR_TRY(cellar_coder_domain(b->coders[v], &list, &leaf_of, err));
    if (variable->domain == CELLAR_STORED_OBSERVED)
        CELLAR_TRY(observed_list(list, leaf_of, &variable->list, err));
    else
        variable->list = cellar_codelist_retain(list);
    variable->n_codes = (uint32_t) cellar_codelist_n_leaves(variable->list);
out:
    cellar_codelist_free(list);
    cellar_free(leaf_of);
    return status;
}

cellar_status cellar_store_building_finish(store_building *b, const cellar_row_report *report,
                                           cellar_error *err)
{
    const cellar_tabulate_spec *spec = b->spec;
    cellar_stored_file *h = &b->heading;
    cellar_status status = CELLAR_OK;

    for (size_t v = 0; v < h->n_variables; v++)
        CELLAR_TRY(find_list(b, v, err));
    h->n_rows = b->writer.n_rows;
    h->missing = (const char **) spec->missing;
    h->n_missing = spec->n_missing;
    h->missing_policy = spec->missing_policy;
    h->where = (const char **) spec->where;
    h->n_where = spec->n_where;
    h->bad_rows = spec->reader.bad_rows;
    h->report.n_bad = report->n_bad;
    h->report.n_filtered = report->n_filtered;
    CELLAR_TRY(cellar_store_writer_finish(&b->writer, b->sort_column, err));
    CELLAR_TRY(cellar_store_write_heading(&b->writer, h, err));
out:
    return status;
}
