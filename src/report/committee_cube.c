/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The committee's page about a plan with a universe: the cube that will be built, its errors
 * against the true tables, and the homogeneity attack on the tables that an attacker would ask for.
 */
#include "report/committee_cube.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "plan/cube_design.h"
#include "privacy/certificate.h"
#include "report/committee.h"

/* Tables whose errors are listed, and tables that are attacked. */
enum { LISTED_MAX = 60, ATTACKED_MAX = 4 };

typedef struct cube_committee {
    const cellar_plan *plan;
    const cellar_plan_attack *attack;
    const cellar_committee_options *what;
    const cellar_report_options *options;
    cellar_cube_design *design;
    cellar_page page;
    uint32_t listed[LISTED_MAX + ATTACKED_MAX];          /* tables that are counted */
    size_t n_listed, n_attacked;                         /* the last n_attacked are attacked */
    cellar_tabulate_set sets[LISTED_MAX + ATTACKED_MAX]; /* their variables */
    cellar_table *counts[LISTED_MAX + ATTACKED_MAX];     /* confidential */
} cube_committee;

static const cube_lattice *lattice_of(const cube_committee *run)
{
    return &run->design->cube->lattice;
}

/* ---- which tables --------------------------------------------------------------------------- */

/* How many of the named variables a table has, all at their finest levels. */
static size_t n_named(const cube_committee *run, const cube_space *space, const char *const *names,
                      size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < space->order; k++)
            found += strcmp(run->design->cube->variables[space->variable[k]].name, names[i]) == 0 &&
                     space->level[k] == lattice_of(run)->axes[space->variable[k]].n_levels;
    return found;
}

/* 1 when the attack can use a table: all that is sensitive, something known, and nothing else. */
static int is_attackable(const cube_committee *run, uint32_t t)
{
    const cube_space *space = &lattice_of(run)->spaces[t];
    const size_t known = n_named(run, space, run->attack->known, run->attack->n_known);
    const size_t sensitive = n_named(run, space, run->attack->sensitive, run->attack->n_sensitive);
    return known > 0 && sensitive == run->attack->n_sensitive && known + sensitive == space->order;
}

/* 1 when the attack can use a table above this one. */
static int is_surpassed(const cube_committee *run, uint32_t t)
{
    const cube_lattice *l = lattice_of(run);
    for (uint32_t a = 0; a < l->n; a++)
        for (size_t k = l->start[a]; a != t && k < l->start[a + 1]; k++)
            if (l->below[k] == t && is_attackable(run, a))
                return 1;
    return 0;
}

static void choose_tables(cube_committee *run)
{
    const cube_lattice *l = lattice_of(run);
    for (uint32_t t = 0; t < l->n && run->n_listed < LISTED_MAX; t++)
        run->listed[run->n_listed++] = t;
    for (uint32_t t = 0; t < l->n && run->n_attacked < ATTACKED_MAX; t++)
        if (is_attackable(run, t) && !is_surpassed(run, t))
            run->listed[run->n_listed + run->n_attacked++] = t;
    run->n_listed += run->n_attacked;
    for (size_t i = 0; i < run->n_listed; i++) {
        const cube_space *space = &l->spaces[run->listed[i]];
        run->sets[i].n = space->order > 0 ? space->order : 1; /* the total: of any variable */
        memcpy(run->sets[i].variables, space->variable, space->order);
    }
}

/* Counts all of them in one pass, at the finest levels. */
static cellar_status count_tables(cube_committee *run, cellar_error *err)
{
    const cellar_plan_options reading = {.n_threads = run->what->n_threads,
                                         .progress = run->options->progress};
    cellar_variable_spec variables[CELLAR_MAX_VARIABLES];
    size_t all[CELLAR_MAX_VARIABLES];
    cellar_tabulate_spec spec;
    for (size_t v = 0; v < run->plan->variables.n; v++)
        all[v] = v;
    spec = cellar_plan_tabulate_spec(run->plan, all, run->plan->variables.n, &reading, variables);
    return cellar_tabulate_many(&spec, run->sets, run->n_listed, run->counts, NULL, err);
}

/* ---- errors against the true tables ------------------------------------------------------------
 */

