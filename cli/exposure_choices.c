/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar exposure select and suppress: which columns and values to give up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/selection.h>

#include "exposure.h"
#include "lists.h"
#include "terminal.h"

/* ---- select ----------------------------------------------------------------- */

static int find_column(const cli_words *names, const char *option, const char *name, size_t *column)
{
    *column = cli_words_find(names, name);
    if (*column == (size_t) -1)
        return cli_usage("--%s: '%s' is not among the --columns", option, name);
    return CLI_GO_ON;
}

static int select_mask(const cli_words *names, const char *option, const char *text, uint64_t *mask)
{
    cli_words chosen = {0};
    int result = CLI_GO_ON;
    if (text == NULL)
        return CLI_GO_ON;
    if (!cli_words_split(&chosen, text, ',', 1))
        result = cli_usage("--%s: a quote is not closed", option);
    for (size_t i = 0; i < chosen.n && result == CLI_GO_ON; i++) {
        size_t column;
        result = find_column(names, option, chosen.items[i], &column);
        if (result == CLI_GO_ON)
            *mask |= UINT64_C(1) << column;
    }
    cli_words_clear(&chosen);
    return result;
}

/* "COLUMN=WEIGHT"; the last equals sign counts, for names may hold one. */
static int select_weights(const cli_words *names, const cli_words *texts, double *weights)
{
    unsigned char given[CELLAR_MAX_VARIABLES] = {0};
    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++)
        weights[c] = 1;
    for (size_t i = 0; i < texts->n; i++) {
        char *equals = strrchr(texts->items[i], '=');
        size_t column;
        int result;
        if (equals == NULL)
            return cli_usage("--weight reads COLUMN=NUMBER, not '%s'", texts->items[i]);
        *equals = '\0';
        result = find_column(names, "weight", texts->items[i], &column);
        if (result == CLI_GO_ON)
            result = cli_list_real("weight", equals + 1, &weights[column]);
        if (result == CLI_GO_ON && !(weights[column] > 0))
            result = cli_usage("--weight: column '%s': a weight is a number above 0, not %s",
                               names->items[column], equals + 1);
        if (result == CLI_GO_ON && given[column]++)
            result = cli_usage("--weight: column '%s' has two", names->items[column]);
        if (result != CLI_GO_ON)
            return result;
    }
    return CLI_GO_ON;
}

/* --k, --exposure: one number each. */
static int choice_numbers(const exposure_values *values, const char *part, uint64_t *k,
                          double *exposure)
{
    uint64_t *ks = NULL;
    size_t n = 0;
    int result;
    if (values->k == NULL || values->exposure == NULL)
        return cli_usage("exposure %s needs --k and --exposure, the share allowed to stand out",
                         part);
    result = cli_list_counts("k", values->k, 1, &ks, &n);
    if (result == CLI_GO_ON && n != 1)
        result = cli_usage("exposure %s takes one --k", part);
    if (result == CLI_GO_ON) {
        *k = ks[0];
        result = cli_list_real("exposure", values->exposure, exposure);
    }
    if (result == CLI_GO_ON && !(*exposure >= 0 && *exposure <= 1))
        result = cli_usage("--exposure is a share of people from 0 to 1, not %s", values->exposure);
    free(ks);
    return result;
}

static int select_population(const exposure_values *values, uint64_t *population)
{
    uint64_t *populations = NULL;
    size_t n = 0;
    int result;
    if (values->population == NULL)
        return CLI_GO_ON;
    if (values->measure != EXPOSURE_MEASURE_ESTIMATED)
        return cli_usage("exposure select: --population belongs to --measure estimated");
    result = cli_list_counts("population", values->population, 1, &populations, &n);
    if (result == CLI_GO_ON && n > 1)
        result = cli_usage("exposure select takes one --population");
    if (result == CLI_GO_ON)
        *population = populations[0];
    free(populations);
    return result;
}

static int select_tolerance(const exposure_values *values, double *tolerance)
{
    int result = CLI_GO_ON;
    if ((values->measure == EXPOSURE_MEASURE_INDEPENDENT) != (values->tolerance != NULL))
        return cli_usage("exposure select: --measure independent and --tolerance go together");
    if (values->tolerance != NULL)
        result = cli_list_real("tolerance", values->tolerance, tolerance);
    if (result == CLI_GO_ON && !(*tolerance >= 0 && *tolerance < 1))
        result = cli_usage("--tolerance is a share of people from 0 to below 1, not %s",
                           values->tolerance);
    return result;
}

