/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar cube plan, compare and build: what a cube will be, and the cube. */
#include "cube.h"

#include <math.h>
#include <stdio.h>

#include "json_out.h"
#include "results.h"
#include "terminal.h"

typedef struct designing {
    cellar_plan *plan;
    cellar_cube_design *design;
} designing;

static cellar_status design_open(const char *path, designing *out, cellar_error *err)
{
    cellar_status status = cellar_plan_read(path, &out->plan, err);
    if (status == CELLAR_OK)
        status = cellar_cube_design_create(out->plan, &out->design, err);
    return status;
}

static void design_close(designing *d)
{
    cellar_cube_design_free(d->design);
    cellar_plan_free(d->plan);
}

/* ---- by the number of variables -------------------------------------------------------------- */

typedef struct order_summary {
    size_t n_tables, n_measured;
    /* Standard deviations: the smallest, then the largest ones. */
    double low, high, independent, inner, before;
} order_summary;

static order_summary summarize(const cellar_cube_design *design, size_t order)
{
    order_summary s = {.low = INFINITY, .before = NAN};
    for (size_t t = 0; t < cellar_cube_design_n_tables(design); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(design, t);
        if (table.n_variables != order)
            continue;
        s.n_tables++;
        s.n_measured += table.mechanism != NULL && !table.was_measured;
        s.low = fmin(s.low, table.sd);
        s.high = fmax(s.high, table.sd);
        s.independent = fmax(s.independent, table.independent_sd);
        s.inner = fmax(s.inner, table.inner_sd);
        s.before = fmax(s.before, table.before_sd);
    }
    return s;
}

static size_t largest_order(const cellar_cube_design *design)
{
    size_t order = 0;
    for (size_t t = 0; t < cellar_cube_design_n_tables(design); t++) {
        const size_t n = cellar_cube_design_table_at(design, t).n_variables;
        order = n > order ? n : order;
    }
    return order;
}

static void add_number_or_dash(cli_grid *grid, double number)
{
    if (isfinite(number))
        cli_grid_add_number(grid, number);
    else
        cli_grid_add(grid, "-");
}

static void show_orders(const cellar_cube_design *design, cellar_output *output)
{
    const int is_extension = cellar_cube_design_together(design) != NULL;
    const size_t n_columns = is_extension ? 6 : 7;
    static const char *const heads[] = {"variables", "tables",      "measured",  "sd from",
                                        "sd to",     "independent", "inner only"};
    cli_grid grid = {.n_columns = n_columns};
    for (size_t i = 0; i < n_columns; i++)
        cli_grid_add(&grid, i == 5 && is_extension ? "before" : heads[i]);
    for (size_t order = 0; order <= largest_order(design); order++) {
        const order_summary s = summarize(design, order);
        if (s.n_tables == 0)
            continue;
        cli_grid_add_count(&grid, order);
        cli_grid_add_count(&grid, s.n_tables);
        cli_grid_add_count(&grid, s.n_measured);
        cli_grid_add_number(&grid, s.low);
        cli_grid_add_number(&grid, s.high);
        if (is_extension) {
            add_number_or_dash(&grid, s.before);
            continue;
        }
        cli_grid_add_number(&grid, s.independent);
        cli_grid_add_number(&grid, s.inner);
    }
    cli_grid_write(&grid, 0x7f, output);
    cli_grid_clear(&grid);
    cellar_output_string(
        output, is_extension
                    ? "Standard deviations of the noise of the noisiest cell; before: in the "
                      "published cube, the worst table.\n"
                    : "Standard deviations of the noise of the noisiest cell; independent: every "
                      "table with noise of its own, and totals that differ; inner only: the finest "
                      "tables alone, and users add up (root mean square over the cells of a "
                      "table). The last two are those of the worst table.\n");
}

/* Both guarantees, and what becomes of values that are public. */
static void show_extension(const cellar_cube_design *design, cellar_output *output)
{
    const cellar_certificate *alone = cellar_cube_design_certificate(design);
    const cellar_composition composition = cellar_certificate_composition(alone);
    cellar_output_string(output,
                         "This is the guarantee of both measurements. The second alone is what a "
                         "ledger is charged:");
    if (isfinite(composition.rho))
        cellar_output_printf(output, " rho = %.6g,", composition.rho);
    if (isfinite(cellar_certificate_pure_epsilon(alone)))
        cellar_output_printf(output, " epsilon = %.6g", cellar_certificate_pure_epsilon(alone));
    else
        cellar_output_printf(output, " epsilon = %.6g at delta = %g",
                             cellar_certificate_epsilon_at(alone, 0).epsilon,
                             cellar_certificate_epsilon_at(alone, 0).delta);
    cellar_output_string(output,
                         ".\nThe new cube is the estimate from all measured tables: it agrees with "
                         "itself, and values that the published cube has change slightly.\n");
}

