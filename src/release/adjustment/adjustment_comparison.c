/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was released and what was made of it, side by side. */
#include <math.h>

#include "base/error.h"
#include "release/adjustment/adjustment.h"
#include "table/formats/csv_fields.h"
#include "table/schema/schema.h"

static void comparison_header(const cellar_estimate *estimate, cellar_text *row)
{
    const cellar_schema *schema = cellar_estimate_schema(estimate);
    for (size_t v = 0; v < schema->n_variables; v++) {
        cellar_csv_add_safe(row, schema->axes[v].name, 0);
        cellar_text_add_char(row, ',');
    }
    cellar_text_printf(row, "observed,unbiased%s%s\n",
                       cellar_estimate_has_errors(estimate) ? ",sd" : "",
                       cellar_estimate_has_whole(estimate) ? ",fitted" : "");
}

/* Nothing where nothing is known. */
static void comparison_number(cellar_text *row, double value)
{
    if (isfinite(value))
        cellar_text_printf(row, "%.15g", value);
}

static void comparison_row(const cellar_adjustment *fit, const cellar_estimate *estimate,
                           const cellar_estimated_cell *cell, cellar_text *row)
{
    comparison_number(row, cellar_adjustment_observed(fit, cell->index));
    cellar_text_add_char(row, ',');
    comparison_number(row, cell->value);
    if (cellar_estimate_has_errors(estimate)) {
        cellar_text_add_char(row, ',');
        comparison_number(row, cell->se);
    }
    if (cellar_estimate_has_whole(estimate))
        cellar_text_printf(row, ",%lld", (long long) cell->whole);
    cellar_text_add_char(row, '\n');
}

cellar_status cellar_adjustment_write_comparison(const cellar_adjustment *fit,
                                                 const cellar_estimate *estimate,
                                                 cellar_output *output, cellar_error *err)
{
    const cellar_schema *schema = fit->schema;
    cellar_csv_fields *fields = NULL;
    cellar_text row = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_csv_fields_create(schema, 0, &fields, err));
    comparison_header(estimate, &row);
    for (size_t i = 0; i < cellar_estimate_n_cells(estimate); i++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(estimate, i);
        uint32_t categories[CELLAR_MAX_VARIABLES];
        cellar_schema_categories(schema, cell.index, categories);
        cellar_csv_fields_add(fields, categories, &row);
        comparison_row(fit, estimate, &cell, &row);
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