/* The true cells of a table at its own levels. Free it with cellar_free(). */
static double *true_cells(const cube_committee *run, size_t i)
{
    const cube_lattice *l = lattice_of(run);
    const cube_space *space = &l->spaces[run->listed[i]];
    const cellar_table *counts = run->counts[i];
    double *cells = cellar_alloc((size_t) l->n_cells[run->listed[i]], sizeof *cells);
    for (size_t k = 0; cells != NULL && k < cellar_table_n_cells(counts); k++) {
        const cellar_cell cell = cellar_table_cell(counts, k);
        uint32_t categories[CELLAR_MAX_VARIABLES];
        size_t at = 0;
        cellar_schema_categories(cellar_table_schema(counts), cell.index, categories);
        for (size_t s = 0; s < space->order; s++) {
            const cube_axis *axis = &l->axes[space->variable[s]];
            uint32_t node = categories[s];
            for (size_t level = axis->n_levels; level > space->level[s]; level--)
                node = cube_axis_parent(axis, level, node);
            at = at * axis->n[space->level[s]] + node;
        }
        cells[at] += (double) cell.count;
    }
    return cells;
}

/* The root mean square distance of a built cube's table from the true one; NAN without a cube. */
static double distance(const cube_committee *run, uint32_t t, const double *cells, size_t n)
{
    const cellar_cube *cube = run->what->cube;
    double sum = 0;
    if (cube == NULL)
        return NAN;
    for (size_t k = 0; k < n; k++) {
        const double away = (double) cube->tables[t].values[k] / pow(10, cube->decimals) - cells[k];
        sum += away * away;
    }
    return sqrt(sum / (double) n);
}

/* 1: tables are added to a published cube. */
static int is_extension(const cube_committee *run)
{
    return cellar_cube_design_together(run->design) != NULL;
}

static cellar_status error_row(cube_committee *run, size_t i, cellar_error *err)
{
    const cellar_cube_design_table table = cellar_cube_design_table_at(run->design, run->listed[i]);
    const size_t n = (size_t) table.n_cells;
    double *cells = true_cells(run, i), total = 0, rms, lost = 0;
    if (cells == NULL)
        return cellar_fail_memory(err, "a table");
    for (size_t k = 0; k < n; k++) {
        total += cells[k];
        lost += cells[k] < 2 * table.sd;
    }
    rms = distance(run, run->listed[i], cells, n);
    cellar_free(cells);
    cellar_page_row_begin(&run->page, "%s", table.name);
    cellar_page_number(&run->page, "%zu", n);
    cellar_page_number(&run->page, "%.*f", total < 100 * (double) n ? 1 : 0, total / (double) n);
    cellar_page_number(&run->page, "%.3g", table.sd);
    cellar_page_number(&run->page, "%.2g", total > 0 ? table.sd * (double) n / total : NAN);
    cellar_page_share(&run->page, lost / (double) n);
    if (is_extension(run) && isnan(table.before_sd)) {
        cellar_page_number(&run->page, "new");
    } else if (is_extension(run)) {
        cellar_page_number(&run->page, "%.3g", table.before_sd);
    } else {
        cellar_page_number(&run->page, "%.3g", table.independent_sd);
        cellar_page_number(&run->page, "%.3g", table.inner_sd);
    }
    if (!isnan(rms))
        cellar_page_number(&run->page, "%.3g", rms);
    cellar_page_row_end(&run->page);
    return CELLAR_OK;
}

static cellar_status show_errors(cube_committee *run, cellar_error *err)
{
    const char *const measured = run->what->cube != NULL ? "#rms error of the cube" : NULL;
    const char *headings[] = {"table",
                              "#cells",
                              "#people a cell, mean",
                              "#standard error",
                              "#over the mean",
                              "#cells below twice the error",
                              is_extension(run) ? "#published before" : "#independent noise",
                              is_extension(run) ? measured : "#inner cells only",
                              is_extension(run) ? NULL : measured,
                              NULL};
    const size_t n = run->n_listed - run->n_attacked;
    cellar_status status = CELLAR_OK;
    cellar_page_heading(&run->page, 2, "errors", "Errors against the true tables");
    cellar_page_paragraph(
        &run->page,
        "The standard error of a cell depends on no count. Beside it stands what it means for "
        "these people: its size over the mean cell, and the share of cells with fewer people than "
        "twice the error, which users cannot tell from empty ones. %s",
        is_extension(run)
            ? "The last column shows the standard error in the cube that was published before."
            : "The last columns show what the same budget gives when every table has noise of its "
              "own, and when users add up the finest tables.");
    cellar_page_table_begin(&run->page, "Expected errors by table", headings);
    for (size_t i = 0; i < n && status == CELLAR_OK; i++)
        status = error_row(run, i, err);
    cellar_page_table_end(&run->page);
    if (n < lattice_of(run)->n)
        cellar_page_remark(&run->page, "small", "%zu of %zu tables; cellar cube compare lists all.",
                           n, lattice_of(run)->n);
    return status;
}

