/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The released numbers as a table. */
#include <inttypes.h>
#include <string.h>

#include "report/report.h"
#include "table/schema/schema.h"

/* The label, with the code when it says something else. */
void cellar_section_category(cellar_page *page, const cellar_schema *schema, size_t variable,
                             size_t category)
{
    const char *code = cellar_schema_code(schema, variable, category);
    const char *label = cellar_schema_n_languages(schema) > 0
                            ? cellar_schema_label(schema, variable, category, 0)
                            : NULL;
    if (label == NULL || *label == '\0' || strcmp(code, label) == 0)
        label = code;
    if (label == code && cellar_schema_role(schema, variable, category) == CELLAR_CODE_TOTAL)
        cellar_page_row_heading(page, "all");
    else if (label == code)
        cellar_page_row_heading(page, "%s", code);
    else
        cellar_page_row_heading(page, "%s (%s)", label, code);
}

static void table_row(cellar_page *page, const cellar_schema *schema, cellar_released_cell cell)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_schema_categories(schema, cell.index, categories);
    cellar_page_tag(page, "<tr>");
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        cellar_section_category(page, schema, v, categories[v]);
    if (cell.status == CELLAR_CELL_STRUCTURAL_ZERO)
        cellar_page_number(page, "cannot occur");
    else
        cellar_page_number(page, "%" PRId64, cell.released);
    cellar_page_row_end(page);
}

void cellar_section_table(cellar_page *page, const cellar_release *release, uint64_t max_rows)
{
    const cellar_schema *schema = cellar_release_schema(release);
    const size_t n = cellar_schema_n_variables(schema), listed = cellar_release_n_cells(release);
    const size_t shown = listed < max_rows ? listed : (size_t) max_rows;
    static const char *const headings[] = {"#released", NULL};
    const char *names[CELLAR_MAX_VARIABLES];

    cellar_page_paragraph(page, "The release lists %zu numbers of %" PRIu64 " cells.%s", listed,
                          cellar_schema_n_possible(schema),
                          listed == cellar_schema_n_possible(schema) ? ""
                          : cellar_release_below(release) == CELLAR_BELOW_SUPPRESS
                              ? " A cell that is not listed is suppressed, because its value was "
                                "below the threshold (it need not be 0), or cannot occur."
                          : schema->structural != NULL
                              ? " A cell that is not listed is a combination that cannot occur, or "
                                "it was released as 0, which is a number with noise like any other."
                              : " A cell that is not listed was released as 0, which is a number "
                                "with noise like any other.");
    if (shown == 0)
        return;
    for (size_t v = 0; v < n; v++)
        names[v] = cellar_schema_variable(schema, v);
    cellar_page_table_of(page,
                         shown < listed ? "The first rows; all are in the release itself"
                                        : "All listed numbers",
                         names, n, headings);
    for (size_t i = 0; i < shown; i++)
        table_row(page, schema, cellar_release_cell(release, i));
    cellar_page_table_end(page);
    if (shown < listed)
        cellar_page_remark(page, "small", "%zu of %zu rows.", shown, listed);
}
