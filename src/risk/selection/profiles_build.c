/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/selection/profiles.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/codelist.h"
#include "data/coder.h"
#include "data/scan.h"
#include "risk/selection/row_set.h"
#include "table/build.h"

/* ---- from rows to profiles -------------------------------------------------- */

static int rows_compare(const void *a, const void *b, void *context)
{
    const row_set *set = context;
    const uint32_t *x = set->rows + *(const uint32_t *) a * set->width;
    const uint32_t *y = set->rows + *(const uint32_t *) b * set->width;
    for (size_t c = 0; c < set->width; c++)
        if (x[c] != y[c])
            return x[c] < y[c] ? -1 : 1;
    return 0;
}

/* Copies the rows, sorted, column by column; `name` is where they are from. */
static cellar_status profiles_fill(cellar_profiles *profiles, row_set *set, const char *name,
                                   cellar_error *err)
{
    uint32_t *order = cellar_alloc(set->n, sizeof *order);
    int ok = order != NULL;

    profiles->counts = cellar_alloc(set->n, sizeof *profiles->counts);
    ok = ok && profiles->counts != NULL;
    for (size_t c = 0; ok && c < set->width; c++) {
        profiles->levels[c] = cellar_alloc(set->n, sizeof *profiles->levels[c]);
        ok = profiles->levels[c] != NULL;
    }
    if (ok) {
        for (size_t i = 0; i < set->n; i++)
            order[i] = (uint32_t) i;
        if (set->n > 0)
            qsort_r(order, set->n, sizeof *order, rows_compare, set);
        profiles->n_rows = set->n;
        for (size_t i = 0; i < set->n; i++) {
            profiles->counts[i] = set->counts[order[i]];
            profiles->n_people += profiles->counts[i];
            for (size_t c = 0; c < set->width; c++)
                profiles->levels[c][i] = set->rows[order[i] * set->width + c];
        }
    }
    cellar_free(order);
    if (!ok)
        return cellar_fail_memory(err, "profiles");
    return profiles->n_people > 0
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_INPUT, "%s: there is not one person to look at", name);
}

/* Columns without names, domains or rows. */
static cellar_profiles *profiles_alloc(size_t n_columns)
{
    cellar_profiles *profiles = cellar_alloc(1, sizeof *profiles);
    if (profiles == NULL)
        return NULL;
    profiles->n_columns = n_columns;
    profiles->names = cellar_alloc(n_columns, sizeof *profiles->names);
    profiles->domains = cellar_alloc(n_columns, sizeof *profiles->domains);
    profiles->levels = cellar_alloc(n_columns, sizeof *profiles->levels);
    if (profiles->names != NULL && profiles->domains != NULL && profiles->levels != NULL)
        return profiles;
    cellar_profiles_free(profiles);
    return NULL;
}

static int profiles_name(cellar_profiles *profiles, size_t column, const char *name)
{
    size_t size = strlen(name) + 1;
    profiles->names[column] = cellar_alloc(size, 1);
    if (profiles->names[column] == NULL)
        return 0;
    memcpy(profiles->names[column], name, size);
    return 1;
}

/* ---- from a table ----------------------------------------------------------- */

cellar_status cellar_profiles_create(const cellar_table *table, const size_t *variables, size_t n,
                                     cellar_profiles **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_table *margin = NULL;
    cellar_profiles *profiles = NULL;
    row_set set = {.width = n};
    const cellar_schema *schema;
    uint32_t row[CELLAR_MAX_VARIABLES];
    int ok;

    *out = NULL;
    CELLAR_TRY(cellar_table_create_margin(table, variables, n, &margin, err));
    schema = cellar_table_schema(margin);
    profiles = profiles_alloc(n);
    ok = profiles != NULL;
    for (size_t v = 0; ok && v < n; v++) {
        profiles->domains[v] = cellar_codelist_retain(cellar_schema_codelist(schema, v));
        ok = profiles_name(profiles, v, cellar_schema_variable(schema, v));
    }
    for (size_t i = 0; ok && i < cellar_table_n_cells(margin); i++) {
        cellar_cell cell = cellar_table_cell(margin, i);
        cellar_schema_categories(schema, cell.index, row);
        ok = cell.count == 0 || cellar_row_set_add(&set, row, cell.count);
    }
    if (!ok) {
        status = cellar_fail_memory(err, "profiles");
        goto out;
    }
    CELLAR_TRY(profiles_fill(profiles, &set, "the table", err));
    *out = profiles;
    profiles = NULL;
out:
    cellar_row_set_clear(&set);
    cellar_profiles_free(profiles);
    cellar_table_free(margin);
    return status;
}

