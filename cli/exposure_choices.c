/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar exposure bound, select and suppress: what single columns tell, which columns and values to
 * give up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/exposure.h>
#include <cellar/selection.h>

#include "exposure.h"
#include "lists.h"
#include "terminal.h"

static void add_profiles(const cellar_profiles *profiles, exposure_answer *answer)
{
    cli_results_begin(&answer->header, "data");
    cli_results_count(&answer->header, "records", cellar_profiles_n_people(profiles));
    cli_results_count(&answer->header, "columns", cellar_profiles_n_columns(profiles));
}

/* ---- bound ------------------------------------------------------------------ */

typedef struct bound_run {
    cellar_exposure_curve *curves[CELLAR_MAX_VARIABLES];
    const cellar_profiles *profiles;
    size_t n;
    cellar_exposure_bound_options options;
} bound_run;

static const cellar_exposure_curve *const *bound_curves(const bound_run *run)
{
    return (const cellar_exposure_curve *const *) run->curves;
}

static void add_bound(const bound_run *run, double t, const cellar_exposure_bound *bound,
                      exposure_answer *answer)
{
    cli_results *results = &answer->results;
    cli_results_begin(results, "bound");
    cli_results_real(results, "threshold", t);
    cli_results_count(results, "theorem", (uint64_t) bound->theorem);
    cli_results_real(results, "value", bound->value);
    cli_results_real(results, "gap", bound->gap);
    cli_results_text(results, "free_column",
                     bound->theorem == 2 && bound->value < 1
                         ? cellar_profiles_column(run->profiles, bound->free_column)
                         : "");
    cli_results_real(results, "c", bound->c);
    for (size_t j = 0; j < run->n; j++)
        cli_results_member(results, "thresholds", cellar_profiles_column(run->profiles, j),
                           bound->thresholds[j]);
}

static int bound_at(const bound_run *run, double t, exposure_answer *answer)
{
    cellar_exposure_bound bounds[2];
    cellar_error err;
    cellar_status status =
        cellar_exposure_bounds(bound_curves(run), run->n, t, &run->options, bounds, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    add_bound(run, t, &bounds[0], answer);
    add_bound(run, t, &bounds[1], answer);
    return CLI_GO_ON;
}

static int bound_thresholds(const exposure_values *values, uint64_t n_people, cli_words *out)
{
    uint64_t *ks = NULL;
    size_t n = 0;
    char text[64];
    int result;
    if (values->threshold != NULL)
        return cli_list_decimals("threshold", values->threshold, out);
    if (values->k == NULL) {
        snprintf(text, sizeof text, "%.17g..1/60", 1 / (double) n_people);
        if (n_people > 1)
            return cli_list_decimals("threshold", text, out);
        cli_words_add(out, "1", 1);
        return CLI_GO_ON;
    }
    result = cli_list_counts("k", values->k, 1, &ks, &n);
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%.17g", (double) ks[i] / (double) n_people);
        cli_words_add(out, text, strlen(text));
    }
    free(ks);
    return result;
}

static int bound_run_all(const exposure_values *values, bound_run *run, exposure_answer *answer)
{
    cli_words thresholds = {0};
    int result = bound_thresholds(values, cellar_profiles_n_people(run->profiles), &thresholds);
    for (size_t i = 0; i < thresholds.n && result == CLI_GO_ON; i++)
        result = bound_at(run, strtod(thresholds.items[i], NULL), answer);
    for (size_t i = 0; i < thresholds.n && result == CLI_GO_ON; i++) {
        double t = strtod(thresholds.items[i], NULL);
        cli_results_begin(&answer->results, "lower_bound");
        cli_results_real(&answer->results, "threshold", t);
        cli_results_real(&answer->results, "value",
                         cellar_exposure_lower_bound(bound_curves(run), run->n, t));
    }
    cli_words_clear(&thresholds);
    return result;
}

