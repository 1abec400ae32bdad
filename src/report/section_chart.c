/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of two variables as a chart: for each category of the first a box for each of the second,
 * from the lower to the upper end of the interval. */
#include "base/error.h"
#include "report/report.h"
#include "table/schema/schema.h"

enum { CHART_ROWS = 16, CHART_COLUMNS = 6 };

/* The categories of a variable but its total, which would dwarf them: how many there are, and the
 * first of them. */
static size_t chart_categories(const cellar_schema *schema, size_t variable, uint32_t *out,
                               size_t max)
{
    size_t n = 0;
    for (uint32_t c = 0; c < cellar_schema_n_categories(schema, variable); c++)
        if (cellar_schema_role(schema, variable, c) != CELLAR_CODE_TOTAL && n++ < max)
            out[n - 1] = c;
    return n;
}

static cellar_status chart_fill(const cellar_section_boxes *cells, const uint32_t *rows,
                                size_t n_rows, const uint32_t *columns, size_t n_columns,
                                cellar_chart *chart, cellar_error *err)
{
    const cellar_schema *schema = cells->schema;
    const char *names[CHART_ROWS];
    cellar_chart_box boxes[CHART_ROWS];
    cellar_status status;
    for (size_t r = 0; r < n_rows; r++)
        names[r] = cellar_schema_code(schema, 0, rows[r]);
    status = cellar_chart_set_categories(chart, names, n_rows, err);
    for (size_t c = 0; c < n_columns && status == CELLAR_OK; c++) {
        for (size_t r = 0; r < n_rows && status == CELLAR_OK; r++)
            status = cells->box(cells->context,
                                rows[r] * cellar_schema_n_categories(schema, 1) + columns[c],
                                &boxes[r], err);
        if (status == CELLAR_OK)
            status = cellar_chart_add_boxes(chart, cellar_schema_code(schema, 1, columns[c]), boxes,
                                            n_rows, err);
    }
    return status;
}

/* Says what the chart leaves out. */
static void chart_part(size_t n, size_t all, const char *variable, cellar_text *out)
{
    if (n < all)
        cellar_text_printf(out, " Of %s the first %zu of %zu categories are drawn.", variable, n,
                           all);
}

cellar_status cellar_section_chart(cellar_page *page, const cellar_section_boxes *cells,
                                   cellar_error *err)
{
    const cellar_schema *schema = cells->schema;
    uint32_t rows[CHART_ROWS], columns[CHART_COLUMNS];
    cellar_chart_options options = cellar_chart_options_default();
    cellar_chart *chart = NULL;
    cellar_text description = {0};
    cellar_status status = CELLAR_OK;
    if (cellar_schema_n_variables(schema) != 2)
        return CELLAR_OK;
    const size_t all_rows = chart_categories(schema, 0, rows, CHART_ROWS);
    const size_t all_columns = chart_categories(schema, 1, columns, CHART_COLUMNS);
    const size_t n_rows = all_rows < CHART_ROWS ? all_rows : CHART_ROWS;
    const size_t n_columns = all_columns < CHART_COLUMNS ? all_columns : CHART_COLUMNS;
    if (n_rows < 2 || n_columns < 1)
        return CELLAR_OK;
    cellar_text_printf(&description,
                       "A box reaches from the lower to the upper end of the 95 %% interval of the "
                       "true count; the line in it is %s.",
                       cells->line);
    chart_part(n_rows, all_rows, cellar_schema_variable(schema, 0), &description);
    chart_part(n_columns, all_columns, cellar_schema_variable(schema, 1), &description);
    if (description.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a chart"));
    options.title = "The values, each with its interval";
    options.description = description.bytes;
    options.x.label = cellar_schema_variable(schema, 0);
    options.y.label = "count";
    CELLAR_TRY(cellar_page_chart_create(page, &options, &chart, err));
    CELLAR_TRY(chart_fill(cells, rows, n_rows, columns, n_columns, chart, err));
    CELLAR_TRY(cellar_page_chart(page, cells->id, chart, err));
out:
    cellar_chart_free(chart);
    cellar_text_clear(&description);
    return status;
}