/* ---- from a file ------------------------------------------------------------ */

typedef struct profile_reader {
    const cellar_tabulate_spec *spec;
    cellar_scan *scan;
    cellar_codelist **held;        /* lists that the coders of variables read */
    cellar_condition **conditions; /* of the filters */
    cellar_coder **coders;         /* of the variables, then of the filters */
    cellar_scan_use *uses;         /* the same */
    size_t n_uses;
    row_set *lanes;
    uint64_t *n_counted; /* by lane */
    int n_lanes;
} profile_reader;

static cellar_status reader_check(const cellar_tabulate_spec *spec, cellar_error *err)
{
    if (spec->n_variables == 0 || spec->n_variables > CELLAR_MAX_VARIABLES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "profiles have 1 to %d columns, not %zu",
                           CELLAR_MAX_VARIABLES, spec->n_variables);
    if (spec->weight_column != NULL || spec->unit_column != NULL ||
        spec->record_key_column != NULL || spec->structural_zeros_path != NULL ||
        spec->margins.all || spec->margins.n_masks > 0 || spec->margins.hierarchies != 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "profiles know no weights, units, record keys, margins or rules");
    return CELLAR_OK;
}

static cellar_status reader_use(profile_reader *reader, size_t column,
                                const cellar_coder_spec *coder, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_scan_use *use = &reader->uses[reader->n_uses];
    use->column = column;
    CELLAR_TRY(cellar_coder_create(coder, &reader->coders[reader->n_uses], err));
    use->coder = reader->coders[reader->n_uses++];
out:
    return status;
}

static cellar_status reader_variable(profile_reader *reader, size_t v, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_tabulate_spec *spec = reader->spec;
    const cellar_variable_spec *variable = &spec->variables[v];
    size_t column;
    cellar_coder_spec coder = {.variable =
                                   variable->name != NULL ? variable->name : variable->column,
                               .missing = spec->missing,
                               .n_missing = spec->n_missing,
                               .missing_policy = spec->missing_policy};
    CELLAR_TRY(
        cellar_scan_variable(reader->scan, variable, &coder, &column, &reader->held[v], err));
    CELLAR_TRY(reader_use(reader, column, &coder, err));
out:
    return status;
}

static cellar_status reader_condition(profile_reader *reader, size_t w, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_coder_spec coder = {.encoding = cellar_scan_encoding(reader->scan)};
    size_t column;
    CELLAR_TRY(cellar_condition_parse(reader->spec->where[w], &reader->conditions[w], err));
    coder.condition = reader->conditions[w];
    coder.variable = cellar_condition_column(coder.condition);
    CELLAR_TRY(cellar_scan_condition(reader->scan, coder.condition, &column, err));
    CELLAR_TRY(reader_use(reader, column, &coder, err));
out:
    return status;
}

static cellar_status reader_batch(void *context, int lane, cellar_batch *batch, cellar_error *err)
{
    profile_reader *reader = context;
    size_t n_rows = cellar_batch_n_rows(batch), width = reader->spec->n_variables;
    const int32_t *codes[CELLAR_MAX_VARIABLES];
    const uint64_t *counts = cellar_batch_counts(batch);
    uint32_t row[CELLAR_MAX_VARIABLES];

    for (size_t v = 0; v < width; v++)
        codes[v] = cellar_batch_codes(batch, v);
    for (size_t r = 0; r < n_rows; r++) {
        for (size_t v = 0; v < width; v++)
            row[v] = (uint32_t) codes[v][r];
        if (!cellar_row_set_add(&reader->lanes[lane], row, counts != NULL ? counts[r] : 1))
            return cellar_fail_memory(err, "profiles");
    }
    reader->n_counted[lane] += cellar_counts_sum(counts, n_rows);
    return CELLAR_OK;
}

static cellar_status reader_run(profile_reader *reader, cellar_row_report *report,
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_scan_options options = {.n_lanes = reader->spec->n_threads,
                                   .progress = reader->spec->progress};

    reader->n_lanes = cellar_scan_n_lanes(reader->scan, &options);
    reader->lanes = cellar_alloc((size_t) reader->n_lanes, sizeof *reader->lanes);
    reader->n_counted = cellar_alloc((size_t) reader->n_lanes, sizeof *reader->n_counted);
    if (reader->lanes == NULL || reader->n_counted == NULL) {
        status = cellar_fail_memory(err, "profiles");
        goto out;
    }
    for (int lane = 0; lane < reader->n_lanes; lane++)
        reader->lanes[lane].width = reader->spec->n_variables;
    CELLAR_TRY(cellar_scan_run(reader->scan, reader->uses, reader->n_uses, reader_batch, reader,
                               &options, report, err));
    for (int lane = 0; lane < reader->n_lanes; lane++)
        report->n_counted += reader->n_counted[lane];
out:
    return status;
}

