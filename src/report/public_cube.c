/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page about a cube for the public: its guarantee, a few of its tables, the error of each, its
 * certificate, and how to ask for any other table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/cube_inference.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/cube.h"
#include "release/files/description.h"
#include "report/public.h"

enum { TABLES_SHOWN = 4, ERRORS_SHOWN = 40, COLUMNS_MAX = 11 };
static const double CONFIDENCE = 0.95;

typedef struct cube_page {
    const cellar_cube *cube;
    const cellar_report_options *options;
    cellar_page page;
} cube_page;

static const char *described(const cube_page *run, const char *key)
{
    const char *word = json_string_value(json_object_get(run->cube->description, key));
    return word != NULL ? word : "not stated";
}

static const char *file_name(const cube_page *run)
{
    return run->options->names != NULL ? run->options->names[0] : "FILE.cube";
}

/* ---- a table of the cube ---------------------------------------------------------------- */

typedef struct cube_table {
    cellar_page *page;
    cellar_estimate *estimate;
    double *half_widths;
} cube_table;

/* "12 (5 to 19)" */
static cellar_status table_value(void *context, uint64_t index, cellar_error *err)
{
    const cube_table *table = context;
    const cellar_estimated_cell cell = cellar_estimate_at(table->estimate, index);
    const double half = table->half_widths[index];
    (void) err;
    cellar_page_number(table->page, "%.0f (%.0f to %.0f)", cell.value, floor(cell.value - half),
                       ceil(cell.value + half));
    return CELLAR_OK;
}

static cellar_status table_box(void *context, uint64_t index, cellar_chart_box *out,
                               cellar_error *err)
{
    const cube_table *table = context;
    const double value = cellar_estimate_at(table->estimate, index).value;
    const double low = value - table->half_widths[index], high = value + table->half_widths[index];
    (void) err;
    *out = (cellar_chart_box){low, low, value, high, high};
    return CELLAR_OK;
}

static cellar_status table_list(const cube_table *table, uint64_t max_rows, cellar_error *err)
{
    static const char *const headings[] = {"#estimate (95 % interval of the true count)", NULL};
    const cellar_schema *schema = cellar_estimate_schema(table->estimate);
    const size_t n = cellar_schema_n_variables(schema);
    const size_t n_cells = cellar_estimate_n_cells(table->estimate);
    const char *names[CELLAR_MAX_VARIABLES];
    cellar_status status = CELLAR_OK;
    for (size_t v = 0; v < n; v++)
        names[v] = cellar_schema_variable(schema, v);
    cellar_page_table_of(table->page, "Estimates", names, n, headings);
    for (size_t i = 0; i < n_cells && i < max_rows && status == CELLAR_OK; i++) {
        cellar_section_headings(table->page, schema, i, n);
        status = table_value((void *) table, i, err);
        cellar_page_row_end(table->page);
    }
    cellar_page_table_end(table->page);
    if (n_cells > max_rows)
        cellar_page_remark(table->page, "small", "%llu of %zu rows.", (unsigned long long) max_rows,
                           n_cells);
    return status;
}

