/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/work.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "mechanism/mechanism.h"
#include "table/build.h"
#include "table/schema/schema.h"

enum { STRUCTURAL_VISITED_MAX = 1 << 24 };

/* ---- counting ---------------------------------------------------------------------------- */

static cellar_variable_spec variable_spec(const plan_variable *variable)
{
    return (cellar_variable_spec){.name = variable->name,
                                  .column = variable->column,
                                  .codelist = variable->codelist,
                                  .domain_public = variable->domain_public == PLAN_YES,
                                  .missing_policy = (cellar_missing_policy) variable->missing_as,
                                  .recode = {.map = variable->map,
                                             .bottom = variable->bottom,
                                             .top = variable->top,
                                             .band_width = variable->band,
                                             .band_origin = variable->band_origin,
                                             .band_closed_right = variable->band_closed == 2}};
}

static cellar_reader_options reader_options(const plan_data *data)
{
    cellar_reader_options reader = cellar_reader_options_default();
    reader.no_header = data->header == PLAN_NO;
    reader.max_columns = data->max_columns;
    reader.max_row_mib = data->max_row_mib;
    reader.reader_memory_mib = data->reader_memory_mib;
    if (data->count != NULL && strcmp(data->count, "none") == 0)
        reader.rows_are_records = 1;
    else
        reader.count_column = data->count;
    if (data->format > 0)
        reader.format = (cellar_data_format) data->format; /* the words are in its order */
    if (data->encoding > 0)
        reader.encoding = (cellar_encoding) (data->encoding - 1);
    if (data->bad_rows > 0)
        reader.bad_rows = (cellar_bad_rows) (data->bad_rows - 1);
    if (data->delimiter != NULL)
        reader.delimiter = strcmp(data->delimiter, "tab") == 0 ? '\t' : data->delimiter[0];
    return reader;
}

cellar_tabulate_spec cellar_plan_tabulate_spec(const cellar_plan *plan, const size_t *chosen,
                                               size_t n, const cellar_plan_options *options,
                                               cellar_variable_spec *variables)
{
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    for (size_t k = 0; k < n; k++)
        variables[k] = variable_spec(plan_variable_at(plan, chosen[k]));
    spec.path = plan->data.file;
    spec.reader = reader_options(&plan->data);
    spec.variables = variables;
    spec.n_variables = n;
    spec.missing = plan->data.missing.items;
    spec.n_missing = plan->data.missing.n;
    spec.missing_policy = (cellar_missing_policy) plan->data.missing_as;
    spec.where = plan->data.where.items;
    spec.n_where = plan->data.where.n;
    spec.weight_column = plan->data.weight;
    spec.max_weight = plan->data.max_weight;
    spec.unit_column = plan->unit.column;
    spec.max_per_unit = plan->unit.max_records;
    if (options != NULL) {
        spec.n_threads = options->n_threads;
        spec.progress = options->progress;
    }
    return spec;
}

cellar_sql_source cellar_plan_source(const cellar_plan *plan)
{
    cellar_sql_source source = cellar_sql_source_default();
    source.table = plan->data.table;
    source.order_by = plan->data.order_by.items;
    source.n_order_by = plan->data.order_by.n;
    return source;
}

cellar_status cellar_plan_need_places(const cellar_plan *plan, cellar_error *err)
{
    return plan->n_places > 0
               ? CELLAR_OK
               : cellar_plan_fail_at(plan, "data.table", err,
                                     "say which database has it, such as --from sqlite:people.db");
}

cellar_status cellar_plan_ask(cellar_plan *plan, const char *const *places, size_t n_places,
                              cellar_error *err)
{
    if (plan->data.table == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: the plan counts a file; name a table (data: table: ...) for a "
                           "database to count",
                           plan->name);
    plan->places = places;
    plan->n_places = n_places;
    return CELLAR_OK;
}

cellar_status cellar_plan_count(const cellar_plan *plan, const plan_table *table,
                                const cellar_plan_options *options, cellar_table **out,
                                cellar_row_report *rows, cellar_error *err)
{
    cellar_variable_spec variables[CELLAR_MAX_VARIABLES];
    cellar_tabulate_spec spec =
        cellar_plan_tabulate_spec(plan, table->variables, table->n_variables, options, variables);
    spec.margins = table->wanted;
    spec.structural_zeros_path = table->structural_zeros;
    if (options != NULL && options->without_counts) {
        cellar_status status = cellar_tabulate_declared(&spec, out, err);
        if (status != CELLAR_OK || *out != NULL)
            return status;
    }
    if (plan->data.table != NULL) {
        const cellar_sql_source source = cellar_plan_source(plan);
        const cellar_status status = cellar_plan_need_places(plan, err);
        return status == CELLAR_OK ? cellar_tabulate_at(&spec, &source, plan->places,
                                                        plan->n_places, out, rows, err)
                                   : status;
    }
    return cellar_tabulate(&spec, out, rows, err);
}

