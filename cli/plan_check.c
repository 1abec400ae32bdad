/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar plan check: what a plan will do, for people and for programs. */
#include "plan.h"

#include <math.h>
#include <stdio.h>

#include "json_out.h"
#include "terminal.h"

/* ---- for people ----------------------------------------------------------------------------- */

const char *cli_plan_number(double number, char text[CLI_PLAN_NUMBER])
{
    if (fabs(number) >= 1000 && fabs(number) < 1e15)
        snprintf(text, CLI_PLAN_NUMBER, "%.0f", number);
    else
        snprintf(text, CLI_PLAN_NUMBER, "%.4g", number == 0 ? 0 : number);
    return text;
}

static void add_real(cli_grid *grid, double number)
{
    char text[CLI_PLAN_NUMBER];
    cli_grid_add(grid, cli_plan_number(number, text));
}

static void add_sd(cli_grid *grid, double low, double high)
{
    char text[2 * CLI_PLAN_NUMBER + 4], ends[2][CLI_PLAN_NUMBER];
    snprintf(text, sizeof text, "%s to %s", cli_plan_number(low, ends[0]),
             cli_plan_number(high, ends[1]));
    if (high - low > 1e-9 * high)
        cli_grid_add(grid, text);
    else
        add_real(grid, high);
}

static void tell_table(const cellar_plan_table *table, cellar_output *output)
{
    static const char *const heads[] = {"cells", "number", "SD", "bias", "false positives", ""};
    cli_grid grid = {.n_columns = sizeof heads / sizeof *heads};
    char numbers[2][CLI_PLAN_NUMBER];
    cellar_output_printf(output, "\n%s: %llu cell%s, ", table->name,
                         (unsigned long long) table->n_cells, table->n_cells == 1 ? "" : "s");
    if (table->n_structural > 0)
        cellar_output_printf(output, "%llu of them structural zeros without noise, ",
                             (unsigned long long) table->n_structural);
    cellar_output_printf(output, "a record touches %llu; %s for each",
                         (unsigned long long) table->cells_per_record, table->mechanism);
    if (table->epsilon != NULL)
        cellar_output_printf(output, ", epsilon %s in all", table->epsilon);
    cellar_output_printf(output, "\nabout %s rows, %s bytes\n",
                         cli_plan_number(round(table->rows), numbers[0]),
                         cli_plan_number(round(table->bytes), numbers[1]));
    for (size_t i = 0; i < grid.n_columns; i++)
        cli_grid_add(&grid, heads[i]);
    for (size_t i = 0; i < table->n_cells_groups; i++) {
        const cellar_plan_cells *cells = &table->cells[i];
        cli_grid_add(&grid, cells->margin);
        cli_grid_add_count(&grid, cells->n_cells);
        add_sd(&grid, cells->sd_low, cells->sd_high);
        add_real(&grid, cells->bias);
        add_real(&grid, cells->false_positives);
        cli_grid_add(&grid, cells->is_summed ? "added up" : cells->is_biased ? "biased" : "");
    }
    cli_grid_write(&grid, 0x1e, output);
    cli_grid_clear(&grid);
}

static void tell_guarantee(const char *name, cellar_guarantee guarantee, cellar_output *output)
{
    if (!isfinite(guarantee.epsilon))
        return;
    cellar_output_printf(output, "  %-10s epsilon %.6g", name, guarantee.epsilon);
    if (guarantee.delta > 0)
        cellar_output_printf(output, ", delta %.3g", guarantee.delta);
    cellar_output_string(output, "\n");
}

static void tell_list(const cellar_plan_figures *figures, cellar_output *output)
{
    const cellar_certificate *certificate = figures->certificate;
    cellar_composition composition = cellar_certificate_composition(certificate);
    char numbers[3][CLI_PLAN_NUMBER];
    cellar_output_printf(output, "%zu table%s, %llu cell%s; a record touches %llu of them (d)\n",
                         figures->n_tables, figures->n_tables == 1 ? "" : "s",
                         (unsigned long long) figures->n_cells, figures->n_cells == 1 ? "" : "s",
                         (unsigned long long) figures->cells_per_record);
    cellar_output_printf(output, "certificate of the whole list: %s\n",
                         cellar_verdict_name(cellar_certificate_verdict(certificate)));
    if (isfinite(cellar_certificate_pure_epsilon(certificate)))
        cellar_output_printf(output, "  pure       epsilon %.6g\n",
                             cellar_certificate_pure_epsilon(certificate));
    tell_guarantee("basic", composition.basic, output);
    tell_guarantee("advanced", composition.advanced, output);
    tell_guarantee("tight", composition.tight, output);
    if (!isnan(composition.rho))
        cellar_output_printf(output, "  rho        %.6g\n", composition.rho);
    cellar_output_printf(output, "about %s rows, %s bytes, %s false positives\n",
                         cli_plan_number(round(figures->rows), numbers[0]),
                         cli_plan_number(round(figures->bytes), numbers[1]),
                         cli_plan_number(figures->false_positives, numbers[2]));
}

static cellar_status tell(const cellar_plan_figures *figures, const char *title, cellar_error *err)
{
    cellar_output *output;
    cellar_status status = cellar_output_open("-", NULL, &output, err);
    if (status != CELLAR_OK)
        return status;
    if (figures->is_confidential)
        cellar_output_string(output, "CONFIDENTIAL: computed from true counts\n");
    if (title != NULL)
        cellar_output_printf(output, "%s\n", title);
    tell_list(figures, output);
    for (size_t t = 0; t < figures->n_tables; t++)
        tell_table(&figures->tables[t], output);
    if (figures->n_remarks > 0)
        cellar_output_string(output, "\n");
    for (size_t i = 0; i < figures->n_remarks; i++)
        cellar_output_printf(output, "note: %s\n", figures->remarks[i]);
    return cellar_output_commit(output, err);
}

