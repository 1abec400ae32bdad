/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The released values: as a crosstab where it is small enough to read, else as a list; beside each
 * value the 95 % interval of the true count. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/report.h"
#include "table/formats/sheet.h"
#include "table/schema/schema.h"

enum { TABLE_MEMO = 512 };

/* Intervals found already; a value has one place. */
typedef struct table_memo {
    int64_t released;
    int known; /* 1 found, 2: there is none */
    double low, high;
} table_memo;

typedef struct table_run {
    cellar_page *page;
    const cellar_release *release;
    const cellar_schema *schema;
    const cellar_section_noise_of *noise; /* NULL: no intervals */
    table_memo *memo;
} table_run;

/* ---- one value ---------------------------------------------------------------------- */

static cellar_status table_interval(const table_run *run, int64_t released, table_memo **out,
                                    cellar_error *err)
{
    table_memo *memo = &run->memo[(uint64_t) released % TABLE_MEMO];
    cellar_interval interval;
    cellar_status status;
    *out = memo;
    if (memo->known != 0 && memo->released == released)
        return CELLAR_OK;
    status = cellar_section_interval(run->noise, released, &interval, err);
    if (status != CELLAR_OK && !cellar_page_is_answer(status))
        return status;
    *memo = (table_memo){released, status == CELLAR_OK ? 1 : 2, interval.low, interval.high};
    return CELLAR_OK;
}

/* "12 (5 to 19)" */
static cellar_status table_value(void *context, uint64_t index, cellar_error *err)
{
    const table_run *run = context;
    const cellar_released_cell cell = cellar_release_at(run->release, index);
    table_memo *memo = NULL;
    cellar_status status = CELLAR_OK;
    if (cell.status == CELLAR_CELL_STRUCTURAL_ZERO) {
        cellar_page_number(run->page, "cannot occur");
        return CELLAR_OK;
    }
    if (cell.status != CELLAR_CELL_NORMAL) { /* its value is not 0: it is not there */
        cellar_page_number(run->page, "%s", cellar_cell_status_name(cell.status));
        return CELLAR_OK;
    }
    if (run->noise != NULL)
        status = table_interval(run, cell.released, &memo, err);
    if (status != CELLAR_OK)
        return status;
    if (memo != NULL && memo->known == 1)
        cellar_page_number(run->page, "%" PRId64 " (%.0f to %.0f)", cell.released, memo->low,
                           memo->high);
    else
        cellar_page_number(run->page, "%" PRId64, cell.released);
    return CELLAR_OK;
}

static cellar_status crosstab(table_run *run, cellar_error *err)
{
    const size_t last = cellar_schema_n_variables(run->schema) - 1;
    cellar_section_cells cells = {.schema = run->schema, .value = table_value, .context = run};
    cellar_text caption = {0};
    cellar_status status;
    cellar_text_printf(&caption, "Released values by %s%s",
                       cellar_schema_variable(run->schema, last),
                       run->noise != NULL ? ", with 95 % intervals of the true counts" : "");
    cells.caption = caption.bytes;
    status = caption.failed ? cellar_fail_memory(err, "a table")
                            : cellar_section_crosstab(run->page, &cells, err);
    cellar_text_clear(&caption);
    return status;
}

/* ---- the same as a chart ------------------------------------------------------------------ */

/* The interval of a cell, and its value within; NAN where there is none. */
static cellar_status table_box(void *context, uint64_t index, cellar_chart_box *out,
                               cellar_error *err)
{
    const table_run *run = context;
    table_memo *memo;
    *out = (cellar_chart_box){NAN, NAN, NAN, NAN, NAN};
    if (!cellar_schema_has_cell(run->schema, index))
        return CELLAR_OK;
    const cellar_released_cell cell = cellar_release_at(run->release, index);
    if (cell.status != CELLAR_CELL_NORMAL)
        return CELLAR_OK;
    cellar_status status = table_interval(run, cell.released, &memo, err);
    if (status == CELLAR_OK && memo->known == 1)
        *out = (cellar_chart_box){memo->low, memo->low, (double) cell.released, memo->high,
                                  memo->high};
    return status;
}