int exposure_run_bound(const exposure_values *values, const char *path, exposure_answer *answer)
{
    cellar_profiles *profiles = NULL;
    bound_run run = {.options = {.support = values->support == 2 ? CELLAR_SUPPORT_OCCURRING
                                                                 : CELLAR_SUPPORT_DECLARED,
                                 .max_nodes = values->max_nodes.value}};
    cellar_error err;
    cellar_status status = CELLAR_OK;
    int result = exposure_read_profiles(values, path, &profiles);

    if (result == CLI_GO_ON) {
        run.profiles = profiles;
        add_profiles(profiles, answer);
        for (size_t j = 0; j < cellar_profiles_n_columns(profiles) && status == CELLAR_OK; j++) {
            status = cellar_profiles_curve(profiles, &j, 1, &run.curves[j], &err);
            run.n++;
        }
        result = status == CELLAR_OK ? bound_run_all(values, &run, answer) : cli_exit(status, &err);
    }
    exposure_note(answer,
                  "Bounds look at one column at a time; of each threshold the smaller comes "
                  "first. A value of 1 says nothing.");
    exposure_note_disclosure(answer);
    for (size_t j = 0; j < run.n; j++)
        cellar_exposure_curve_free(run.curves[j]);
    cellar_profiles_free(profiles);
    return result;
}

/* ---- select ----------------------------------------------------------------- */

static size_t find_column(const cellar_profiles *profiles, const char *option, const char *name)
{
    for (size_t c = 0; c < cellar_profiles_n_columns(profiles); c++)
        if (strcmp(cellar_profiles_column(profiles, c), name) == 0)
            return c;
    cli_message("--%s: '%s' is not among the --columns", option, name);
    return (size_t) -1;
}

static int select_mask(const cellar_profiles *profiles, const char *option, const char *text,
                       uint64_t *mask)
{
    cli_words names = {0};
    int result = CLI_GO_ON;
    if (text == NULL)
        return CLI_GO_ON;
    if (!cli_words_split(&names, text, ',', 1))
        result = cli_usage("--%s: a quote is not closed", option);
    for (size_t i = 0; i < names.n && result == CLI_GO_ON; i++) {
        size_t column = find_column(profiles, option, names.items[i]);
        if (column == (size_t) -1)
            result = CLI_USAGE;
        else
            *mask |= UINT64_C(1) << column;
    }
    cli_words_clear(&names);
    return result;
}

/* "COLUMN=WEIGHT"; the last equals sign counts, for names may hold one. */
static int select_weights(const cellar_profiles *profiles, const cli_words *texts, double *weights)
{
    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++)
        weights[c] = 1;
    for (size_t i = 0; i < texts->n; i++) {
        char *equals = strrchr(texts->items[i], '=');
        size_t column;
        int result;
        if (equals == NULL)
            return cli_usage("--weight reads COLUMN=NUMBER, not '%s'", texts->items[i]);
        *equals = '\0';
        column = find_column(profiles, "weight", texts->items[i]);
        if (column == (size_t) -1)
            return CLI_USAGE;
        result = cli_list_real("weight", equals + 1, &weights[column]);
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
    free(ks);
    return result;
}

static int select_options(const exposure_values *values, const cellar_profiles *profiles,
                          double *weights, cellar_selection_options *options)
{
    uint64_t *populations = NULL;
    size_t n = 0;
    int result;
    *options = cellar_selection_options_default();
    options->measure = (cellar_selection_measure) (values->measure > 0 ? values->measure - 1 : 0);
    options->n_runners_up = values->runners_up.given ? (size_t) values->runners_up.value : 3;
    options->max_evaluations = values->max_evaluations.value;
    options->weights = weights;
    result = choice_numbers(values, "select", &options->k, &options->exposure);
    if (result == CLI_GO_ON)
        result = select_mask(profiles, "must", values->must, &options->must);
    if (result == CLI_GO_ON)
        result = select_mask(profiles, "must-not", values->must_not, &options->must_not);
    if (result == CLI_GO_ON)
        result = select_weights(profiles, &values->weight, weights);
    if (result == CLI_GO_ON && values->population != NULL)
        result = cli_list_counts("population", values->population, 1, &populations, &n);
    if (result == CLI_GO_ON && n > 1)
        result = cli_usage("exposure select takes one --population");
    if (result == CLI_GO_ON && n == 1)
        options->population = populations[0];
    free(populations);
    return result;
}

