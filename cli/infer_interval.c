/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar infer interval. */
#include <cellar/interval.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/release_file.h>

#include "infer.h"

const char *const infer_comparisons[] = {"count", "difference", "ratio", "proportion"};

static int question_read(const infer_values *values, infer_question *q)
{
    int n = (values->minus != NULL) + (values->over != NULL) + (values->within != NULL);
    int result;
    q->of = values->of;
    q->options = cellar_interval_options_default();
    q->options.target = values->target == 2 ? CELLAR_TARGET_POPULATION : CELLAR_TARGET_TABLE;
    q->options.prior = (cellar_prior) values->prior;
    if ((values->of == NULL) == (values->every_cell == 0))
        return cli_usage("infer interval: say --of 'var=code; ...', or --every-cell");
    if (values->n_others > 0 &&
        (values->every_cell || values->over != NULL || values->within != NULL))
        return cli_usage("infer interval: several releases are pooled for --of, or --of and "
                         "--minus");
    if (n > 1)
        return cli_usage("--minus, --over and --within: one of them");
    if (n > 0 && values->every_cell)
        return cli_usage("--minus, --over and --within need --of");
    if (values->simultaneous && !values->every_cell)
        return cli_usage("--simultaneous is for --every-cell");
    q->comparison = values->minus != NULL    ? CELLAR_COMPARE_DIFFERENCE
                    : values->over != NULL   ? CELLAR_COMPARE_RATIO
                    : values->within != NULL ? CELLAR_COMPARE_PROPORTION
                                             : CELLAR_COMPARE_NONE;
    q->other = values->minus != NULL  ? values->minus
               : values->over != NULL ? values->over
                                      : values->within;
    result = infer_real("confidence", values->confidence, 0.95, &q->options.confidence);
    return result;
}