/* ---- a list: the values that the release lists ------------------------------------------ */

static cellar_status list(table_run *run, const char *const *names, uint64_t max_rows,
                          cellar_error *err)
{
    static const char *const headings[] = {"#released", NULL};
    static const char *const with_intervals[] = {"#released (95 % interval of the true count)",
                                                 NULL};
    const size_t n = cellar_schema_n_variables(run->schema);
    const size_t listed = cellar_release_n_cells(run->release);
    const size_t shown = listed < max_rows ? listed : (size_t) max_rows;
    cellar_status status = CELLAR_OK;
    if (shown == 0)
        return CELLAR_OK;
    cellar_page_table_of(run->page,
                         shown < listed ? "The first rows; all are in the release itself"
                                        : "All listed values",
                         names, n, run->noise != NULL ? with_intervals : headings);
    for (size_t i = 0; i < shown && status == CELLAR_OK; i++) {
        const uint64_t index = cellar_release_cell(run->release, i).index;
        cellar_section_headings(run->page, run->schema, index, n);
        status = table_value(run, index, err);
        cellar_page_row_end(run->page);
    }
    cellar_page_table_end(run->page);
    if (shown < listed)
        cellar_page_remark(run->page, "small", "%zu of %zu rows.", shown, listed);
    return status;
}

/* ---- the section ------------------------------------------------------------------------ */

static void table_lead(const table_run *run, int is_crosstab)
{
    const cellar_schema *schema = run->schema;
    const size_t listed = cellar_release_n_cells(run->release);
    const uint64_t possible = cellar_schema_n_possible(schema);
    cellar_page_paragraph(run->page, "The release lists %zu value%s of %" PRIu64 " cell%s.%s",
                          listed, listed == 1 ? "" : "s", possible, possible == 1 ? "" : "s",
                          listed == possible ? ""
                          : cellar_release_below(run->release) == CELLAR_BELOW_SUPPRESS
                              ? " A cell that is not listed is suppressed, because its value was "
                                "below the threshold (it need not be 0), or cannot occur."
                          : schema->structural != NULL
                              ? " A cell that is not listed is a combination that cannot occur, or "
                                "it was released as 0, which is a value like any other."
                              : " A cell that is not listed was released as 0, which is a value "
                                "like any other.");
    if (run->noise != NULL && (is_crosstab || listed > 0))
        cellar_page_paragraph(run->page, "In parentheses stands the 95 %% interval of the true "
                                         "count, from the noise of that cell alone. It holds with "
                                         "probability 0.95 at least: of many intervals, on average "
                                         "no more than one in twenty misses.");
}

cellar_status cellar_section_table(cellar_page *page, const cellar_release *release,
                                   uint64_t max_rows, const cellar_section_noise_of *noise,
                                   cellar_error *err)
{
    table_run run = {page, release, cellar_release_schema(release), noise, NULL};
    const size_t n = cellar_schema_n_variables(run.schema);
    const char *names[CELLAR_MAX_VARIABLES];
    const int is_crosstab = cellar_section_crosstab_fits(run.schema, max_rows);
    cellar_status status;
    run.memo = cellar_alloc(TABLE_MEMO, sizeof *run.memo);
    if (run.memo == NULL)
        return cellar_fail_memory(err, "a table");
    for (size_t v = 0; v < n; v++)
        names[v] = cellar_schema_variable(run.schema, v);
    table_lead(&run, is_crosstab);
    status = is_crosstab ? crosstab(&run, err) : list(&run, names, max_rows, err);
    if (status == CELLAR_OK && is_crosstab && noise != NULL)
        status = cellar_section_chart(
            page,
            &(cellar_section_boxes){run.schema, noise->id, "the released value", table_box, &run},
            err);
    cellar_free(run.memo);
    return status;
}
