/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table as a reader sees it: the categories of the last variable side by side. */
#include <string.h>

#include "base/error.h"
#include "report/report.h"
#include "table/schema/schema.h"

enum { MAX_COLUMNS = 12 };

/* The label, with the code when it says something else. */
static void category_text(cellar_text *text, const cellar_schema *schema, size_t variable,
                          size_t category)
{
    const char *code = cellar_schema_code(schema, variable, category);
    const char *label = cellar_schema_n_languages(schema) > 0
                            ? cellar_schema_label(schema, variable, category, 0)
                            : NULL;
    if (label == NULL || *label == '\0' || strcmp(code, label) == 0)
        label = code;
    if (label == code && cellar_schema_role(schema, variable, category) == CELLAR_CODE_TOTAL)
        cellar_text_add_string(text, "all");
    else if (label == code)
        cellar_text_add_string(text, code);
    else
        cellar_text_printf(text, "%s (%s)", label, code);
}

void cellar_section_category(cellar_page *page, const cellar_schema *schema, size_t variable,
                             size_t category)
{
    cellar_text text = {0};
    category_text(&text, schema, variable, category);
    page->out.failed |= text.failed;
    cellar_page_row_heading(page, "%s", text.failed || text.bytes == NULL ? "" : text.bytes);
    cellar_text_clear(&text);
}

void cellar_section_headings(cellar_page *page, const cellar_schema *schema, uint64_t index,
                             size_t n)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_schema_categories(schema, index, categories);
    cellar_page_tag(page, "<tr>");
    for (size_t v = 0; v < n; v++)
        cellar_section_category(page, schema, v, categories[v]);
}

int cellar_section_crosstab_fits(const cellar_schema *schema, uint64_t max_rows)
{
    const size_t n = cellar_schema_n_variables(schema);
    const size_t columns = n > 0 ? cellar_schema_n_categories(schema, n - 1) : 0;
    return n > 1 && columns <= MAX_COLUMNS && cellar_schema_n_indices(schema) / columns <= max_rows;
}

static cellar_status crosstab_row(cellar_page *page, const cellar_section_cells *cells,
                                  uint64_t first, size_t columns, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int any = 0;
    for (size_t c = 0; c < columns; c++)
        any |= cellar_schema_has_cell(cells->schema, first + c);
    if (!any) /* a margin that is not released */
        return CELLAR_OK;
    cellar_section_headings(page, cells->schema, first,
                            cellar_schema_n_variables(cells->schema) - 1);
    for (size_t c = 0; c < columns && status == CELLAR_OK; c++)
        if (cellar_schema_has_cell(cells->schema, first + c))
            status = cells->value(cells->context, first + c, err);
        else
            cellar_page_number(page, "not released");
    cellar_page_row_end(page);
    return status;
}

cellar_status cellar_section_crosstab(cellar_page *page, const cellar_section_cells *cells,
                                      cellar_error *err)
{
    const cellar_schema *schema = cells->schema;
    const size_t last = cellar_schema_n_variables(schema) - 1;
    const size_t columns = cellar_schema_n_categories(schema, last);
    const uint64_t n = cellar_schema_n_indices(schema);
    const char *headings[MAX_COLUMNS + 1] = {NULL}, *names[CELLAR_MAX_VARIABLES];
    cellar_text texts[MAX_COLUMNS] = {{0}};
    int failed = 0;
    cellar_status status;
    for (size_t v = 0; v < last; v++)
        names[v] = cellar_schema_variable(schema, v);
    for (size_t c = 0; c < columns; c++) {
        cellar_text_add_char(&texts[c], '#');
        category_text(&texts[c], schema, last, c);
        failed |= texts[c].failed;
        headings[c] = texts[c].bytes;
    }
    status = failed ? cellar_fail_memory(err, "a table") : CELLAR_OK;
    if (status == CELLAR_OK)
        cellar_page_table_of(page, cells->caption, names, last, headings);
    for (uint64_t first = 0; first < n && status == CELLAR_OK; first += columns)
        status = crosstab_row(page, cells, first, columns, err);
    cellar_page_table_end(page);
    for (size_t c = 0; c < columns; c++)
        cellar_text_clear(&texts[c]);
    return status;
}
