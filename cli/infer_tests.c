/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar infer independence, cellar infer loglinear. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/release.h>

#include "infer.h"
#include "terminal.h"

enum { REFERENCE_CHI_SQUARE = 1, REFERENCE_BOOTSTRAP };

/* Of a cube, and of pooled values, the bootstrap is the only reference, and the default. */
static cellar_test_options test_options(const infer_values *values, const infer_source *source)
{
    cellar_test_options o = cellar_test_options_default();
    if (values->reference == REFERENCE_BOOTSTRAP ||
        ((source->cube != NULL || source->is_pooled) && values->reference == 0))
        o.reference = CELLAR_REFERENCE_BOOTSTRAP;
    if (values->replicates.given)
        o.n_replicates = values->replicates.value;
    if (values->seed.given)
        o.seed = values->seed.value;
    o.n_threads = (int) values->threads.value;
    o.with_residuals = values->cells;
    return o;
}

/* ---- telling --------------------------------------------------------------- */

static void add_test(cli_results *tests, const char *name, const cellar_test *test,
                     const char *reference)
{
    cli_results_begin(tests, name);
    cli_results_real(tests, "statistic", test->statistic);
    cli_results_real(tests, "df", test->df);
    cli_results_real(tests, "p_value", test->p_value);
    cli_results_text(tests, "reference", reference);
    cli_results_real(tests, "chi_square_p_value", test->chi_square_p_value);
    cli_results_real(tests, "pearson", test->pearson);
    cli_results_real(tests, "total", test->total);
}

static void note_quality(const cellar_test_quality *quality, double df,
                         const cellar_test_options *options, infer_answer *answer)
{
    char text[200];
    int bootstrap = options->reference == CELLAR_REFERENCE_BOOTSTRAP;
    if (!quality->converged)
        infer_note(answer, "NOT CONVERGED: the statistic bounds nothing; do not use it.");
    if (!quality->same_from_all_starts)
        infer_note(answer, "The likelihood has several maxima: the largest one found was taken.");
    if (df == 0)
        infer_note(answer, "No degrees of freedom are left: the model fits whatever the values "
                           "are, and there is nothing to test.");
    else if (!bootstrap && quality->chi_square_is_off) {
        snprintf(text, sizeof text,
                 "The noise leaves %.0f %% of the information, the smallest expected count is "
                 "%.2g:",
                 100 * quality->information, quality->smallest_expected);
        infer_note(answer, text);
        infer_note(answer,
                   "the chi-square reference is not accurate at such sizes, least of all where "
                   "expected counts are below 10 (docs/inference.md). Use --reference bootstrap.");
    }
    if (bootstrap && quality->n_failed > 0) {
        snprintf(
            text, sizeof text,
            "Replicates that did not converge: %zu. They count as exceeding, so the p-value is too "
            "large rather than too small.",
            quality->n_failed);
        infer_note(answer, text);
    }
}

static void tell_test(const cellar_loglinear *test, const cellar_test_options *options,
                      infer_answer *answer)
{
    cellar_test aware = cellar_loglinear_aware(test), naive = cellar_loglinear_naive(test);
    cellar_test_quality quality = cellar_loglinear_quality(test);
    int bootstrap = options->reference == CELLAR_REFERENCE_BOOTSTRAP;
    cli_results *header = &answer->header;
    cli_results_real(header, "df", aware.df);
    cli_results_text(header, "converged", quality.converged ? "yes" : "no");
    cli_results_count(header, "iterations", quality.n_iterations);
    cli_results_real(header, "smallest_expected", quality.smallest_expected);
    cli_results_real(header, "information", quality.information);
    if (bootstrap) {
        cli_results_count(header, "replicates", options->n_replicates);
        cli_results_count(header, "seed", options->seed);
    }
    add_test(&answer->tests, "aware", &aware, bootstrap ? "bootstrap" : "chi-square");
    add_test(&answer->tests, "naive", &naive, "chi-square");
    note_quality(&quality, aware.df, options, answer);
    infer_note(answer, "The naive test takes the released values for counts, negatives for zeros. "
                       "It can mistake noise for association.");
    infer_note_population(answer);
}

