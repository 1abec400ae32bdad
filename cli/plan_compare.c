/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar plan compare: strategies side by side. */
#include "plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_out.h"
#include "terminal.h"

/* ---- for people ----------------------------------------------------------------------------- */

static void add_sd(cli_grid *grid, double sd, int is_sum)
{
    char number[CLI_PLAN_NUMBER], text[CLI_PLAN_NUMBER + 1];
    if (isnan(sd)) {
        cli_grid_add(grid, NULL);
        return;
    }
    snprintf(text, sizeof text, "%s%s", cli_plan_number(sd, number), is_sum ? "+" : "");
    cli_grid_add(grid, text);
}

/* Losses are for comparing, and may be huge. */
static void add_loss(cli_grid *grid, double loss)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", loss);
    cli_grid_add(grid, isnan(loss) ? NULL : text);
}

/* "region*sex", with its table before it where there are several. */
static void add_target(cli_grid *grid, const cellar_plan_comparison *c, size_t i)
{
    const cellar_plan_target *target = &c->targets[i];
    const int is_only = strcmp(c->targets[0].table, c->targets[c->n_targets - 1].table) == 0;
    const size_t size = strlen(target->table) + strlen(target->margin) + 3;
    char *text = cli_alloc(size, 1);
    snprintf(text, size, "%s%s%s", is_only ? "" : target->table, is_only ? "" : ": ",
             target->margin);
    cli_grid_add(grid, text);
    free(text);
}

/* Strategies that there are not have no column: the words below say so. */
static void tell_grid(const cellar_plan_comparison *c, cellar_output *output)
{
    cli_grid grid = {.n_columns = 1};
    cli_grid_add(&grid, "cells");
    for (size_t k = 0; k < c->n_strategies; k++)
        if (c->strategies[k].is_possible) {
            cli_grid_add(&grid, c->strategies[k].name);
            grid.n_columns++;
        }
    for (size_t i = 0; i < c->n_targets; i++) {
        add_target(&grid, c, i);
        for (size_t k = 0; k < c->n_strategies; k++)
            if (c->strategies[k].is_possible)
                add_sd(&grid, c->strategies[k].sd[i], c->strategies[k].sums[i]);
    }
    cli_grid_add(&grid, "loss");
    for (size_t k = 0; k < c->n_strategies; k++)
        if (c->strategies[k].is_possible)
            add_loss(&grid, c->strategies[k].loss);
    cli_grid_add(&grid, "d");
    for (size_t k = 0; k < c->n_strategies; k++)
        if (c->strategies[k].is_possible)
            cli_grid_add_count(&grid, c->strategies[k].cells_per_record);
    cli_grid_write(&grid, ~UINT64_C(1), output);
    cli_grid_clear(&grid);
}

static cellar_status tell(const cellar_plan_comparison *c, cellar_error *err)
{
    cellar_output *output;
    cellar_status status = cellar_output_open("-", NULL, &output, err);
    if (status != CELLAR_OK)
        return status;
    cellar_output_printf(
        output,
        "Standard deviation of a cell when all tables together cost %s %s%s%s (+: added up by "
        "users)\n\n",
        c->is_rho ? "rho" : "epsilon", c->budget, c->found_for != NULL ? ", that of " : "",
        c->found_for != NULL ? c->found_for : "");
    tell_grid(c, output);
    cellar_output_string(output, "\n");
    for (size_t k = 0; k < c->n_strategies; k++)
        cellar_output_printf(output, "%-11s %s%s\n", c->strategies[k].name, c->strategies[k].about,
                             c->strategies[k].is_possible ? "" : " (not possible for this plan)");
    cellar_output_printf(output, "\nrecommended: %s: %s\n", c->strategies[c->recommended].name,
                         c->reason);
    return cellar_output_commit(output, err);
}

/* ---- for programs --------------------------------------------------------------------------- */

static void json_strategy(cli_json *json, const cellar_plan_comparison *c,
                          const cellar_plan_strategy *strategy)
{
    cli_json_begin(json, NULL, '{');
    cli_json_text(json, "name", strategy->name);
    cli_json_text(json, "about", strategy->about);
    cli_json_truth(json, "possible", strategy->is_possible);
    cli_json_count(json, "cells_per_record", strategy->cells_per_record);
    cli_json_real(json, "loss", strategy->loss);
    cli_json_real(json, "margins_loss", strategy->margins_loss);
    cli_json_begin(json, "targets", '[');
    for (size_t i = 0; i < c->n_targets; i++) {
        cli_json_begin(json, NULL, '{');
        cli_json_text(json, "table", c->targets[i].table);
        cli_json_text(json, "margin", c->targets[i].margin);
        cli_json_count(json, "cells", c->targets[i].n_cells);
        cli_json_real(json, "weight", c->targets[i].weight);
        cli_json_real(json, "sd", strategy->sd[i]);
        cli_json_truth(json, "added_up", strategy->sums[i]);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
    cli_json_end(json, '}');
}

static cellar_status tell_json(const cellar_plan_comparison *c, cellar_error *err)
{
    cli_json json = {0};
    cellar_status status = cellar_output_open("-", NULL, &json.output, err);
    if (status != CELLAR_OK)
        return status;
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, c->is_rho ? "rho" : "epsilon", c->budget);
    cli_json_text(&json, "found_for", c->found_for);
    cli_json_begin(&json, "strategies", '[');
    for (size_t k = 0; k < c->n_strategies; k++)
        json_strategy(&json, c, &c->strategies[k]);
    cli_json_end(&json, ']');
    cli_json_text(&json, "recommended", c->strategies[c->recommended].name);
    cli_json_text(&json, "reason", c->reason);
    cli_json_end(&json, '}');
    return cellar_output_commit(json.output, err);
}

int cli_plan_compare(const cellar_plan *plan, const plan_values *values)
{
    cellar_plan_options options = cli_plan_options(values);
    cellar_plan_comparison *comparison;
    cellar_error err;
    cellar_status status = cellar_plan_compare(plan, &options, &comparison, &err);
    cli_progress_end();
    if (status == CELLAR_OK)
        status = values->json ? tell_json(comparison, &err) : tell(comparison, &err);
    cellar_plan_comparison_free(comparison);
    return cli_exit(status, &err);
}
