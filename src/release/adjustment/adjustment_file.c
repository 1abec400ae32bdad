/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitted numbers in files. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/files/release_file.h"
#include "release/adjustment/rounding.h"
#include "table/formats/csv_fields.h"
#include "table/schema/schema.h"

/* ---- the whole numbers --------------------------------------------------------- */

/* The cells that are not zero, in order. */
typedef struct fitted_cells {
    const cellar_rounding *rounding;
    uint64_t *index;
    size_t n;
} fitted_cells;

static cellar_sheet_cell fitted_cell(const void *source, size_t position)
{
    const fitted_cells *cells = source;
    const uint64_t index = cells->index[position];
    return (cellar_sheet_cell){.index = index,
                               .value = cellar_rounding_value(cells->rounding, index)};
}

cellar_status cellar_adjustment_write(const cellar_adjustment *fit, const cellar_rounding *rounding,
                                      const cellar_release *const *releases, size_t n_releases,
                                      cellar_official official, cellar_release_file *file,
                                      cellar_error *err)
{
    fitted_cells cells = {.rounding = rounding};
    cellar_protection_level worst = CELLAR_LEVEL_GUARANTEE;
    char *description = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_adjustment_describe(fit, rounding, releases, n_releases, official,
                                          &description, err));
    cells.index = cellar_alloc(rounding->n, sizeof *cells.index);
    if (cells.index == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a fitted table"));
    for (size_t i = 0; i < rounding->n; i++)
        if (rounding->value[i] != 0)
            cells.index[cells.n++] = i;
    for (size_t r = 0; r < n_releases; r++)
        if (cellar_release_level(releases[r]) > worst)
            worst = cellar_release_level(releases[r]);
    const cellar_sheet sheet = {.schema = fit->schema,
                                .kind = CELLAR_SHEET_FIT,
                                .stamp = cellar_protection_level_stamp(worst),
                                .attachment = description,
                                .n_cells = cells.n,
                                .source = &cells,
                                .cell = fitted_cell};
    status = cellar_release_file_put(file, &sheet, err);
out:
    cellar_free(cells.index);
    cellar_free(description);
    return status;
}

/* ---- side by side ---------------------------------------------------------------- */

static void comparison_header(const cellar_schema *schema, int with_sd, int with_fitted,
                              cellar_text *row)
{
    for (size_t v = 0; v < schema->n_variables; v++) {
        cellar_csv_add_safe(row, schema->axes[v].name, 0);
        cellar_text_add_char(row, ',');
    }
    cellar_text_printf(row, "observed,unbiased%s%s\n", with_sd ? ",sd" : "",
                       with_fitted ? ",fitted" : "");
}

/* Nothing where nothing is known. */
static void comparison_number(cellar_text *row, double value)
{
    if (isfinite(value))
        cellar_text_printf(row, "%.15g", value);
}

/* The standard deviation; NAN where the releases do not determine the cell. */
static cellar_status comparison_sd(const cellar_adjustment *fit, uint64_t index, double *out,
                                   cellar_error *err)
{
    double variance;
    const cellar_status status = cellar_adjustment_covariance(fit, index, index, &variance, err);
    *out = status == CELLAR_OK ? sqrt(variance) : NAN;
    return status == CELLAR_ERR_RULE ? CELLAR_OK : status;
}

static cellar_status comparison_row(const cellar_adjustment *fit, const cellar_rounding *rounding,
                                    int with_sd, uint64_t index, cellar_text *row,
                                    cellar_error *err)
{
    double sd = NAN;
    comparison_number(row, cellar_adjustment_observed(fit, index));
    cellar_text_add_char(row, ',');
    comparison_number(row, cellar_adjustment_estimate(fit, index));
    if (with_sd) {
        const cellar_status status = comparison_sd(fit, index, &sd, err);
        if (status != CELLAR_OK)
            return status;
        cellar_text_add_char(row, ',');
        comparison_number(row, sd);
    }
    if (rounding != NULL)
        cellar_text_printf(row, ",%lld", (long long) cellar_rounding_value(rounding, index));
    cellar_text_add_char(row, '\n');
    return CELLAR_OK;
}

cellar_status cellar_adjustment_write_comparison(const cellar_adjustment *fit,
                                                 const cellar_rounding *rounding, int with_sd,
                                                 cellar_output *output, cellar_error *err)
{
    const cellar_schema *schema = fit->schema;
    cellar_csv_fields *fields = NULL;
    cellar_text row = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_csv_fields_create(schema, 0, &fields, err));
    comparison_header(schema, with_sd, rounding != NULL, &row);
    for (uint64_t index = 0; index < fit->n; index++) {
        uint32_t categories[CELLAR_MAX_VARIABLES];
        if (cellar_schema_is_structural_zero(schema, index))
            continue;
        cellar_schema_categories(schema, index, categories);
        cellar_csv_fields_add(fields, categories, &row);
        CELLAR_TRY(comparison_row(fit, rounding, with_sd, index, &row, err));
        if (row.length >= CELLAR_CSV_FLUSH_BYTES)
            cellar_csv_flush(&row, output);
    }
    if (row.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a row of a CSV file"));
    cellar_csv_flush(&row, output);
out:
    cellar_csv_fields_free(fields);
    cellar_text_clear(&row);
    return status;
}