/* ---- the attack ---------------------------------------------------------------------------------
 */

/* Positions of variables in the table that was counted. */
static size_t find_columns(const cellar_schema *schema, const char *const *names, size_t n,
                           size_t *out)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t v = cellar_schema_find_variable(schema, names[i]);
        if (v != CELLAR_NO_CODE)
            out[found++] = v;
    }
    return found;
}

static cellar_status attack_table(cube_committee *run, size_t i, cellar_error *err)
{
    const cellar_cube_design_table table = cellar_cube_design_table_at(run->design, run->listed[i]);
    size_t variables[2 * CELLAR_MAX_VARIABLES];
    char spec[64], id[32];
    const char *mechanism = spec;
    cellar_committee_options what = *run->what;
    cellar_committee own = {.table = run->counts[i],
                            .schema = cellar_table_schema(run->counts[i]),
                            .what = &what,
                            .options = run->options,
                            .page = run->page,
                            .is_of_plan = 1};
    cellar_status status;
    snprintf(spec, sizeof spec, "discrete-gaussian:sigma=%.6g", table.sd);
    what.qid = variables;
    what.n_qid = find_columns(own.schema, run->attack->known, run->attack->n_known, variables);
    what.sensitive = variables + what.n_qid;
    what.n_sensitive = find_columns(own.schema, run->attack->sensitive, run->attack->n_sensitive,
                                    variables + what.n_qid);
    what.mechanisms = &mechanism;
    what.n_mechanisms = 1;
    snprintf(id, sizeof id, "attack-%zu", i + 1);
    cellar_page_heading(&own.page, 3, id, "%s", table.name);
    status = cellar_committee_open(&own, err);
    if (status == CELLAR_OK)
        status = cellar_committee_summary(&own, err);
    if (status == CELLAR_OK)
        status = cellar_committee_groups(&own, err);
    cellar_committee_close(&own);
    run->page = own.page;
    return status;
}

static cellar_status show_attacks(cube_committee *run, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_page_heading(&run->page, 2, "risk", "The homogeneity attack");
    if (run->n_attacked == 0) {
        cellar_page_paragraph(&run->page,
                              "No table of the universe crosses the sensitive columns with one "
                              "that the attacker knows: the attack cannot use this cube.");
        return CELLAR_OK;
    }
    cellar_page_paragraph(
        &run->page,
        "The attacker asks the cube for the finest tables that cross what is known with what is "
        "sensitive. Independent discrete Gaussian noise with the standard error of a cell stands "
        "in for the noise of the cube, whose errors are correlated.");
    cellar_page_remark(&run->page, "warn",
                       "Risks below are those of each table by itself. Somebody who combines "
                       "tables of the cube can do more: the risks are lower bounds.");
    for (size_t i = run->n_listed - run->n_attacked; i < run->n_listed && status == CELLAR_OK; i++)
        status = attack_table(run, i, err);
    return status;
}

/* ---- the page
 * -------------------------------------------------------------------------------------
 */