/* Codes become leaves of the columns' domains, and the lanes' rows one set. */
static cellar_status reader_finish(profile_reader *reader, cellar_profiles *profiles, row_set *set,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t width = reader->spec->n_variables;
    uint32_t *leaf_of[CELLAR_MAX_VARIABLES] = {NULL}, row[CELLAR_MAX_VARIABLES];
    int ok = 1;

    for (size_t v = 0; v < width; v++) {
        CELLAR_TRY(cellar_coder_domain(reader->coders[v], &profiles->domains[v], &leaf_of[v], err));
        ok = ok && profiles_name(profiles, v, cellar_coder_variable(reader->coders[v]));
    }
    for (int lane = 0; lane < reader->n_lanes; lane++)
        for (size_t i = 0; ok && i < reader->lanes[lane].n; i++) {
            for (size_t v = 0; v < width; v++)
                row[v] = leaf_of[v][reader->lanes[lane].rows[i * width + v]];
            ok = cellar_row_set_add(set, row, reader->lanes[lane].counts[i]);
        }
    if (!ok)
        status = cellar_fail_memory(err, "profiles");
out:
    for (size_t v = 0; v < width; v++)
        cellar_free(leaf_of[v]);
    return status;
}

static cellar_status reader_open(profile_reader *reader, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_tabulate_spec *spec = reader->spec;
    size_t n = spec->n_variables + spec->n_where;

    CELLAR_TRY(reader_check(spec, err));
    CELLAR_TRY(cellar_scan_open(spec->path, &spec->reader, &reader->scan, err));
    reader->held = cellar_alloc(spec->n_variables, sizeof *reader->held);
    reader->conditions = cellar_alloc(spec->n_where, sizeof *reader->conditions);
    reader->coders = cellar_alloc(n, sizeof *reader->coders);
    reader->uses = cellar_alloc(n, sizeof *reader->uses);
    if (reader->held == NULL || reader->conditions == NULL || reader->coders == NULL ||
        reader->uses == NULL) {
        status = cellar_fail_memory(err, "profiles");
        goto out;
    }
    for (size_t v = 0; v < spec->n_variables; v++)
        CELLAR_TRY(reader_variable(reader, v, err));
    for (size_t w = 0; w < spec->n_where; w++)
        CELLAR_TRY(reader_condition(reader, w, err));
out:
    return status;
}

static void reader_clear(profile_reader *reader)
{
    for (int lane = 0; reader->lanes != NULL && lane < reader->n_lanes; lane++)
        cellar_row_set_clear(&reader->lanes[lane]);
    for (size_t i = 0; i < reader->n_uses; i++)
        cellar_coder_free(reader->coders[i]);
    for (size_t v = 0; reader->held != NULL && v < reader->spec->n_variables; v++)
        cellar_codelist_free(reader->held[v]);
    for (size_t w = 0; reader->conditions != NULL && w < reader->spec->n_where; w++)
        cellar_condition_free(reader->conditions[w]);
    cellar_free(reader->lanes);
    cellar_free(reader->n_counted);
    cellar_free(reader->coders);
    cellar_free(reader->uses);
    cellar_free(reader->held);
    cellar_free(reader->conditions);
    cellar_scan_close(reader->scan);
}

cellar_status cellar_profiles_read(const cellar_tabulate_spec *spec, cellar_profiles **out,
                                   cellar_row_report *report, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    profile_reader reader = {.spec = spec};
    cellar_row_report rows = {0};
    row_set set = {.width = spec->n_variables};
    cellar_profiles *profiles = NULL;

    *out = NULL;
    CELLAR_TRY(reader_open(&reader, err));
    CELLAR_TRY(reader_run(&reader, &rows, err));
    profiles = profiles_alloc(spec->n_variables);
    if (profiles == NULL) {
        status = cellar_fail_memory(err, "profiles");
        goto out;
    }
    CELLAR_TRY(reader_finish(&reader, profiles, &set, err));
    CELLAR_TRY(profiles_fill(profiles, &set, spec->path, err));
    if (report != NULL)
        *report = rows;
    *out = profiles;
    profiles = NULL;
out:
    cellar_profiles_free(profiles);
    cellar_row_set_clear(&set);
    reader_clear(&reader);
    return status;
}