/* All that can be wrong is found before the data are read. */
static int select_options(const exposure_values *values, double *weights,
                          cellar_selection_options *options)
{
    cli_words names = {0};
    int result = choice_numbers(values, "select", &options->k, &options->exposure);

    options->measure = (cellar_selection_measure) (values->measure > 0 ? values->measure - 1 : 0);
    options->n_runners_up = values->runners_up.given ? (size_t) values->runners_up.value : 3;
    options->max_evaluations = values->max_evaluations.value;
    options->weights = weights;
    if (result == CLI_GO_ON)
        result = select_tolerance(values, &options->tolerance);
    if (result == CLI_GO_ON)
        result = exposure_columns(values, &names);
    if (result == CLI_GO_ON)
        result = select_mask(&names, "must", values->must, &options->must);
    if (result == CLI_GO_ON)
        result = select_mask(&names, "must-not", values->must_not, &options->must_not);
    if (result == CLI_GO_ON && (options->must & options->must_not) != 0)
        result = cli_usage("exposure select: a column is named by both --must and --must-not");
    if (result == CLI_GO_ON)
        result = select_weights(&names, &values->weight, weights);
    if (result == CLI_GO_ON)
        result = select_population(values, &options->population);
    cli_words_clear(&names);
    return result;
}

/* The names of a set, as --columns reads them. Free it. */
static char *set_names(const cellar_profiles *profiles, uint64_t columns)
{
    size_t size = 1;
    char *text, *end;
    for (size_t c = 0; c < cellar_profiles_n_columns(profiles); c++)
        size += strlen(cellar_profiles_column(profiles, c)) + 1;
    end = text = cli_alloc(size, 1);
    for (size_t c = 0; c < cellar_profiles_n_columns(profiles); c++)
        if (columns >> c & 1)
            end += sprintf(end, "%s%s", end > text ? "," : "", cellar_profiles_column(profiles, c));
    return text;
}

static void add_sets(const cellar_profiles *profiles, const cellar_selection *selection,
                     exposure_answer *answer)
{
    for (size_t i = 0; i < cellar_selection_n_sets(selection); i++) {
        cellar_selection_set set = cellar_selection_set_at(selection, i);
        char *names = set_names(profiles, set.columns);
        cli_results_begin(&answer->results, i == 0 ? "best_set" : "runner_up");
        cli_results_real(&answer->results, "weight", set.weight);
        cli_results_real(&answer->results, "exposure", set.exposure);
        cli_results_text(&answer->results, "columns", names);
        free(names);
    }
    cli_results_begin(&answer->results, "search");
    cli_results_text(&answer->results, "feasible",
                     cellar_selection_n_sets(selection) > 0 ? "yes" : "no");
    cli_results_real(&answer->results, "gap", cellar_selection_gap(selection));
    cli_results_count(&answer->results, "evaluations", cellar_selection_n_evaluations(selection));
}

static void add_marginals(const cellar_profiles *profiles, const cellar_selection *selection,
                          exposure_answer *answer)
{
    answer->groups_key = "additions";
    answer->groups_columns = "measure,column,exposure";
    for (size_t c = 0; c < cellar_profiles_n_columns(profiles); c++) {
        double with = cellar_selection_with(selection, c);
        if (isnan(with))
            continue;
        cli_results_begin(&answer->groups, "addition");
        cli_results_text(&answer->groups, "column", cellar_profiles_column(profiles, c));
        cli_results_real(&answer->groups, "exposure", with);
    }
}