/* ---- for programs --------------------------------------------------------------------------- */

static void json_cells(cli_json *json, const cellar_plan_cells *cells)
{
    cli_json_begin(json, NULL, '{');
    cli_json_text(json, "margin", cells->margin);
    cli_json_text(json, "kind",
                  cells->is_summed  ? "added-up"
                  : cells->is_inner ? "inner"
                                    : "margin");
    cli_json_count(json, "cells", cells->n_cells);
    cli_json_count(json, "structural_zeros", cells->n_structural);
    cli_json_real(json, "sd_low", cells->sd_low);
    cli_json_real(json, "sd_high", cells->sd_high);
    cli_json_real(json, "bias", cells->bias);
    cli_json_real(json, "sum_sd", cells->sum_sd);
    cli_json_real(json, "sum_bias", cells->sum_bias);
    cli_json_real(json, "false_positives", cells->false_positives);
    cli_json_truth(json, "biased", cells->is_biased);
    cli_json_end(json, '}');
}

static void json_table(cli_json *json, const cellar_plan_table *table)
{
    cli_json_begin(json, NULL, '{');
    cli_json_text(json, "name", table->name);
    cli_json_text(json, "mechanism", table->mechanism);
    cli_json_text(json, "epsilon", table->epsilon);
    cli_json_count(json, "cells_per_record", table->cells_per_record);
    cli_json_count(json, "cells", table->n_cells);
    cli_json_count(json, "structural_zeros", table->n_structural);
    cli_json_real(json, "rows", table->rows);
    cli_json_real(json, "bytes", table->bytes);
    cli_json_real(json, "false_positives", table->false_positives);
    cli_json_begin(json, "margins", '[');
    for (size_t i = 0; i < table->n_cells_groups; i++)
        json_cells(json, &table->cells[i]);
    cli_json_end(json, ']');
    cli_json_end(json, '}');
}

static void json_guarantee(cli_json *json, const char *key, cellar_guarantee guarantee)
{
    cli_json_begin(json, key, '{');
    cli_json_real(json, "epsilon", guarantee.epsilon);
    cli_json_real(json, "delta", guarantee.delta);
    cli_json_end(json, '}');
}

static void json_certificate(cli_json *json, const cellar_certificate *certificate)
{
    cellar_composition composition = cellar_certificate_composition(certificate);
    cli_json_begin(json, "certificate", '{');
    cli_json_text(json, "verdict", cellar_verdict_name(cellar_certificate_verdict(certificate)));
    cli_json_text(json, "reason", cellar_certificate_reason(certificate));
    cli_json_real(json, "pure_epsilon", cellar_certificate_pure_epsilon(certificate));
    cli_json_text(json, "pure_exact", cellar_certificate_pure_exact(certificate));
    json_guarantee(json, "basic", composition.basic);
    json_guarantee(json, "advanced", composition.advanced);
    json_guarantee(json, "tight", composition.tight);
    cli_json_real(json, "rho", composition.rho);
    cli_json_end(json, '}');
}

static void json_texts(cli_json *json, const char *key, const char *const *texts, size_t n)
{
    cli_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        cli_json_text(json, NULL, texts[i]);
    cli_json_end(json, ']');
}

static cellar_status tell_json(const cellar_plan_figures *figures, const char *title,
                               cellar_error *err)
{
    cli_json json = {0};
    cellar_status status = cellar_output_open("-", NULL, &json.output, err);
    if (status != CELLAR_OK)
        return status;
    cli_json_begin(&json, NULL, '{');
    cli_json_truth(&json, "confidential", figures->is_confidential);
    cli_json_text(&json, "title", title);
    cli_json_count(&json, "cells_per_record", figures->cells_per_record);
    cli_json_count(&json, "cells", figures->n_cells);
    cli_json_real(&json, "rows", figures->rows);
    cli_json_real(&json, "bytes", figures->bytes);
    cli_json_real(&json, "false_positives", figures->false_positives);
    json_certificate(&json, figures->certificate);
    cli_json_begin(&json, "tables", '[');
    for (size_t t = 0; t < figures->n_tables; t++)
        json_table(&json, &figures->tables[t]);
    cli_json_end(&json, ']');
    json_texts(&json, "refusals", figures->refusals, figures->n_refusals);
    json_texts(&json, "remarks", figures->remarks, figures->n_remarks);
    cli_json_end(&json, '}');
    return cellar_output_commit(json.output, err);
}

int cli_plan_check(const cellar_plan *plan, const plan_values *values)
{
    cellar_plan_options options = cli_plan_options(values);
    cellar_plan_figures *figures;
    cellar_error err;
    cellar_status status = cellar_plan_check(plan, &options, &figures, &err);
    int result;
    cli_progress_end();
    if (status == CELLAR_OK)
        status = values->json ? tell_json(figures, cellar_plan_title(plan), &err)
                              : tell(figures, cellar_plan_title(plan), &err);
    result = cli_exit(status, &err);
    for (size_t i = 0; status == CELLAR_OK && i < figures->n_refusals; i++) {
        cli_message("refused: %s", figures->refusals[i]);
        result = CLI_REFUSED;
    }
    cellar_plan_figures_free(figures);
    return result;
}
