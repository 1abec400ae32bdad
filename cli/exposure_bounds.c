/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar exposure bound: what single columns show about all of them together. */
#include <stdlib.h>

#include <cellar/exposure.h>
#include <cellar/selection.h>

#include "exposure.h"

/* ---- at a threshold --------------------------------------------------------- */

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

/* At t = k/n, or at the thresholds as typed. */
static int bound_points(const exposure_query *query, const bound_run *run, exposure_answer *answer)
{
    double people = (double) cellar_profiles_n_people(run->profiles);
    size_t n = query->thresholds.n + query->n_ks;
    int result = CLI_GO_ON;
    double *points = cli_alloc(n, sizeof *points);
    for (size_t i = 0; i < n; i++)
        points[i] = i < query->thresholds.n ? strtod(query->thresholds.items[i], NULL)
                                            : (double) query->ks[i - query->thresholds.n] / people;
    for (size_t i = 0; i < n && result == CLI_GO_ON; i++)
        result = points[i] <= 1
                     ? bound_at(run, points[i], answer)
                     : cli_usage("--k: there are not so many people that a bound needs a k of %llu",
                                 (unsigned long long) query->ks[i - query->thresholds.n]);
    for (size_t i = 0; i < n && result == CLI_GO_ON; i++) {
        cli_results_begin(&answer->results, "lower_bound");
        cli_results_real(&answer->results, "threshold", points[i]);
        cli_results_real(&answer->results, "value",
                         cellar_exposure_lower_bound(bound_curves(run), run->n, points[i]));
    }
    free(points);
    return result;
}

/* ---- the curve -------------------------------------------------------------- */

static void add_bound_step(cellar_exposure_bound_step step, double people, exposure_answer *answer)
{
    cli_results *results = &answer->results;
    cli_results_begin(results, "bound_curve");
    cli_results_real(results, "above", (double) (step.first - 1) / people);
    cli_results_real(results, "threshold", (double) step.last / people);
    cli_results_count(results, "k_from", step.first);
    cli_results_count(results, "k_to", step.last);
    cli_results_count(results, "theorem", (uint64_t) step.theorem);
    cli_results_real(results, "value", step.value);
    cli_results_real(results, "excess", step.excess);
    cli_results_real(results, "lower_bound", step.lower);
}

static int bound_curve(const bound_run *run, double tolerance, exposure_answer *answer)
{
    cellar_exposure_bound_curve *curve;
    cellar_error err;
    cellar_status status = cellar_exposure_bound_curve_create(
        bound_curves(run), run->n, &run->options, tolerance, &curve, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    for (size_t i = 0; i < cellar_exposure_bound_curve_n_steps(curve); i++)
        add_bound_step(cellar_exposure_bound_curve_step(curve, i),
                       (double) cellar_profiles_n_people(run->profiles), answer);
    cellar_exposure_bound_curve_free(curve);
    exposure_note(answer, "Every step of the curve holds for all thresholds above its first and up "
                          "to its second number. The bound at one of them is less by at most the "
                          "excess (--curve-excess).");
    return CLI_GO_ON;
}

/* ---- all of it -------------------------------------------------------------- */

static int bound_answer(const exposure_values *values, const exposure_query *query, bound_run *run,
                        exposure_answer *answer)
{
    cellar_error err;
    int with_curve = values->curve || (values->threshold == NULL && values->k == NULL);
    int result;

    for (; run->n < cellar_profiles_n_columns(run->profiles); run->n++) {
        size_t column = run->n;
        cellar_status status = cellar_exposure_curve_from_profiles(run->profiles, &column, 1,
                                                                   &run->curves[column], &err);
        if (status != CELLAR_OK)
            return cli_exit(status, &err);
    }
    exposure_add_profiles(values, run->profiles, answer);
    result = bound_points(query, run, answer);
    if (result == CLI_GO_ON && with_curve)
        result = bound_curve(run, query->curve_excess, answer);
    exposure_note(answer, values->threshold != NULL || values->k != NULL
                              ? "Bounds look at one column at a time; of each threshold the "
                                "smaller comes first. A value of 1 says nothing."
                              : "Bounds look at one column at a time. A value of 1 says nothing.");
    exposure_note_disclosure(answer);
    return result;
}

int exposure_run_bound(const exposure_values *values, const char *path, exposure_answer *answer)
{
    cellar_profiles *profiles = NULL;
    exposure_query query = {0};
    bound_run run = {.options = {.support = values->support == 2 ? CELLAR_SUPPORT_OCCURRING
                                                                 : CELLAR_SUPPORT_DECLARED,
                                 .max_nodes = values->max_nodes.value}};
    int result = exposure_query_read(values, &query);

    if (result == CLI_GO_ON)
        result = exposure_read_profiles(values, path, &profiles);
    if (result == CLI_GO_ON) {
        run.profiles = profiles;
        result = bound_answer(values, &query, &run, answer);
    }
    for (size_t j = 0; j < run.n; j++)
        cellar_exposure_curve_free(run.curves[j]);
    cellar_profiles_free(profiles);
    exposure_query_clear(&query);
    return result;
}