static void add_cells(const infer_source *source, const cellar_loglinear *test,
                      infer_answer *answer)
{
    const cellar_noisy *noisy = source->noisy;
    const char *shown = source->cube != NULL || source->is_pooled ? "estimate" : "released";
    cli_results *list = &answer->list;
    answer->list_key = "cells";
    for (size_t i = 0; i < cellar_noisy_n_cells(noisy); i++) {
        cellar_loglinear_cell cell = cellar_loglinear_cell_at(test, i);
        size_t rest = i, n = cellar_noisy_n_variables(noisy), levels[CELLAR_MAX_VARIABLES];
        for (size_t v = n; v-- > 0; rest /= cellar_noisy_n_levels(noisy, v))
            levels[v] = rest % cellar_noisy_n_levels(noisy, v);
        cli_results_begin(list, cellar_noisy_is_structural(noisy, i) ? "structural zero" : "cell");
        for (size_t v = 0; v < n; v++)
            cli_results_text(list, cellar_noisy_variable(noisy, v),
                             cellar_noisy_code(noisy, v, levels[v]));
        if (cellar_noisy_is_suppressed(noisy, i))
            cli_results_text(list, shown, "suppressed");
        else
            cli_results_real(list, shown, (double) cellar_noisy_released(noisy, i));
        cli_results_real(list, "expected", cell.expected);
        cli_results_real(list, "residual", cell.residual);
        cli_results_real(list, "naive_expected", cell.naive_expected);
        cli_results_real(list, "naive_residual", cell.naive_residual);
    }
}

static void add_estimate(cli_results *list, const char *group,
                         const cellar_interval_estimate *estimate)
{
    cli_results_member(list, group, "value", estimate->value);
    cli_results_member(list, group, "low", estimate->low);
    cli_results_member(list, group, "high", estimate->high);
}

/* The odds ratios of each cell with the largest row and column. */
static int add_odds_ratios(const cellar_noisy *noisy, double confidence, infer_answer *answer)
{
    const size_t row = cellar_noisy_largest_level(noisy, 0);
    const size_t column = cellar_noisy_largest_level(noisy, 1);
    for (size_t i = 0; i < cellar_noisy_n_levels(noisy, 0); i++)
        for (size_t j = 0; j < cellar_noisy_n_levels(noisy, 1); j++) {
            const size_t rows[2] = {i, row}, columns[2] = {j, column};
            cellar_interval_estimate aware, naive;
            cellar_error err;
            cellar_status status;
            if (i == row || j == column)
                continue;
            status = cellar_odds_ratio(noisy, rows, columns, confidence, &aware, &naive, &err);
            if (status != CELLAR_OK)
                return cli_exit(status, &err);
            cli_results_begin(&answer->list, "odds_ratio");
            cli_results_text(&answer->list, "row", cellar_noisy_code(noisy, 0, i));
            cli_results_text(&answer->list, "column", cellar_noisy_code(noisy, 1, j));
            cli_results_text(&answer->list, "with_row", cellar_noisy_code(noisy, 0, row));
            cli_results_text(&answer->list, "with_column", cellar_noisy_code(noisy, 1, column));
            add_estimate(&answer->list, "aware", &aware);
            add_estimate(&answer->list, "naive", &naive);
        }
    infer_note(
        answer,
        "Odds ratios compare with the row and the column of the largest total; "
        "intervals are those of the likelihood's profile. Cramer's V is corrected for its bias.");
    return CLI_GO_ON;
}

