/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar infer interval of a cube. */
#include <cellar/cube_inference.h>

#include <stdlib.h>

#include "cube.h"
#include "infer.h"

static void add_finding(const cellar_cube_finding *found, cli_results *list)
{
    cli_results_real(list, "estimate", found->estimate);
    cli_results_real(list, "se", found->se);
    if (found->is_undetermined) {
        cli_results_text(list, "low", "undetermined");
        cli_results_text(list, "high", "undetermined");
    } else {
        cli_results_real(list, "low", found->low);
        cli_results_real(list, "high", found->high);
    }
    cli_results_real(list, "p_value", found->p_value);
}

static cellar_status run_one(const cellar_cube *cube, const infer_question *q, infer_answer *answer,
                             cellar_error *err)
{
    cellar_cube_sum *sum = NULL, *other = NULL;
    cellar_cube_finding found;
    cellar_status status = cellar_cube_sum_parse(cube, q->of, &sum, err);
    if (status == CELLAR_OK && q->other != NULL)
        status = cellar_cube_sum_parse(cube, q->other, &other, err);
    if (status == CELLAR_OK)
        status = cellar_cube_compare(cube, sum, q->comparison, other, q->options.confidence, &found,
                                     err);
    if (status == CELLAR_OK) {
        infer_add_sets(q, answer);
        add_finding(&found, &answer->list);
        if (found.is_undetermined)
            infer_note(answer, "The noise leaves open whether the second count is 0: no bounded "
                               "interval of the ratio has the confidence.");
        if (q->comparison == CELLAR_COMPARE_DIFFERENCE)
            infer_note(answer, "p_value: how likely noise alone, between equal counts, makes the "
                               "estimates differ at least so much.");
    }
    cellar_cube_sum_free(sum);
    cellar_cube_sum_free(other);
    return status;
}

static void add_cells(const cellar_estimate *estimate, const double *half_widths,
                      infer_answer *answer)
{
    const cellar_schema *schema = cellar_estimate_schema(estimate);
    for (size_t i = 0; i < cellar_estimate_n_cells(estimate); i++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(estimate, i);
        uint32_t categories[CELLAR_MAX_VARIABLES];
        cellar_schema_categories(schema, cell.index, categories);
        cli_results_begin(&answer->list, "count");
        for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
            cli_results_text(&answer->list, cellar_schema_variable(schema, v),
                             cellar_schema_code(schema, v, categories[v]));
        cli_results_real(&answer->list, "estimate", cell.value);
        cli_results_real(&answer->list, "se", cell.se);
        cli_results_real(&answer->list, "low", cell.value - half_widths[i]);
        cli_results_real(&answer->list, "high", cell.value + half_widths[i]);
    }
}

static cellar_status run_every(const cellar_cube *cube, const infer_values *values,
                               const cellar_cube_question *question, double confidence,
                               infer_answer *answer, cellar_error *err)
{
    cellar_estimate *estimate = NULL;
    cellar_status status = cellar_cube_ask(cube, question, &estimate, err);
    const size_t n = status == CELLAR_OK ? cellar_estimate_n_cells(estimate) : 0;
    double *half_widths = cli_alloc(n + 1, sizeof *half_widths);
    if (status == CELLAR_OK)
        status = cellar_cube_half_widths(cube, question, confidence, values->simultaneous,
                                         half_widths, n, err);
    if (status == CELLAR_OK)
        add_cells(estimate, half_widths, answer);
    free(half_widths);
    cellar_estimate_free(estimate);
    return status;
}

static void describe(const infer_values *values, const infer_question *q, infer_answer *answer)
{
    cli_results *header = &answer->header;
    cli_results_begin(header, "interval");
    cli_results_text(header, "source", "a cube");
    cli_results_text(header, "target", "table");
    cli_results_real(header, "confidence", q->options.confidence);
    cli_results_text(header, "simultaneous", values->simultaneous ? "yes" : "no");
    infer_note(answer,
               "Intervals are for the counts of the people who were counted and reckon with "
               "the noise alone, correlations included.");
    answer->list_key = "intervals";
}

int infer_run_cube_interval(const infer_values *values, const infer_question *q, const char *path,
                            infer_answer *answer)
{
    cellar_cube_side sides[CELLAR_MAX_VARIABLES];
    cli_words names = {0};
    cellar_cube *cube = NULL;
    cellar_error err;
    cellar_status status;
    int result = CLI_GO_ON;
    if (q->options.target != CELLAR_TARGET_TABLE || q->options.prior != CELLAR_PRIOR_NONE)
        return cli_usage("--target population and --prior are for releases: intervals of a cube "
                         "are for the counts of the table");
    if (values->columns != NULL)
        cli_words_split(&names, values->columns, ',', 1);
    result = cli_cube_sides(&names, sides);
    if (result == CLI_GO_ON) {
        const cellar_cube_question question = {sides, names.n, 0};
        describe(values, q, answer);
        status = cellar_cube_open(path, &cube, &err);
        if (status == CELLAR_OK)
            status = values->every_cell
                         ? run_every(cube, values, &question, q->options.confidence, answer, &err)
                         : run_one(cube, q, answer, &err);
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    cellar_cube_close(cube);
    cli_words_clear(&names);
    return result;
}
