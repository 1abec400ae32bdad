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
    double low, high, independent, inner; /* standard deviations; the last three the largest */
} order_summary;

static order_summary summarize(const cellar_cube_design *design, size_t order)
{
    order_summary s = {.low = INFINITY};
    for (size_t t = 0; t < cellar_cube_design_n_tables(design); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(design, t);
        if (table.n_variables != order)
            continue;
        s.n_tables++;
        s.n_measured += table.mechanism != NULL;
        s.low = fmin(s.low, table.sd);
        s.high = fmax(s.high, table.sd);
        s.independent = fmax(s.independent, table.independent_sd);
        s.inner = fmax(s.inner, table.inner_sd);
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

static void show_orders(const cellar_cube_design *design, cellar_output *output)
{
    cli_grid grid = {.n_columns = 7};
    static const char *const heads[] = {"variables", "tables",      "measured",  "sd from",
                                        "sd to",     "independent", "inner only"};
    for (size_t i = 0; i < 7; i++)
        cli_grid_add(&grid, heads[i]);
    for (size_t order = 0; order <= largest_order(design); order++) {
        const order_summary s = summarize(design, order);
        if (s.n_tables == 0)
            continue;
        cli_grid_add_count(&grid, order);
        cli_grid_add_count(&grid, s.n_tables);
        cli_grid_add_count(&grid, s.n_measured);
        cli_grid_add_number(&grid, s.low);
        cli_grid_add_number(&grid, s.high);
        cli_grid_add_number(&grid, s.independent);
        cli_grid_add_number(&grid, s.inner);
    }
    cli_grid_write(&grid, 0x7f, output);
    cli_grid_clear(&grid);
    cellar_output_string(
        output,
        "Standard deviations of the noise of the noisiest cell; independent: every table with "
        "noise "
        "of its own, and totals that differ; inner only: the finest tables alone, and users add up "
        "(root mean square over the cells of a table). The last two are those of the worst "
        "table.\n");
}

static void show_plan(const cellar_cube_design *design, cellar_output *output)
{
    cellar_certificate_write(cellar_cube_design_certificate(design), 0, output);
    cellar_output_printf(output,
                         "\nThe universe has %zu tables; %zu of them are measured, with %zu "
                         "different noises.\n",
                         cellar_cube_design_n_tables(design), cellar_cube_design_n_measured(design),
                         cellar_cube_design_n_mechanisms(design));
    show_orders(design, output);
    if (isfinite(cellar_cube_design_loss_to_bound(design)))
        cellar_output_printf(
            output,
            "The weighted sum of variances is at most %.2f %% above the least that "
            "measured tables can have (proven)%s",
            100 * (cellar_cube_design_loss_to_bound(design) - 1), "");
    if (isfinite(cellar_cube_design_loss_to_optimum(design)))
        cellar_output_printf(output, ", and %.3f times that of the best Gaussian matrix mechanism",
                             cellar_cube_design_loss_to_optimum(design));
    cellar_output_string(output, isfinite(cellar_cube_design_loss_to_bound(design))
                                     ? ".\n"
                                     : "With pure epsilon no optimum is claimed.\n");
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
        cli_json_real(json, "independent_sd", table.independent_sd);
        cli_json_real(json, "inner_sd", table.inner_sd);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void json_plan(const cellar_cube_design *design, cellar_output *output)
{
    const cellar_certificate *certificate = cellar_cube_design_certificate(design);
    const cellar_composition together = cellar_certificate_composition(certificate);
    cli_json json = {output, 0, 0};
    cli_json_begin(&json, NULL, '{');
    cli_json_real(&json, "rho", together.rho);
    cli_json_real(&json, "pure_epsilon", cellar_certificate_pure_epsilon(certificate));
    cli_json_begin(&json, "epsilon_at", '[');
    for (size_t i = 0; i < cellar_certificate_n_epsilons(certificate); i++) {
        const cellar_epsilon_at at = cellar_certificate_epsilon_at(certificate, i);
        cli_json_begin(&json, NULL, '{');
        cli_json_real(&json, "delta", at.delta);
        cli_json_real(&json, "epsilon", at.epsilon);
        cli_json_end(&json, '}');
    }
    cli_json_end(&json, ']');
    cli_json_count(&json, "measured", cellar_cube_design_n_measured(design));
    cli_json_count(&json, "mechanisms", cellar_cube_design_n_mechanisms(design));
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
    cli_grid grid = {.n_columns = 6};
    static const char *const heads[] = {"sd",    "independent", "inner only",
                                        "cells", "measured",    "table"};
    for (size_t i = 0; i < 6; i++)
        cli_grid_add(&grid, heads[i]);
    for (size_t t = 0; t < n && (limit == 0 || t < limit); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(design, t);
        cli_grid_add_number(&grid, table.sd);
        cli_grid_add_number(&grid, table.independent_sd);
        cli_grid_add_number(&grid, table.inner_sd);
        cli_grid_add_count(&grid, table.n_cells);
        cli_grid_add(&grid, table.is_exact ? "exact" : table.mechanism != NULL ? "yes" : "no");
        cli_grid_add_whole(&grid, table.name);
    }
    cli_grid_write(&grid, 0xf, output);
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
                               int as_json, cellar_error *err)
{
    cli_json json = {0};
    cellar_status status;
    if (!as_json) {
        cli_message("%s: %s; %s", cellar_plan_cube_file(plan),
                    built->is_new ? "the cube is there"
                                  : "the cube of an earlier run, nothing was drawn",
                    built->is_charged ? built->stamp : "unaccounted, not for publication");
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
    options.n_threads = (int) values->threads.value;
    options.date = values->date;
    options.progress = cli_progress_begin();
    if (status == CELLAR_OK)
        status = cellar_cube_build(d.design, &options, &built, &err);
    cli_progress_end();
    if (status == CELLAR_OK)
        status = say_built(d.plan, &built, values->json, &err);
    design_close(&d);
    return cli_exit(status == CELLAR_ERR_EXISTS ? CELLAR_ERR_IO : status, &err);
}
