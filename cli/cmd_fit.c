/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar fit: one table whose totals add, from releases whose totals do not. */
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/adjustment.h>

#include "about.h"
#include "json_out.h"
#include "lists.h"
#include "options.h"
#include "reader.h"
#include "terminal.h"

typedef struct fit_values {
    const char *path, *estimates, *comparison, *max_move;
    int official, margins, sd, force, json;
    cli_number limit, max_searched, max_cells;
    cli_about about;
} fit_values;

#define AT(member) offsetof(fit_values, member)
static const cli_option fit_options[] = {
    OUTPUT(path, "the fitted whole numbers, as .csv, .json (JSON-stat), .px, .ods or .xlsx"),
    TEXT("estimates", "FILE", estimates,
         "the unbiased estimates with six decimals, as .csv, .json (JSON-stat), .px, .ods or "
         ".xlsx; with --sd "
         "their standard errors too"),
    TEXT("comparison", "FILE", comparison,
         "a CSV of every cell: what was released, the unbiased estimate, the fitted value"),
    FLAG("sd", sd, "standard errors of the estimates too; takes as long as a fit for each cell"),
    CHOICE("margins", "released|all", margins,
           "fit the margins and hierarchies that the releases hold, or all margins too "
           "[released]"),
    NUMBER("max-cells", "N", max_cells, 0, 0,
           "refuse to fit a table of more than N cells, totals included [5000000]"),
    CHOICE("official", "fitted|released", official, "which version is declared official [fitted]"),
    TEXT("max-move", "B", max_move,
         "how far a released value may go from its unbiased estimate, unless nothing else adds up "
         "[four standard deviations of the noisiest released value]"),
    NUMBER("max-searched", "N", max_searched, 0, 0,
           "cells up to which the nearest whole numbers are searched for, four times as many with "
           "two variables [5000]"),
    NUMBER("limit", "N", limit, 0, 0, "show N cells, 0 for all [20]"),
    CLI_ABOUT_OPTIONS(AT(about)),
    FLAG("force", force, "replace files that exist"),
    FLAG("json", json, "print JSON"),
};

static const char *const fit_examples[] = {
    "cellar fit cells.csv margins.csv -o fitted.csv --comparison both.csv",
    "cellar fit census.json --official released --sd --estimates estimates.json", NULL};

static const cli_command fit_command = {
    "fit",
    "RELEASE... [options]",
    "Makes one table that adds up from releases of the same people: the best linear unbiased "
    "estimate by weighted least squares, and beside it non-negative whole numbers that add in "
    "every margin and hierarchy of the table, with the estimated total. Only releases are read, so "
    "this is post-processing. The first release has all variables; the others have some of them.",
    fit_options,
    sizeof fit_options / sizeof fit_options[0],
    fit_examples};

typedef struct fit_run {
    const fit_values *values;
    cellar_release **releases;
    size_t n_releases;
    cellar_adjustment *fit;
    cellar_rounding *rounding;
    cellar_estimate *estimate;
    cellar_release_file *file, *estimates;
    cellar_output *comparison;
    cellar_table_write_options write;
    cli_roles roles;
    double max_move;
} fit_run;

static const cellar_release *const *fit_sources(const fit_run *run)
{
    return (const cellar_release *const *) run->releases;
}

static void fit_clear(fit_run *run)
{
    for (size_t r = 0; r < run->n_releases; r++)
        cellar_release_free(run->releases[r]);
    free(run->releases);
    cellar_rounding_free(run->rounding);
    cellar_adjustment_free(run->fit);
    cellar_estimate_free(run->estimate);
    cellar_release_file_discard(run->file);
    cellar_release_file_discard(run->estimates);
    cellar_output_discard(run->comparison);
    cli_roles_clear(&run->roles);
}

/* ---- computing -------------------------------------------------------------- */