/* How good the choice of noise is. */
static void show_loss(const cellar_cube_design *design, cellar_output *output)
{
    const double to_bound = cellar_cube_design_loss_to_bound(design);
    const double to_optimum = cellar_cube_design_loss_to_optimum(design);
    if (!isfinite(to_bound)) {
        cellar_output_string(output, "With pure epsilon no optimum is claimed.\n");
        return;
    }
    cellar_output_printf(output,
                         "%s at most %.2f %% above the least that measured tables can have "
                         "(proven)",
                         cellar_cube_design_is_balanced(design)
                             ? "The weighted sum of variances is"
                             : "Were all branches of a hierarchy equal, the weighted sum of "
                               "variances would be",
                         100 * (to_bound - 1));
    if (isfinite(to_optimum))
        cellar_output_printf(output, ", and %.3f times that of the best Gaussian matrix mechanism",
                             to_optimum);
    cellar_output_string(output, ".\n");
}

static void show_plan(const cellar_cube_design *design, cellar_output *output)
{
    const cellar_certificate *together = cellar_cube_design_together(design);
    cellar_certificate_write(together != NULL ? together : cellar_cube_design_certificate(design),
                             0, output);
    cellar_output_string(output, "\n");
    if (together != NULL)
        show_extension(design, output);
    cellar_output_printf(output,
                         "The universe has %zu tables; %zu of them are measured%s, with %zu "
                         "different noises.\n",
                         cellar_cube_design_n_tables(design), cellar_cube_design_n_measured(design),
                         together != NULL ? " now" : "", cellar_cube_design_n_mechanisms(design));
    show_orders(design, output);
    show_loss(design, output);
}

/* ---- by table ----------------------------------------------------------------------------------
 */