static void add_sets(const cellar_profiles *profiles, const cellar_selection *selection,
                     exposure_answer *answer)
{
    for (size_t i = 0; i < cellar_selection_n_sets(selection); i++) {
        cellar_selection_set set = cellar_selection_set_at(selection, i);
        char text[4096] = "", note[4200];
        for (size_t c = 0; c < cellar_profiles_n_columns(profiles); c++)
            if (set.columns >> c & 1)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                         text[0] != '\0' ? "," : "", cellar_profiles_column(profiles, c));
        if (i == 0) {
            snprintf(note, sizeof note, "The best set: %s.", text[0] != '\0' ? text : "no column");
            exposure_note(answer, note);
        }
        cli_results_begin(&answer->results, i == 0 ? "best_set" : "runner_up");
        cli_results_text(&answer->results, "columns", text);
        cli_results_real(&answer->results, "weight", set.weight);
        cli_results_real(&answer->results, "exposure", set.exposure);
    }
    cli_results_begin(&answer->results, "search");
    cli_results_real(&answer->results, "gap", cellar_selection_gap(selection));
    cli_results_count(&answer->results, "evaluations", cellar_selection_n_evaluations(selection));
}

static void add_marginals(const cellar_profiles *profiles, const cellar_selection *selection,
                          exposure_answer *answer)
{
    answer->groups_key = "additions";
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
    cellar_selection_options options;
    cellar_error err;
    cellar_status status;
    int result = exposure_read_profiles(values, path, &profiles);

    if (result == CLI_GO_ON)
        result = select_options(values, profiles, weights, &options);
    if (result == CLI_GO_ON) {
        options.progress = cli_progress_begin();
        status = cellar_selection_create(profiles, &options, &selection, &err);
        cli_progress_end();
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    if (result == CLI_GO_ON) {
        add_profiles(profiles, answer);
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
    for (size_t i = 0; i < cellar_suppression_n_rules(suppression); i++) {
        cellar_suppression_rule rule = cellar_suppression_rule_at(suppression, i);
        cli_results_begin(&answer->groups, "redact");
        cli_results_text(&answer->groups, "column", cellar_profiles_column(profiles, rule.column));
        cli_results_text(&answer->groups, "value",
                         cellar_profiles_level(profiles, rule.column, rule.level));
        cli_results_count(&answer->groups, "entries", rule.n_people);
    }
}

static void add_suppression(const cellar_profiles *profiles, const cellar_suppression *suppression,
                            exposure_answer *answer)
{
    cellar_suppression_summary summary = cellar_suppression_summarise(suppression);
    cli_results *results = &answer->results;
    cli_results_begin(results, "suppression");
    cli_results_real(results, "before", summary.before);
    cli_results_real(results, "after_rules", summary.after_rules);
    cli_results_real(results, "after", summary.after);
    cli_results_text(results, "met", summary.met ? "yes" : "no");
    cli_results_count(results, "entries_by_rule", summary.lost_to_rules);
    cli_results_real(results, "entries_by_chance", summary.lost_to_chance);
    cli_results_real(results, "gap", summary.gap);
    for (size_t c = 0; c < cellar_profiles_n_columns(profiles); c++) {
        if (cellar_suppression_chance(suppression, c) <= 0)
            continue;
        cli_results_begin(results, "random_redaction");
        cli_results_text(results, "column", cellar_profiles_column(profiles, c));
        cli_results_real(results, "probability", cellar_suppression_chance(suppression, c));
    }
    if (!summary.met)
        exposure_note(answer,
                      isnan(summary.after)
                          ? "There are too many patterns of redactions to add up: the "
                            "exposure after random redactions is not known."
                          : "The exposure asked for was not reached: random redactions make "
                            "new rare rows. Allow more from the rules (--hide), or fewer "
                            "columns.");
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
        add_profiles(profiles, answer);
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