static cellar_status fit_open_files(fit_run *run, cellar_error *err)
{
    const fit_values *values = run->values;
    const cellar_output_options how = {.replace = values->force, .shared = 1};
    cellar_status status = CELLAR_OK;
    if (values->path != NULL)
        status =
            cellar_release_file_open(values->path, &run->write, values->force, &run->file, err);
    if (status == CELLAR_OK && values->estimates != NULL)
        status = cellar_release_file_open(values->estimates, &run->write, values->force,
                                          &run->estimates, err);
    if (status == CELLAR_OK && values->comparison != NULL)
        status = cellar_output_open(values->comparison, &how, &run->comparison, err);
    return status;
}

static cellar_status fit_read(fit_run *run, const cli_words *paths, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    run->releases = calloc(paths->n, sizeof *run->releases);
    if (run->releases == NULL) {
        snprintf(err->message, sizeof err->message, "out of memory");
        return CELLAR_ERR_MEMORY;
    }
    run->n_releases = paths->n;
    for (size_t r = 0; r < paths->n && status == CELLAR_OK; r++)
        status = cellar_release_read(paths->items[r], CELLAR_TABLE_AUTO, &run->releases[r], err);
    return status;
}

static cellar_status fit_compute(fit_run *run, cellar_error *err)
{
    const cellar_official official =
        run->values->official == 2 ? CELLAR_OFFICIAL_RELEASED : CELLAR_OFFICIAL_FITTED;
    cellar_adjustment_options options = cellar_adjustment_options_default();
    cellar_rounding_options rounding = cellar_rounding_options_default();
    cellar_status status;
    rounding.max_move = run->max_move;
    if (run->values->max_searched.given)
        rounding.max_searched = (size_t) run->values->max_searched.value;
    options.margins.all = run->values->margins == 2;
    if (run->values->max_cells.given)
        options.max_cells = run->values->max_cells.value;
    options.progress = cli_progress_begin();
    status = cellar_adjustment_create(fit_sources(run), run->n_releases, &options, &run->fit, err);
    if (status == CELLAR_OK)
        status = cellar_rounding_create(run->fit, &rounding, &run->rounding, err);
    if (status == CELLAR_OK)
        status =
            cellar_estimate_from_fit(run->fit, run->rounding, fit_sources(run), run->n_releases,
                                     official, run->values->sd, &run->estimate, err);
    cli_progress_end();
    return status;
}

static cellar_status fit_write(fit_run *run, cellar_error *err)
{
    cellar_output *comparison = run->comparison;
    cellar_status status = CELLAR_OK;
    if (comparison != NULL)
        status = cellar_adjustment_write_comparison(run->fit, run->estimate, comparison, err);
    if (status == CELLAR_OK && run->estimates != NULL)
        status = cellar_estimate_write(run->estimate, CELLAR_ESTIMATE_VALUES, run->estimates, err);
    if (status == CELLAR_OK && run->file != NULL)
        status = cellar_estimate_write(run->estimate, CELLAR_ESTIMATE_WHOLE, run->file, err);
    if (status == CELLAR_OK && comparison != NULL) {
        run->comparison = NULL;
        status = cellar_output_commit(comparison, err);
    }
    return status;
}

/* ---- showing ---------------------------------------------------------------- */

/* How many cells are shown: the first ones. */
static size_t fit_shown(const fit_run *run)
{
    const cli_number limit = run->values->limit;
    const size_t n = cellar_estimate_n_cells(run->estimate);
    const uint64_t shown = !limit.given ? 20 : limit.value == 0 ? UINT64_MAX : limit.value;
    return shown < n ? (size_t) shown : n;
}

static void fit_json_rounding(const cellar_rounding *rounding, cli_json *json)
{
    cli_json_begin(json, "rounding", '{');
    cli_json_text(json, "proof", cellar_rounding_proof_name(cellar_rounding_proof_of(rounding)));
    cli_json_real(json, "distance", cellar_rounding_distance(rounding));
    cli_json_real(json, "bound", cellar_rounding_bound(rounding));
    cli_json_count(json, "aggregates_far", cellar_rounding_n_far(rounding));
    cli_json_real(json, "max_move", cellar_rounding_max_move(rounding));
    cli_json_count(json, "beyond_max_move", cellar_rounding_n_beyond(rounding));
    cli_json_real(json, "largest_move", cellar_rounding_largest_move(rounding));
    cli_json_end(json, '}');
}