static cellar_status table_show(cube_page *run, const cellar_cube_question *question,
                                const char *id, cellar_error *err)
{
    cube_table table = {.page = &run->page};
    cellar_section_cells cells = {.caption = "Estimates, with 95 % intervals of the true counts",
                                  .value = table_value,
                                  .context = &table};
    cellar_status status = CELLAR_OK;
    size_t n;
    CELLAR_TRY(cellar_cube_ask(run->cube, question, &table.estimate, err));
    n = cellar_estimate_n_cells(table.estimate);
    table.half_widths = cellar_alloc(n, sizeof *table.half_widths);
    if (table.half_widths == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a table"));
    CELLAR_TRY(
        cellar_cube_half_widths(run->cube, question, CONFIDENCE, 0, table.half_widths, n, err));
    cells.schema = cellar_estimate_schema(table.estimate);
    if (cellar_section_crosstab_fits(cells.schema, run->options->max_rows))
        CELLAR_TRY(cellar_section_crosstab(&run->page, &cells, err));
    else
        CELLAR_TRY(table_list(&table, run->options->max_rows, err));
    CELLAR_TRY(cellar_section_chart(
        &run->page, &(cellar_section_boxes){cells.schema, id, "the estimate", table_box, &table},
        err));
out:
    cellar_estimate_free(table.estimate);
    cellar_free(table.half_widths);
    return status;
}

/* ---- which tables ----------------------------------------------------------------------------
 */

/* A table of two variables at their finest levels that can be read as a crosstab; the variable
 * with fewer categories comes last. */
static int is_readable(const cube_page *run, uint32_t t, cellar_cube_side sides[2])
{
    const cube_space *space = &run->cube->lattice.spaces[t];
    uint32_t n[2];
    size_t last;
    if (space->order != 2)
        return 0;
    for (size_t i = 0; i < 2; i++) {
        const cube_axis *axis = &run->cube->lattice.axes[space->variable[i]];
        if (space->level[i] != axis->n_levels)
            return 0;
        n[i] = axis->n[space->level[i]];
    }
    last = n[1] <= n[0] ? 1 : 0;
    for (size_t i = 0; i < 2; i++)
        sides[i == last] =
            (cellar_cube_side){.variable = run->cube->variables[space->variable[i]].name};
    return n[last] <= COLUMNS_MAX && n[1 - last] < run->options->max_rows;
}

static cellar_status show_table(cube_page *run, const cellar_cube_question *question, size_t i,
                                cellar_error *err)
{
    cellar_text title = {0};
    char id[32], chart[40];
    for (size_t s = 0; s < question->n_sides; s++)
        cellar_text_printf(&title, "%s%s", s > 0 ? " by " : "", question->sides[s].variable);
    snprintf(id, sizeof id, "table-%zu", i + 1);
    run->page.out.failed |= title.failed;
    cellar_page_heading(&run->page, 3, id, "%s",
                        question->n_sides > 0 && !title.failed ? title.bytes : "Everybody");
    cellar_text_clear(&title);
    snprintf(chart, sizeof chart, "table-%zu-chart", i + 1);
    return table_show(run, question, chart, err);
}

static cellar_status show_tables(cube_page *run, const cellar_cube_question *questions, size_t n,
                                 cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t shown = 0;
    cellar_page_heading(&run->page, 2, "tables", "Some of its tables");
    cellar_page_paragraph(
        &run->page,
        "Each number is an estimate: the true count with random noise, computed from all measured "
        "tables together, so that every total adds, within a table and between tables (up to the "
        "rounding on this page). Small estimates can be negative. In parentheses stands the 95 %% "
        "interval of the true count, from the noise alone.");
    for (size_t i = 0; i < n && status == CELLAR_OK; i++)
        status = show_table(run, &questions[i], shown++, err);
    for (uint32_t t = 0; n == 0 && t < run->cube->lattice.n && shown < TABLES_SHOWN; t++) {
        cellar_cube_side sides[2];
        const cellar_cube_question question = {sides, 2, 1};
        if (status == CELLAR_OK && is_readable(run, t, sides))
            status = show_table(run, &question, shown++, err);
    }
    return status;
}

/* ---- errors, facts ------------------------------------------------------------------------------
 */

static cellar_status show_errors(cube_page *run, cellar_error *err)
{
    static const char *const headings[] = {"table", "#cells", "#standard error of a cell",
                                           "measured itself", NULL};
    const size_t n = cellar_cube_n_tables(run->cube);
    cellar_status status = CELLAR_OK;
    cellar_page_heading(&run->page, 2, "errors", "The error of every table");
    cellar_page_paragraph(&run->page,
                          "The noise does not depend on the counts, so errors are known exactly: "
                          "here the largest of each table. A 95 %% interval is about twice as wide "
                          "on each side.");
    cellar_page_table_begin(&run->page, "Standard errors by table", headings);
    for (size_t t = 0; t < n && t < ERRORS_SHOWN && status == CELLAR_OK; t++) {
        cellar_cube_table_info info;
        status = cellar_cube_table_at(run->cube, t, &info, err);
        cellar_page_row_begin(&run->page, "%s", status == CELLAR_OK ? info.name : "");
        cellar_page_number(&run->page, "%llu", (unsigned long long) info.n_cells);
        cellar_page_number(&run->page, "%.3g", info.sd);
        cellar_page_cell(&run->page, "%s",
                         info.is_exact            ? "exact"
                         : info.mechanism != NULL ? info.mechanism
                                                  : "no");
        cellar_page_row_end(&run->page);
    }
    cellar_page_table_end(&run->page);
    if (n > ERRORS_SHOWN)
        cellar_page_remark(&run->page, "small", "%d of %zu tables; cellar cube show lists all.",
                           ERRORS_SHOWN, n);
    return status;
}

static void show_facts(cube_page *run)
{
    cellar_page *page = &run->page;
    const size_t n_measurements =
        json_array_size(json_object_get(run->cube->description, "measurements"));
    size_t n_measured = 0;
    for (size_t t = 0; t < run->cube->lattice.n; t++)
        n_measured += run->cube->w[t] > 0;
    cellar_page_heading(page, 2, "released", "What is released");
    cellar_page_tag(page, "<dl>\n");
    cellar_page_fact(page, "File", "%s", file_name(run));
    cellar_page_fact(page, "Released on", "%s", described(run, "date"));
    cellar_page_fact(page, "Tables", "%zu, of which %zu were measured with noise",
                     run->cube->lattice.n, n_measured);
    if (n_measurements > 1)
        cellar_page_fact(page, "Measured",
                         "%zu times: tables were added to a cube that was published before, and "
                         "the values of both differ slightly",
                         n_measurements);
    cellar_page_fact(page, "Noise drawn from", "%s",
                     strcmp(described(run, "noise"), "secure") == 0
                         ? "the system's entropy, never stored"
                         : described(run, "noise"));
    cellar_page_fact(page, "Charged to the ledger", "%s", described(run, "ledger"));
    cellar_page_tag(page, "</dl>\n");
}

static void show_commands(cube_page *run)
{
    cellar_page *page = &run->page;
    const char *name = file_name(run), *variable = run->cube->variables[0].name;
    cellar_page_heading(page, 2, "ask", "Any other table");
    cellar_page_paragraph(page, "Everything on this page, and every other table of the universe, "
                                "comes from the file alone; asking costs no privacy.");
    cellar_page_command(page, "cellar cube show %s", name);
    cellar_page_command(page, "cellar cube table %s --by %s --margins --interval 0.95", name,
                        variable);
    cellar_page_command(page, "cellar infer interval %s --of '%s=CODE' --minus '%s=CODE'", name,
                        variable, variable);
    cellar_page_paragraph(page, "The last command shows whether noise alone could explain a "
                                "difference. Adding squares of standard errors is wrong: errors of "
                                "estimates are correlated, and the commands know how.");
}

/* ---- the page
 * ------------------------------------------------------------------------------------
 */

static void show_head(cube_page *run, const json_t *certificate)
{
    cellar_page *page = &run->page;
    const char *title = json_string_value(json_object_get(run->cube->description, "title"));
    cellar_protection_level level;
    cellar_page_begin(page, run->options->title != NULL ? run->options->title
                            : title != NULL             ? title
                                                        : "About this cube");
    cellar_section_guarantee(page, certificate, 1);
    cellar_page_remark(page, "lead",
                       "Random noise was put on the tables that this cube was made from, to "
                       "protect the people who were counted. This page shows some of its tables, "
                       "how exact each is, and what is proved about the protection.");
    cellar_public_signer(page, run->options->signer);
    if (cellar_level_find(described(run, "protection"), &level))
        cellar_public_level(page, level);
    if (strcmp(described(run, "ledger"), CELLAR_RELEASE_UNACCOUNTED) == 0)
        cellar_public_unaccounted(page);
    cellar_page_tag(page, "<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#tables\">Some of its "
                          "tables</a></li>\n<li><a href=\"#errors\">The error of every "
                          "table</a></li>\n<li><a href=\"#ask\">Any other table</a></li>\n<li><a "
                          "href=\"#released\">What is released</a></li>\n<li><a "
                          "href=\"#certificate\">What the certificate says</a></li>\n<li><a "
                          "href=\"#not-covered\">What is not covered</a></li>\n</ul></nav>\n");
}

static cellar_status cube_page_write(cube_page *run, const cellar_cube_question *questions,
                                     size_t n, cellar_error *err)
{
    const json_t *certificate = json_object_get(run->cube->description, "certificate");
    cellar_page *page = &run->page;
    cellar_status status = CELLAR_OK;
    show_head(run, certificate);
    CELLAR_TRY(show_tables(run, questions, n, err));
    CELLAR_TRY(show_errors(run, err));
    show_commands(run);
    show_facts(run);
    cellar_page_heading(page, 2, "certificate", "What the certificate says");
    cellar_section_certificate(page, certificate, 0);
    cellar_page_heading(page, 2, "not-covered", "What is not covered");
    cellar_section_not_covered(page);
    cellar_page_end(page);
out:
    return status;
}

cellar_status cellar_report_cube(const cellar_cube *cube, const cellar_cube_question *questions,
                                 size_t n, const cellar_report_options *options, const char *path,
                                 cellar_error *err)
{
    const cellar_report_options plain = cellar_report_options_default();
    cube_page run = {.cube = cube, .options = options != NULL ? options : &plain};
    const cellar_output_options how = {.replace = run.options->replace, .shared = 1};
    cellar_output *output = NULL;
    cellar_status status;
    run.page.charts = run.options->charts;
    run.page.replace = run.options->replace;
    status = cellar_output_open(path, &how, &output, err);
    if (status == CELLAR_OK)
        status = cube_page_write(&run, questions, n, err);
    return cellar_page_finish(&run.page, output, status, err);
}