/* Cramer's V, and of a release the odds ratios. */
static int add_association(const infer_values *values, const infer_source *source,
                           infer_answer *answer)
{
    cellar_test_options options = test_options(values, source);
    cellar_interval_estimate aware;
    double confidence, naive_v;
    cellar_error err;
    cellar_status status;
    int result = infer_real("confidence", values->confidence, 0.95, &confidence);
    if (result != CLI_GO_ON)
        return result;
    status = cellar_cramers_v(source->noisy, confidence, &options, &aware, &naive_v, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    answer->list_key = "association";
    cli_results_begin(&answer->list, "cramers_v");
    add_estimate(&answer->list, "aware", &aware);
    cli_results_member(&answer->list, "naive", "value", naive_v);
    if (source->cube == NULL)
        return add_odds_ratios(source->noisy, confidence, answer);
    infer_note(answer, "Cramer's V is corrected for its bias. Odds ratios are not computed from a "
                       "cube; ratios of counts are: cellar infer interval --over.");
    return CLI_GO_ON;
}

/* ---- running ----------------------------------------------------------------- */

static int run_test(const infer_values *values, const infer_source *source, const char *model,
                    infer_answer *answer)
{
    cellar_test_options options = test_options(values, source);
    cellar_loglinear *test = NULL;
    cellar_error err;
    cellar_status status;
    int result = CLI_GO_ON;

    options.progress = cli_progress_begin();
    status = cellar_loglinear_create(source->noisy, model, values->against, &options, &test, &err);
    cli_progress_end();
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    tell_test(test, &options, answer);
    if (values->cells)
        add_cells(source, test, answer);
    if (values->association)
        result = add_association(values, source, answer);
    cellar_loglinear_free(test);
    return result;
}

int infer_run_independence(const infer_values *values, const char *path, infer_answer *answer)
{
    cli_words names = {0};
    infer_source source = {.is_pooled = values->pooled};
    char *model = NULL;
    size_t size;
    int result;

    if (values->rows == NULL || values->columns == NULL)
        return cli_usage("infer independence: name the variables: --rows A --columns B");
    if (values->cells && values->association)
        return cli_usage("--cells and --association: one list at a time");
    cli_words_add(&names, values->rows, strlen(values->rows));
    cli_words_add(&names, values->columns, strlen(values->columns));
    result = infer_read(path, &names, &source);
    if (result == CLI_GO_ON) {
        cli_results_begin(&answer->header, "independence");
        cli_results_text(&answer->header, "rows", values->rows);
        cli_results_text(&answer->header, "columns", values->columns);
        infer_describe_source(&source, answer);
        size = strlen(values->rows) + strlen(values->columns) + 8;
        model = cli_alloc(size, 1);
        snprintf(model, size, "\"%s\"+\"%s\"", cellar_noisy_variable(source.noisy, 0),
                 cellar_noisy_variable(source.noisy, 1));
        result = run_test(values, &source, model, answer);
    }
    infer_source_clear(&source);
    cli_words_clear(&names);
    free(model);
    return result;
}

int infer_run_loglinear(const infer_values *values, const char *path, infer_answer *answer)
{
    cli_words names = {0};
    infer_source source = {.is_pooled = values->pooled};
    int result = CLI_GO_ON;

    if (values->model == NULL)
        return cli_usage("infer loglinear: say which model: --model 'a*b + c'");
    if (values->rows != NULL || values->association)
        return cli_usage("--rows and --association are for infer independence");
    if (values->columns != NULL)
        cli_words_split(&names, values->columns, ',', 1);
    result = infer_read(path, &names, &source);
    if (result == CLI_GO_ON) {
        cli_results_begin(&answer->header, "loglinear");
        cli_results_text(&answer->header, "model", values->model);
        cli_results_text(&answer->header, "against",
                         values->against != NULL ? values->against : "saturated");
        infer_describe_source(&source, answer);
        result = run_test(values, &source, values->model, answer);
    }
    infer_source_clear(&source);
    cli_words_clear(&names);
    return result;
}