static void fit_json_total(const fit_run *run, cli_json *json)
{
    cli_json_begin(json, "total", '{');
    cli_json_real(json, "unbiased", cellar_adjustment_total(run->fit));
    cli_json_count(json, "fitted", (uint64_t) cellar_rounding_total(run->rounding));
    cli_json_end(json, '}');
}

static void fit_json_row(const fit_run *run, const cellar_estimated_cell *cell, cli_json *json)
{
    const cellar_schema *schema = cellar_estimate_schema(run->estimate);
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_schema_categories(schema, cell->index, categories);
    cli_json_begin(json, NULL, '{');
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        cli_json_text(json, cellar_schema_variable(schema, v),
                      cellar_schema_code(schema, v, categories[v]));
    cli_json_real(json, "observed", cellar_adjustment_observed(run->fit, cell->index));
    cli_json_real(json, "unbiased", cell->value);
    if (run->values->sd)
        cli_json_real(json, "sd", cell->se);
    cli_json_count(json, "fitted", (uint64_t) cell->whole);
    cli_json_end(json, '}');
}

static void fit_show_json(const fit_run *run, cellar_output *output)
{
    cli_json json = {.output = output};
    cli_json_begin(&json, NULL, '{');
    cli_json_count(&json, "releases", run->n_releases);
    cli_json_count(&json, "cells", cellar_estimate_n_cells(run->estimate));
    fit_json_total(run, &json);
    cli_json_text(&json, "variances",
                  cellar_adjustment_is_estimated(run->fit) ? "estimated" : "exact");
    cli_json_begin(&json, "equations", '{');
    cli_json_count(&json, "steps", cellar_adjustment_n_iterations(run->fit));
    cli_json_real(&json, "remainder", cellar_adjustment_remainder(run->fit));
    cli_json_end(&json, '}');
    fit_json_rounding(run->rounding, &json);
    cli_json_begin(&json, "rows", '[');
    for (size_t i = 0; i < fit_shown(run); i++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(run->estimate, i);
        fit_json_row(run, &cell, &json);
    }
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
}

static void fit_grid_real(cli_grid *grid, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.2f", value);
    cli_grid_add(grid, isfinite(value) ? text : NULL);
}

static void fit_grid_row(const fit_run *run, const cellar_estimated_cell *cell, cli_grid *grid)
{
    const cellar_schema *schema = cellar_estimate_schema(run->estimate);
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_schema_categories(schema, cell->index, categories);
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        cli_grid_add(grid, cellar_schema_code(schema, v, categories[v]));
    fit_grid_real(grid, cellar_adjustment_observed(run->fit, cell->index));
    fit_grid_real(grid, cell->value);
    if (run->values->sd)
        fit_grid_real(grid, cell->se);
    cli_grid_add_count(grid, (uint64_t) cell->whole);
}

static void fit_show_cells(const fit_run *run, cellar_output *output)
{
    const cellar_schema *schema = cellar_estimate_schema(run->estimate);
    const size_t n = cellar_schema_n_variables(schema), shown = fit_shown(run);
    cli_grid grid = {.n_columns = n + 3 + (size_t) run->values->sd, .keeps_columns = 1};
    for (size_t v = 0; v < n; v++)
        cli_grid_add(&grid, cellar_schema_variable(schema, v));
    cli_grid_add(&grid, "observed");
    cli_grid_add(&grid, "unbiased");
    if (run->values->sd)
        cli_grid_add(&grid, "sd");
    cli_grid_add(&grid, "fitted");
    for (size_t i = 0; i < shown; i++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(run->estimate, i);
        fit_grid_row(run, &cell, &grid);
    }
    cli_grid_write(&grid, UINT64_C(15) << n, output);
    if (shown < cellar_estimate_n_cells(run->estimate))
        cellar_output_string(output, "... (--limit 0 shows all)\n");
    cli_grid_clear(&grid);
}