static void json_tables(const cellar_cube_design *design, cli_json *json)
{
    cli_json_begin(json, "tables", '[');
    for (size_t t = 0; t < cellar_cube_design_n_tables(design); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(design, t);
        cli_json_begin(json, NULL, '{');
        cli_json_text(json, "table", table.name);
        cli_json_count(json, "cells", table.n_cells);
        cli_json_text(json, "mechanism", table.mechanism);
        if (table.is_exact)
            cli_json_truth(json, "exact", 1);
        cli_json_real(json, "sd", table.sd);
        if (cellar_cube_design_together(design) != NULL) {
            cli_json_truth(json, "measured_before", table.was_measured);
            cli_json_real(json, "before_sd", table.before_sd);
        } else {
            cli_json_real(json, "independent_sd", table.independent_sd);
            cli_json_real(json, "inner_sd", table.inner_sd);
        }
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void json_guarantee(const cellar_certificate *certificate, cli_json *json)
{
    cli_json_real(json, "rho", cellar_certificate_composition(certificate).rho);
    cli_json_real(json, "pure_epsilon", cellar_certificate_pure_epsilon(certificate));
    cli_json_begin(json, "epsilon_at", '[');
    for (size_t i = 0; i < cellar_certificate_n_epsilons(certificate); i++) {
        const cellar_epsilon_at at = cellar_certificate_epsilon_at(certificate, i);
        cli_json_begin(json, NULL, '{');
        cli_json_real(json, "delta", at.delta);
        cli_json_real(json, "epsilon", at.epsilon);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

/* Of an extension: what is charged, and beside it what holds for the cube. */
static void json_plan(const cellar_cube_design *design, cellar_output *output)
{
    const cellar_certificate *together = cellar_cube_design_together(design);
    cli_json json = {output, 0, 0};
    cli_json_begin(&json, NULL, '{');
    json_guarantee(cellar_cube_design_certificate(design), &json);
    if (together != NULL) {
        cli_json_begin(&json, "together", '{');
        json_guarantee(together, &json);
        cli_json_end(&json, '}');
    }
    cli_json_count(&json, "measured", cellar_cube_design_n_measured(design));
    cli_json_count(&json, "mechanisms", cellar_cube_design_n_mechanisms(design));
    cli_json_truth(&json, "balanced", cellar_cube_design_is_balanced(design));
    cli_json_real(&json, "loss_to_bound", cellar_cube_design_loss_to_bound(design));
    cli_json_real(&json, "loss_to_optimum", cellar_cube_design_loss_to_optimum(design));
    json_tables(design, &json);
    cli_json_end(&json, '}');
}

static void show_tables(const cellar_cube_design *design, const cube_values *values,
                        cellar_output *output)
{
    const size_t n = cellar_cube_design_n_tables(design);
    const uint64_t limit = values->limit.given ? values->limit.value : 40;
    const int is_extension = cellar_cube_design_together(design) != NULL;
    cli_grid grid = {.n_columns = is_extension ? 5 : 6};
    static const char *const heads[] = {"sd",    "independent", "inner only",
                                        "cells", "measured",    "table"};
    cli_grid_add(&grid, "sd");
    if (is_extension)
        cli_grid_add(&grid, "before");
    for (size_t i = is_extension ? 3 : 1; i < 6; i++)
        cli_grid_add(&grid, heads[i]);
    for (size_t t = 0; t < n && (limit == 0 || t < limit); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(design, t);
        cli_grid_add_number(&grid, table.sd);
        if (is_extension) {
            add_number_or_dash(&grid, table.before_sd);
        } else {
            cli_grid_add_number(&grid, table.independent_sd);
            cli_grid_add_number(&grid, table.inner_sd);
        }
        cli_grid_add_count(&grid, table.n_cells);
        cli_grid_add(&grid, table.is_exact            ? "exact"
                            : table.was_measured      ? "before"
                            : table.mechanism != NULL ? "yes"
                                                      : "no");
        cli_grid_add_whole(&grid, table.name);
    }
    cli_grid_write(&grid, is_extension ? 0x7 : 0xf, output);
    cli_grid_clear(&grid);
    if (limit > 0 && n > limit)
        cellar_output_printf(output, "(%llu of %zu tables; --limit 0 shows all)\n",
                             (unsigned long long) limit, n);
}

/* ---- verbs
 * ---------------------------------------------------------------------------------------- */

static int show_design(const char *path, const cube_values *values, int by_table)
{
    designing d = {0};
    cellar_output *output = NULL;
    cellar_error err;
    int result;
    cellar_status status = design_open(path, &d, &err);
    if (status != CELLAR_OK) {
        result = cli_exit(status, &err);
    } else {
        result = cli_answer_open(NULL, NULL, &output);
        if (result == CLI_GO_ON && values->json)
            json_plan(d.design, output);
        else if (result == CLI_GO_ON && by_table)
            show_tables(d.design, values, output);
        else if (result == CLI_GO_ON)
            show_plan(d.design, output);
        result = cli_answer_close(output, result);
    }
    design_close(&d);
    return result;
}

int cli_cube_plan(const char *path, const cube_values *values)
{
    return show_design(path, values, 0);
}

int cli_cube_compare(const char *path, const cube_values *values)
{
    return show_design(path, values, 1);
}

static cellar_status say_built(const cellar_plan *plan, const cellar_cube_build_result *built,
                               int is_extension, int as_json, cellar_error *err)
{
    cli_json json = {0};
    cellar_status status;
    if (!as_json) {
        cli_message("%s: %s; %s", cellar_plan_cube_file(plan),
                    built->is_new ? "the cube is there"
                                  : "the cube of an earlier run, nothing was drawn",
                    built->is_charged ? built->stamp : "unaccounted, not for publication");
        if (is_extension)
            cli_message("its values and those of the published cube differ slightly: say so where "
                        "both are public");
        return CELLAR_OK;
    }
    status = cellar_output_open("-", NULL, &json.output, err);
    if (status != CELLAR_OK)
        return status;
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "file", cellar_plan_cube_file(plan));
    cli_json_truth(&json, "drawn_now", built->is_new);
    cli_json_truth(&json, "charged", built->is_charged);
    cli_json_text(&json, "ledger", built->is_charged ? built->stamp : NULL);
    cli_json_end(&json, '}');
    return cellar_output_commit(json.output, err);
}

int cli_cube_build(const char *path, const cube_values *values)
{
    cellar_cube_build_options options = cellar_cube_build_options_default();
    cellar_cube_build_result built;
    designing d = {0};
    cellar_error err;
    cellar_status status = design_open(path, &d, &err);
    if (status == CELLAR_OK && values->from.n > 0)
        status = cellar_plan_ask(d.plan, cli_words_items(&values->from), values->from.n, &err);
    options.n_threads = (int) values->threads.value;
    options.date = values->date;
    options.progress = cli_progress_begin();
    if (status == CELLAR_OK)
        status = cellar_cube_build(d.design, &options, &built, &err);
    cli_progress_end();
    if (status == CELLAR_OK)
        status = say_built(d.plan, &built, cellar_cube_design_together(d.design) != NULL,
                           values->json, &err);
    design_close(&d);
    return cli_exit(status == CELLAR_ERR_EXISTS ? CELLAR_ERR_IO : status, &err);
}