static void show_head(cube_committee *run, const json_t *certificate)
{
    const cellar_plan *plan = run->plan;
    const plan_work *work = &run->design->work;
    cellar_page *page = &run->page;
    cellar_page_begin(page, run->options->title != NULL ? run->options->title
                            : plan->title != NULL       ? plan->title
                                                        : "For the release committee");
    cellar_page_remark(
        page, "lead",
        "This page shows the cube that the plan will build, how far its tables are from the true "
        "ones, what somebody can learn from it, and what is proved about it. Everything here was "
        "computed from true counts: the page must stay within the committee.");
    cellar_section_guarantee(page, certificate, 1);
    cellar_page_tag(page, "<dl>\n");
    cellar_page_fact(page, "Plan", "%s", plan->name);
    cellar_page_fact(page, "Unit", "%s, at most %llu record%s",
                     plan->unit.name != NULL ? plan->unit.name : "record",
                     (unsigned long long) work->per_unit, work->per_unit == 1 ? "" : "s");
    cellar_page_fact(page, "Neighbours", "%s", work->n_sides == 2 ? "substitute" : "add-remove");
    cellar_page_fact(page, "Tables", "%zu, of which %zu are measured with noise",
                     lattice_of(run)->n, cellar_cube_design_n_measured(run->design));
    cellar_page_tag(page, "</dl>\n");
    cellar_page_tag(page, "<nav aria-label=\"Contents\"><ul>\n"
                          "<li><a href=\"#errors\">Errors against the true tables</a></li>\n"
                          "<li><a href=\"#risk\">The homogeneity attack</a></li>\n"
                          "<li><a href=\"#certificate\">The certificate</a></li>\n"
                          "<li><a href=\"#not-covered\">What is not covered</a></li>\n"
                          "<li><a href=\"#checklist\">Checklist</a></li>\n</ul></nav>\n");
}

static cellar_status cube_committee_write(cube_committee *run, cellar_error *err)
{
    json_t *certificate =
        cellar_certificate_json(is_extension(run) ? cellar_cube_design_together(run->design)
                                                  : cellar_cube_design_certificate(run->design));
    cellar_page *page = &run->page;
    cellar_status status = CELLAR_OK;
    if (certificate == NULL)
        return cellar_fail_memory(err, "a certificate");
    show_head(run, certificate);
    CELLAR_TRY(show_errors(run, err));
    CELLAR_TRY(show_attacks(run, err));
    cellar_page_heading(page, 2, "certificate", "The certificate");
    cellar_page_paragraph(page, "Of the whole cube, and of everything computed from it.");
    cellar_section_certificate(page, certificate, 0);
    cellar_page_heading(page, 2, "not-covered", "What is not covered");
    cellar_committee_not_covered(page);
    cellar_page_heading(page, 2, "checklist", "Checklist");
    cellar_committee_checklist(page);
    cellar_page_end(page);
out:
    json_decref(certificate);
    return status;
}

/* A cube that was built has to be this plan's: the same tables of the same sizes. */
static cellar_status check_cube(const cube_committee *run, cellar_error *err)
{
    const cellar_cube *cube = run->what->cube;
    const cube_lattice *l = lattice_of(run);
    int same = cube == NULL || cube->lattice.n == l->n;
    for (size_t t = 0; cube != NULL && same && t < l->n; t++)
        same = memcmp(&cube->lattice.spaces[t], &l->spaces[t], sizeof *l->spaces) == 0 &&
               cube->lattice.n_cells[t] == l->n_cells[t];
    return same ? CELLAR_OK
                : cellar_fail(err, CELLAR_ERR_ARGUMENT, "the cube is of another universe than %s",
                              run->plan->name);
}

cellar_status cellar_committee_cube(const cellar_plan *plan, const cellar_plan_attack *attack,
                                    const cellar_committee_options *committee,
                                    const cellar_report_options *options, const char *path,
                                    cellar_error *err)
{
    cube_committee *run = cellar_alloc(1, sizeof *run);
    const cellar_output_options how = {.replace = options->replace};
    cellar_output *output = NULL;
    cellar_status status;
    if (run == NULL)
        return cellar_fail_memory(err, "a page");
    *run = (cube_committee){.plan = plan, .attack = attack, .what = committee, .options = options};
    run->page.charts = options->charts;
    run->page.replace = options->replace;
    run->page.confidential = 1;
    status = cellar_output_open(path, &how, &output, err);
    if (status == CELLAR_OK)
        status = cellar_cube_design_create(plan, &run->design, err);
    if (status == CELLAR_OK)
        status = check_cube(run, err);
    if (status == CELLAR_OK) {
        choose_tables(run);
        status = count_tables(run, err);
    }
    if (status == CELLAR_OK)
        status = cube_committee_write(run, err);
    status = cellar_page_finish(&run->page, output, status, err);
    for (size_t i = 0; i < LISTED_MAX + ATTACKED_MAX; i++)
        cellar_table_free(run->counts[i]);
    cellar_cube_design_free(run->design);
    cellar_free(run);
    return status;
}