static void fit_show_people(const fit_run *run, cellar_output *output)
{
    const cellar_rounding *rounding = run->rounding;
    cellar_output_printf(output, "Total: unbiased estimate %.2f, fitted %lld.\n\n",
                         cellar_adjustment_total(run->fit),
                         (long long) cellar_rounding_total(rounding));
    fit_show_cells(run, output);
    cellar_output_printf(
        output, "\nEstimates from %zu release%s: unbiased%s. %u steps, remainder %.1e.\n",
        run->n_releases, run->n_releases == 1 ? "" : "s",
        cellar_adjustment_is_estimated(run->fit)
            ? ", with variances taken at the released counts"
            : ", and of all linear unbiased ones the most precise",
        cellar_adjustment_n_iterations(run->fit), cellar_adjustment_remainder(run->fit));
    cellar_output_printf(
        output, "Fitted whole numbers: %s. Sum of distances over cells %.6g, at least %.6g.\n",
        cellar_rounding_proof_name(cellar_rounding_proof_of(rounding)),
        cellar_rounding_distance(rounding), cellar_rounding_bound(rounding));
    cellar_output_printf(output,
                         "Largest move from the unbiased estimate %.4g; beyond the bound of %.4g "
                         "before rounding: %zu released values.\n",
                         cellar_rounding_largest_move(rounding), cellar_rounding_max_move(rounding),
                         cellar_rounding_n_beyond(rounding));
    cellar_output_string(output,
                         "Computed from releases alone: pure and approximate guarantees stay; the "
                         "probabilistic one is withdrawn.\nTests and intervals belong to the "
                         "releases (cellar infer).\n");
}

static cellar_status fit_show(const fit_run *run, cellar_error *err)
{
    cellar_output *output;
    const cellar_status status = cellar_output_open("-", NULL, &output, err);
    if (status != CELLAR_OK)
        return status;
    if (run->values->json)
        fit_show_json(run, output);
    else
        fit_show_people(run, output);
    return cellar_output_commit(output, err);
}

static int fit_main(const fit_values *values, const cli_words *paths)
{
    fit_run run = {.values = values, .write = {.zeros = 1}, .max_move = NAN};
    cellar_error err;
    cellar_status status;
    if (values->max_move != NULL) {
        const int result = cli_list_real("max-move", values->max_move, &run.max_move);
        if (result != CLI_GO_ON)
            return result;
        if (!(run.max_move >= 0))
            return cli_usage("--max-move: expected a number that is not negative, not '%s'",
                             values->max_move);
    }
    if (cli_about_options(&values->about, &run.roles, &run.write) != CLI_GO_ON) {
        fit_clear(&run);
        return CLI_USAGE;
    }
    status = fit_open_files(&run, &err);
    if (status == CELLAR_OK)
        status = fit_read(&run, paths, &err);
    if (status == CELLAR_OK)
        status = fit_compute(&run, &err);
    if (status == CELLAR_OK)
        status = fit_write(&run, &err);
    if (status == CELLAR_OK)
        status = fit_show(&run, &err);
    fit_clear(&run);
    return cli_exit(status, &err);
}

/* No two files that are written are one, and none is a release that is read. */
static int fit_check_files(const fit_values *values, const cli_words *words)
{
    static const char *const names[] = {"output", "estimates", "comparison"};
    const char *const files[] = {values->path, values->estimates, values->comparison};
    int result = CLI_GO_ON;
    for (size_t i = 0; i < 3; i++)
        for (size_t k = i + 1; k < 3; k++)
            if (files[i] != NULL && files[k] != NULL && strcmp(files[i], files[k]) == 0)
                return cli_usage("--%s and --%s are two files, not one", names[i], names[k]);
    for (size_t w = 0; w < words->n; w++)
        for (size_t i = 0; i < 3 && result == CLI_GO_ON; i++)
            result = cli_reader_spare(words->items[w], files[i]);
    return result;
}

int cli_fit(int argc, char **argv)
{
    fit_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&fit_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON && words.n == 0)
        result = cli_usage("fit needs a release");
    if (result == CLI_GO_ON)
        result = fit_check_files(&values, &words);
    if (result == CLI_GO_ON)
        result = fit_main(&values, &words);
    cli_words_clear(&words);
    cli_options_clear(&fit_command, &values);
    return result;
}
