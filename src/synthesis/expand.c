/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From whole, non-negative values to as many records: nothing is drawn, and counting the records
 * gives the values back. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/estimate/estimate.h"
#include "release/release.h"
#include "synthesis/synthesis.h"
#include "table/table.h"

/* Values in cells of a schema, in canonical order, whoever they come from. */
typedef struct values {
    const cellar_schema *schema;
    size_t n;
    const uint64_t *index;
    const int64_t *value;
    const uint8_t *status; /* or NULL */
} values;

/* ---- what cannot be expanded ----------------------------------------------------- */

static cellar_status refuse_negative(cellar_error *err)
{
    return cellar_fail(
        err, CELLAR_ERR_RULE,
        "the release has negative values, and there are no negative records: 'cellar "
        "fit RELEASE -o fitted.csv' makes whole numbers of it that are not negative "
        "and keeps its total; synthesize those");
}

static int is_hidden(const values *v, size_t i)
{
    return v->status != NULL && v->status[i] != CELLAR_CELL_NORMAL &&
           v->status[i] != CELLAR_CELL_STRUCTURAL_ZERO;
}

static cellar_status check_values(const values *v, cellar_error *err)
{
    for (size_t i = 0; i < v->n; i++) {
        if (is_hidden(v, i))
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "some cells do not show their values, so that nobody knows how many "
                               "records they have; release the table without suppression");
        if (v->value[i] < 0)
            return refuse_negative(err);
    }
    return CELLAR_OK;
}

/* The values as a table of counts, whose sums the table layer can check. */
static cellar_status check_margins(const values *v, cellar_error *err)
{
    cellar_cells cells = {.n = v->n};
    cellar_table *table = NULL;
    cellar_status status = CELLAR_OK;

    if (cellar_schema_has_no_aggregate(v->schema))
        return CELLAR_OK;
    cells.index = cellar_alloc(v->n, sizeof *cells.index);
    cells.count = cellar_alloc(v->n, sizeof *cells.count);
    if (cells.index == NULL || cells.count == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the margins of a release"));
    memcpy(cells.index, v->index, v->n * sizeof *cells.index);
    memcpy(cells.count, v->value, v->n * sizeof *cells.count);
    CELLAR_TRY(cellar_table_from_cells(v->schema, &cells, 0, &table, err));
    status = cellar_table_check_sums(table, "the release", err);
    if (status == CELLAR_ERR_INPUT)
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "margins of the release are not the sums of its inner cells, so that "
                             "no records have all of its values: 'cellar fit RELEASE -o "
                             "fitted.csv' makes whole numbers that add; or ignore the margins "
                             "(--ignore-margins)");
out:
    cellar_cells_clear(&cells);
    cellar_table_free(table);
    return status;
}

/* ---- expanding -------------------------------------------------------------------- */

static int is_expanded(const values *v, size_t i)
{
    return v->value[i] > 0 && cellar_schema_is_interior(v->schema, v->index[i]);
}

/* How many combinations and records there will be. */
static cellar_status measure(const values *v, const cellar_synthesis_options *options,
                             size_t *n_combinations, uint64_t *n_records, cellar_error *err)
{
    *n_combinations = 0;
    *n_records = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (!is_expanded(v, i))
            continue;
        ++*n_combinations;
        if ((uint64_t) v->value[i] > options->max_records - *n_records)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "there would be more than %" PRIu64 " records (--max-records)",
                               options->max_records);
        *n_records += (uint64_t) v->value[i];
    }
    return CELLAR_OK;
}

static cellar_status expand(const values *v, const cellar_synthesis_options *options,
                            cellar_synthesis **out, cellar_error *err)
{
    const cellar_synthesis_options defaults = cellar_synthesis_options_default();
    const size_t n_columns = cellar_schema_n_variables(v->schema);
    synthesis_column columns[CELLAR_MAX_VARIABLES];
    size_t n_combinations;
    uint64_t n_records;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (options == NULL)
        options = &defaults;
    CELLAR_TRY(check_values(v, err));
    if (!options->ignore_margins)
        CELLAR_TRY(check_margins(v, err));
    CELLAR_TRY(measure(v, options, &n_combinations, &n_records, err));
    for (size_t k = 0; k < n_columns; k++)
        columns[k] = (synthesis_column){(cellar_schema *) v->schema, k};
    CELLAR_TRY(cellar_synthesis_create(columns, n_columns, n_combinations, out, err));
    (*out)->n_records = n_records;
    for (size_t i = 0; i < v->n; i++)
        if (is_expanded(v, i)) {
            const size_t k = (*out)->n_combinations++;
            cellar_schema_categories(v->schema, v->index[i], (*out)->categories + k * n_columns);
            (*out)->counts[k] = (uint64_t) v->value[i];
        }
out:
    return status;
}