/* How many of the released cells are structural zeros; none in tables too large to visit. */
static uint64_t count_structural(const cellar_schema *schema)
{
    uint64_t n = 0;
    if (schema->structural == NULL || schema->n_indices > STRUCTURAL_VISITED_MAX)
        return 0;
    for (uint64_t index = 0; index < schema->n_indices; index++)
        n += cellar_schema_has_cell(schema, index) &&
             cellar_schema_is_structural_zero(schema, index);
    return n;
}

static cellar_status work_count(plan_work *work, const cellar_plan_options *options,
                                cellar_error *err)
{
    cellar_row_report first = {0};
    for (size_t t = 0; t < work->n; t++) {
        plan_piece *piece = &work->pieces[t];
        cellar_row_report rows = {0};
        const cellar_schema *schema;
        cellar_status status;
        piece->table = plan_table_at(work->plan, t);
        status = cellar_plan_count(work->plan, piece->table, options, &piece->counts, &rows, err);
        if (status != CELLAR_OK)
            return status;
        if (t == 0)
            first = rows;
        else if (work->plan->data.table != NULL)
            status = cellar_sql_check_rows(&first, &rows, err);
        if (status != CELLAR_OK)
            return status;
        piece->suspect = rows.suspect;
        schema = cellar_table_schema(piece->counts);
        piece->d = cellar_schema_cells_per_record(schema);
        piece->n_cells = cellar_schema_n_possible(schema);
        piece->n_structural = count_structural(schema);
        if (__builtin_add_overflow(work->d, piece->d, &work->d) || work->d > UINT32_MAX)
            return cellar_fail(err, CELLAR_ERR_OVERFLOW, "%s: a record touches too many cells",
                               work->plan->name);
    }
    return CELLAR_OK;
}

/* ---- mechanisms -------------------------------------------------------------------------- */

static cellar_status work_mechanisms(plan_work *work, cellar_error *err)
{
    char **specs = cellar_alloc(work->n, sizeof *specs);
    cellar_status status = CELLAR_OK;
    if (specs == NULL)
        return cellar_fail_memory(err, "a plan");
    CELLAR_TRY(cellar_plan_split(work, specs, err));
    for (size_t t = 0; t < work->n; t++) {
        plan_piece *piece = &work->pieces[t];
        cellar_error why = {""};
        status = cellar_mechanism_create(specs[t], &piece->mechanism, &why);
        if (status == CELLAR_ERR_MEMORY)
            CELLAR_TRY(cellar_fail_memory(err, "a mechanism"));
        if (status != CELLAR_OK)
            CELLAR_TRY(cellar_plan_fail(work->plan->name, &piece->table->place, "mechanism", err,
                                        "%s", why.message));
        if (piece->mechanism->ops->is_joint)
            CELLAR_TRY(cellar_plan_fail(work->plan->name, &piece->table->place, "mechanism", err,
                                        "%s does not draw each cell by itself, which plans do",
                                        cellar_mechanism_name(piece->mechanism)));
    }
out:
    for (size_t t = 0; t < work->n; t++)
        cellar_free(specs[t]);
    cellar_free(specs);
    return status;
}

cellar_status cellar_plan_check_lists_tables(const cellar_plan *plan, cellar_error *err)
{
    return plan->universe.file == NULL
               ? CELLAR_OK
               : cellar_plan_fail_at(plan, "universe", err,
                                     "the plan is of a cube: use `cellar cube plan` and `cellar "
                                     "cube build`");
}

cellar_status cellar_plan_work_open(plan_work *work, const cellar_plan *plan,
                                    const cellar_plan_options *options, cellar_error *err)
{
    cellar_status status = cellar_plan_check_lists_tables(plan, err);
    if (status != CELLAR_OK)
        return status;
    *work = (plan_work){.plan = plan,
                        .n = plan->tables.n,
                        .per_unit = plan->unit.max_records > 0 ? plan->unit.max_records : 1,
                        .max_weight = plan->data.max_weight > 0 ? plan->data.max_weight : 1,
                        .n_sides = plan->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? 2 : 1};
    work->pieces = cellar_alloc(work->n, sizeof *work->pieces);
    if (work->pieces == NULL)
        return cellar_fail_memory(err, "a plan");
    CELLAR_TRY(work_count(work, options, err));
    CELLAR_TRY(work_mechanisms(work, err));
    CELLAR_TRY(cellar_plan_certify(work, err));
out:
    return status;
}

void cellar_plan_work_close(plan_work *work)
{
    for (size_t t = 0; work->pieces != NULL && t < work->n; t++) {
        cellar_table_free(work->pieces[t].counts);
        cellar_mechanism_free(work->pieces[t].mechanism);
    }
    cellar_free(work->pieces);
    cellar_certificate_free(work->certificate);
    *work = (plan_work){0};
}