/* The table of the variables that are named: a margin that was released is used as released. */
static int read_table(const infer_values *values, const infer_question *q, const char *path,
                      infer_source *source)
{
    cli_words names = {0};
    cellar_error err;
    cellar_status status;
    int result;
    if (values->every_cell) {
        if (values->columns != NULL)
            cli_words_split(&names, values->columns, ',', 1);
        result = infer_read(path, &names, source);
        cli_words_clear(&names);
        return result;
    }
    status = cellar_release_read(path, cellar_table_format_of_path(path), &source->release, &err);
    if (status == CELLAR_OK)
        status = cellar_noisy_for_sets(source->release, q->of, q->other, &source->noisy, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

void infer_add_sets(const infer_question *q, infer_answer *answer)
{
    cli_results_begin(&answer->list, infer_comparisons[q->comparison]);
    cli_results_text(&answer->list, "of", q->of[0] != '\0' ? q->of : "everything");
    if (q->other != NULL)
        cli_results_text(&answer->list, "with", q->other[0] != '\0' ? q->other : "everything");
}

static void add_interval(const cellar_interval *found, cli_results *list)
{
    cli_results_real(list, "estimate", found->estimate);
    cli_results_real(list, "low", found->low);
    if (isinf(found->high))
        cli_results_text(list, "high", "unbounded");
    else
        cli_results_real(list, "high", found->high);
    cli_results_member(list, "naive", "value", found->naive);
    cli_results_member(list, "naive", "low", found->naive_low);
    cli_results_member(list, "naive", "high", found->naive_high);
}

static const char pooled_note[] =
    "The interval is from all released values about these counts together, inner cells and "
    "margins, by generalised least squares with the distribution of the noise; one_margin is from "
    "the values of one margin alone.";

/* Puts the interval from all values of the release in the place of that from one margin, which is
 * shown beside it. Where values cannot be pooled, `found` stays. */
static cellar_status pool(const infer_question *q, const cellar_release *const *releases,
                          size_t n_releases, cellar_interval *found, infer_answer *answer,
                          cellar_error *err)
{
    const int is_difference = q->comparison == CELLAR_COMPARE_DIFFERENCE;
    cellar_interval pooled;
    cellar_status status;
    if (q->comparison != CELLAR_COMPARE_NONE && !is_difference)
        return CELLAR_OK;
    status = cellar_interval_fitted(releases, n_releases, q->of, is_difference ? q->other : NULL,
                                    &q->options, &pooled, err);
    if (status == CELLAR_ERR_RULE && n_releases == 1)
        return CELLAR_OK;
    if (status != CELLAR_OK)
        return status;
    cli_results_text(&answer->list, "pooled", "yes");
    cli_results_member(&answer->list, "one_margin", "estimate", found->estimate);
    cli_results_member(&answer->list, "one_margin", "low", found->low);
    cli_results_member(&answer->list, "one_margin", "high", found->high);
    pooled.naive = found->naive;
    *found = pooled;
    infer_note(answer, pooled_note);
    return CELLAR_OK;
}

static int run_one(const infer_question *q, const cellar_release *const *releases,
                   size_t n_releases, const cellar_noisy *noisy, infer_answer *answer)
{
    cellar_cell_set *set = NULL, *other = NULL;
    cellar_interval found;
    cellar_error err;
    cellar_status status = cellar_cell_set_parse(noisy, q->of, &set, &err);
    if (status == CELLAR_OK && q->other != NULL)
        status = cellar_cell_set_parse(noisy, q->other, &other, &err);
    if (status == CELLAR_OK)
        status = cellar_interval_run(noisy, set, q->comparison, other, &q->options, &found, &err);
    if (status == CELLAR_OK) {
        infer_add_sets(q, answer);
        status = pool(q, releases, n_releases, &found, answer, &err);
    }
    if (status == CELLAR_OK) {
        add_interval(&found, &answer->list);
        cli_results_count(&answer->list, "numbers_summed", found.n_noises);
        if (found.conservative)
            infer_note(answer,
                       "Small values were set to zero, or the noise depends on the count: the "
                       "interval is made from limits of its parts. It covers with at least its "
                       "confidence and is wider than necessary.");
    }
    cellar_cell_set_free(set);
    cellar_cell_set_free(other);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

static void add_codes(const cellar_noisy *noisy, size_t cell, cli_results *list)
{
    size_t n = cellar_noisy_n_variables(noisy), levels[CELLAR_MAX_VARIABLES];
    for (size_t v = n; v-- > 0; cell /= cellar_noisy_n_levels(noisy, v))
        levels[v] = cell % cellar_noisy_n_levels(noisy, v);
    for (size_t v = 0; v < n; v++)
        cli_results_text(list, cellar_noisy_variable(noisy, v),
                         cellar_noisy_code(noisy, v, levels[v]));
}

static int run_every(const infer_values *values, infer_question *q, const cellar_noisy *noisy,
                     infer_answer *answer)
{
    cellar_status status = CELLAR_OK;
    cellar_error err;
    uint64_t n = 0;
    for (size_t i = 0; i < cellar_noisy_n_cells(noisy); i++)
        n += !cellar_noisy_is_structural(noisy, i);
    q->options.n_simultaneous = values->simultaneous && n > 0 ? n : 1;
    for (size_t i = 0; i < cellar_noisy_n_cells(noisy) && status == CELLAR_OK; i++) {
        cellar_cell_set *set = NULL;
        cellar_interval found;
        if (cellar_noisy_is_structural(noisy, i))
            continue;
        status = cellar_cell_set_create_one(noisy, i, &set, &err);
        if (status == CELLAR_OK)
            status = cellar_interval_run(noisy, set, CELLAR_COMPARE_NONE, NULL, &q->options, &found,
                                         &err);
        if (status == CELLAR_OK) {
            cli_results_begin(&answer->list, "count");
            add_codes(noisy, i, &answer->list);
            if (cellar_noisy_is_suppressed(noisy, i))
                cli_results_text(&answer->list, "released", "suppressed");
            else
                cli_results_real(&answer->list, "released",
                                 (double) cellar_noisy_released(noisy, i));
            add_interval(&found, &answer->list);
        }
        cellar_cell_set_free(set);
    }
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

static void tell_question(const infer_values *values, const infer_question *q, infer_answer *answer)
{
    static const char *const priors[] = {"none: a confidence interval", "uniform on 0, 1, 2, ...",
                                         "1/(count + 1)"};
    cli_results *header = &answer->header;
    cli_results_text(header, "target",
                     q->options.target == CELLAR_TARGET_POPULATION ? "population" : "table");
    cli_results_text(header, "prior", priors[q->options.prior]);
    cli_results_real(header, "confidence", q->options.confidence);
    cli_results_text(header, "simultaneous", values->simultaneous ? "yes" : "no");
    if (q->options.prior != CELLAR_PRIOR_NONE)
        infer_note(answer,
                   "Given the prior; the counts of different sets are independent under it. Where "
                   "the distribution of a sum depends on its parts, each of them has the prior. "
                   "Counts: the "
                   "shortest interval; comparisons: equal tails.");
    else if (q->options.target == CELLAR_TARGET_TABLE)
        infer_note(answer,
                   "The interval is for the counts of this table and reckons with the noise "
                   "alone. It holds with at least its confidence, whatever they are.");
    else {
        infer_note(answer,
                   "The interval is for the means behind the counts and reckons with noise "
                   "and sampling, by the profile of the likelihood (chi-square) by default.");
        infer_note(
            answer,
            "The interval is about the chances that made the counts, not about the people who "
            "were counted: a census too is one draw of them.");
    }
}

/* The interval adds up values of one margin. What the others say about the same counts is not in
 * it. */
static void tell_margins(const cellar_release *release, infer_answer *answer)
{
    if (release == NULL || cellar_release_cells_per_record(release) <= 1)
        return;
    if (cellar_release_negatives(release) == CELLAR_NEGATIVES_KEEP &&
        !cellar_release_is_weighted(release))
        infer_note(
            answer,
            "The interval uses the values of one margin. The release has other margins "
            "or levels of the same counts, which could make it narrower; 'cellar fit' combines "
            "them all (--sd for their standard deviations).");
    else
        infer_note(
            answer,
            "The interval uses the values of one margin. The release has other margins "
            "or levels of the same counts, which are not used; 'cellar fit' combines margins of "
            "unweighted releases that keep negative values (--negatives keep).");
}

/* The interval of one question, from the first release and the others if there are any. */
static int run_releases(const infer_values *values, const infer_question *q,
                        const infer_source *source, infer_answer *answer)
{
    cellar_release **releases = cli_alloc(values->n_others + 1, sizeof *releases);
    cellar_error err;
    int result = CLI_GO_ON;
    releases[0] = source->release;
    for (size_t r = 1; r <= values->n_others && result == CLI_GO_ON; r++) {
        const char *path = values->others[r - 1];
        const cellar_status status =
            cellar_release_read(path, cellar_table_format_of_path(path), &releases[r], &err);
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    if (result == CLI_GO_ON)
        result = run_one(q, (const cellar_release *const *) releases, values->n_others + 1,
                         source->noisy, answer);
    for (size_t r = 1; r <= values->n_others; r++)
        cellar_release_free(releases[r]);
    free(releases);
    return result;
}

int infer_run_interval(const infer_values *values, const char *path, infer_answer *answer)
{
    infer_question q = {0};
    infer_source source = {0};
    int result = question_read(values, &q);

    if (result == CLI_GO_ON && values->n_others > 0 && cellar_cube_is_file(path))
        return cli_usage("infer interval: a cube has all its tables; name no further file");
    if (result == CLI_GO_ON && cellar_cube_is_file(path))
        return infer_run_cube_interval(values, &q, path, answer);
    if (result == CLI_GO_ON)
        result = read_table(values, &q, path, &source);
    if (result == CLI_GO_ON) {
        cli_results_begin(&answer->header, "interval");
        infer_describe_source(&source, answer);
        if (values->n_others > 0)
            cli_results_count(&answer->header, "releases", values->n_others + 1);
        tell_question(values, &q, answer);
        answer->list_key = "intervals";
        result = values->every_cell ? run_every(values, &q, source.noisy, answer)
                                    : run_releases(values, &q, &source, answer);
        if (cli_words_find(&answer->notes, pooled_note) == (size_t) -1)
            tell_margins(source.release, answer);
    }
    infer_source_clear(&source);
    return result;
}