static cellar_status describe(cellar_synthesis **synthesis, json_t *facts, json_t *sources,
                              cellar_error *err)
{
    const cellar_status status = cellar_synthesis_describe(*synthesis, facts, sources, err);
    if (status != CELLAR_OK) {
        cellar_synthesis_free(*synthesis);
        *synthesis = NULL;
    }
    return status;
}

/* ---- from whom ---------------------------------------------------------------------- */

cellar_status cellar_synthesis_from_release(const cellar_release *release,
                                            const cellar_synthesis_options *options,
                                            cellar_synthesis **out, cellar_error *err)
{
    const cellar_cells *cells = &release->cells;
    const values v = {release->schema, cells->n, cells->index, (const int64_t *) cells->count,
                      cells->status};
    cellar_status status;

    *out = NULL;
    if (release->facts.noise == CELLAR_NOISE_SEEDED)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "a simulation drawn from a seed never becomes a publication");
    if (release->facts.below == CELLAR_BELOW_SUPPRESS)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the release does not show values below its threshold, so that nobody "
                           "knows how many records these cells have; set them to zero instead "
                           "(protect --below zero)");
    status = expand(&v, options, out, err);
    if (status != CELLAR_OK)
        return status;
    return describe(out,
                    json_pack("{s:s, s:s}", "method",
                              "as many records of each cell as its released value says: counting "
                              "the records gives the inner cells of the release",
                              "rows_are",
                              release->facts.is_weighted
                                  ? "units of weight: the release has weighted sums"
                                  : "records"),
                    json_pack("[O]", release->description), err);
}

cellar_status cellar_synthesis_from_estimate(const cellar_estimate *estimate,
                                             const cellar_synthesis_options *options,
                                             cellar_synthesis **out, cellar_error *err)
{
    const cellar_cells *cells = &estimate->cells;
    const values v = {estimate->schema, cells->n, cells->index,
                      estimate->whole != NULL ? estimate->whole : (const int64_t *) cells->count,
                      cells->status};
    json_t *computed = json_object_get(estimate->description, "computed");
    json_t *sources = json_object_get(estimate->description, "sources");
    cellar_status status;

    *out = NULL;
    if (estimate->whole == NULL && estimate->decimals > 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the file has estimates with decimals, and there are no parts of "
                           "records: write whole numbers ('cellar fit RELEASE -o fitted.csv', "
                           "'cellar cube table CUBE --whole -o table.csv') and synthesize those");
    status = expand(&v, options, out, err);
    if (status != CELLAR_OK)
        return status;
    return describe(out,
                    json_pack("{s:s, s:s, s:O*}", "method",
                              "as many records of each cell as its whole number says: counting the "
                              "records gives the table",
                              "rows_are", "records", "computed", computed),
                    json_incref(sources), err);
}

cellar_status cellar_synthesis_from_file(const char *path, const cellar_synthesis_options *options,
                                         cellar_synthesis **out, cellar_error *err)
{
    cellar_release *release = NULL;
    cellar_estimate *estimate = NULL;
    cellar_error other = {""};
    cellar_status status = cellar_release_read(path, CELLAR_TABLE_AUTO, &release, err);

    *out = NULL;
    /* What is no release may be an estimate; if it is neither, the first message is the one. */
    if (status == CELLAR_OK)
        status = cellar_synthesis_from_release(release, options, out, err);
    else if (cellar_estimate_read(path, CELLAR_TABLE_AUTO, &estimate, &other) == CELLAR_OK)
        status = cellar_synthesis_from_estimate(estimate, options, out, err);
    cellar_release_free(release);
    cellar_estimate_free(estimate);
    return status;
}