int exposure_run_select(const exposure_values *values, const char *path, exposure_answer *answer)
{
    double weights[CELLAR_MAX_VARIABLES];
    cellar_profiles *profiles = NULL;
    cellar_selection *selection = NULL;
    cellar_selection_options options = cellar_selection_options_default();
    cellar_error err;
    cellar_status status;
    int result = select_options(values, weights, &options);

    if (result == CLI_GO_ON)
        result = exposure_read_profiles(values, path, &profiles);
    if (result == CLI_GO_ON) {
        options.n_threads = (int) values->reader.threads.value;
        options.progress = cli_progress_begin();
        status = cellar_selection_create(profiles, &options, &selection, &err);
        cli_progress_end();
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    if (result == CLI_GO_ON) {
        exposure_add_profiles(values, profiles, answer);
        add_sets(profiles, selection, answer);
        add_marginals(profiles, selection, answer);
        if (cellar_selection_n_sets(selection) == 0)
            exposure_note(answer, "No set is allowed: the columns that must be there are too "
                                  "exposed by themselves.");
        else if (cellar_selection_gap(selection) > 0)
            exposure_note(answer, "The search was cut short: a set heavier by up to the gap may be "
                                  "allowed (--max-evaluations).");
        exposure_note_disclosure(answer);
    }
    cellar_selection_free(selection);
    cellar_profiles_free(profiles);
    return result;
}

/* ---- suppress --------------------------------------------------------------- */

static void add_rules(const cellar_profiles *profiles, const cellar_suppression *suppression,
                      exposure_answer *answer)
{
    answer->groups_key = "rules";
    answer->groups_columns = "measure,column,value,entries";
    for (size_t i = 0; i < cellar_suppression_n_rules(suppression); i++) {
        cellar_suppression_rule rule = cellar_suppression_rule_at(suppression, i);
        cli_results_begin(&answer->groups, "redact");
        cli_results_text(&answer->groups, "column", cellar_profiles_column(profiles, rule.column));
        cli_results_text(&answer->groups, "value",
                         cellar_profiles_level(profiles, rule.column, rule.level));
        cli_results_count(&answer->groups, "entries", rule.n_people);
    }
}

static void note_suppression(const cellar_suppression_summary *summary, int any_dropped,
                             exposure_answer *answer)
{
    if (!summary->met)
        exposure_note(answer, "The exposure asked for cannot be reached: there are fewer than k "
                              "people, and whatever they redact they stand out together. Nothing "
                              "is redacted.");
    if (summary->gap > 0)
        exposure_note(answer, "The search was cut short: up to as many entries fewer as the gap "
                              "shows might do (--max-evaluations).");
    if (any_dropped)
        exposure_note(answer, "A column that everybody redacts has no rules, and its redactions "
                              "reveal nothing: hiding its rules would have taken as many entries.");
}

static void add_suppression(const cellar_profiles *profiles, const cellar_suppression *suppression,
                            exposure_answer *answer)
{
    cellar_suppression_summary summary = cellar_suppression_summarise(suppression);
    cli_results *results = &answer->results;
    int any_dropped = 0;
    cli_results_begin(results, "suppression");
    cli_results_real(results, "before", summary.before);
    cli_results_real(results, "after_rules", summary.after_rules);
    cli_results_real(results, "after", summary.after);
    cli_results_text(results, "met", summary.met ? "yes" : "no");
    cli_results_count(results, "entries_by_rule", summary.lost_to_rules);
    cli_results_real(results, "entries_by_chance", summary.lost_to_chance);
    cli_results_real(results, "gap", summary.gap);
    for (size_t c = 0; c < cellar_profiles_n_columns(profiles); c++) {
        double chance = cellar_suppression_chance(suppression, c);
        if (chance <= 0)
            continue;
        cli_results_begin(results, chance < 1 ? "random_redaction" : "column_redacted");
        cli_results_text(results, "column", cellar_profiles_column(profiles, c));
        cli_results_real(results, "probability", chance);
        any_dropped |= chance >= 1;
    }
    note_suppression(&summary, any_dropped, answer);
}

int exposure_run_suppress(const exposure_values *values, const char *path, exposure_answer *answer)
{
    cellar_profiles *profiles = NULL;
    cellar_suppression *suppression = NULL;
    cellar_suppression_options options = cellar_suppression_options_default();
    cellar_error err;
    cellar_status status;
    int result = choice_numbers(values, "suppress", &options.k, &options.exposure);

    if (result == CLI_GO_ON && values->hide == NULL)
        result = cli_usage("exposure suppress needs --hide: the share of redactions that may come "
                           "from the rules (1: no random ones)");
    if (result == CLI_GO_ON)
        result = cli_list_real("hide", values->hide, &options.hide);
    if (result == CLI_GO_ON && !(options.hide > 0 && options.hide <= 1))
        result = cli_usage("--hide is a share above 0 and up to 1, not %s", values->hide);
    if (result == CLI_GO_ON)
        result = exposure_read_profiles(values, path, &profiles);
    if (result == CLI_GO_ON) {
        options.max_evaluations = values->max_evaluations.value;
        options.progress = cli_progress_begin();
        status = cellar_suppression_create(profiles, &options, &suppression, &err);
        cli_progress_end();
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    if (result == CLI_GO_ON) {
        exposure_add_profiles(values, profiles, answer);
        add_suppression(profiles, suppression, answer);
        add_rules(profiles, suppression, answer);
        exposure_note(answer, "Whoever has one of these values redacts it; everybody else redacts "
                              "the column with the probability given. The rules themselves are "
                              "confidential.");
        exposure_note_disclosure(answer);
    }
    cellar_suppression_free(suppression);
    cellar_profiles_free(profiles);
    return result;
}
