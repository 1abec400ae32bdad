/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar exposure shares and table: curves, statistical exposure, bands, classical measures. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/exposure.h>

#include "exposure.h"
#include "lists.h"

static const char note_entropy[] =
    "An entropy of H nats does not mean that values are shared by n exp(-H) people: that holds for "
    "uniform shares only. It bounds the exposure by -H/ln t, and that can be attained.";
static const char note_strict[] =
    "Exposure counts people with p < t, strictly: nobody at t = 1/n, the unique ones from just "
    "above 1/n to 2/n.";
static const char note_floor[] =
    "Theorem 6: no estimator of exposure, however large the sample, has a worst-case mean error "
    "below the minimax floor.";
static const char note_published[] =
    "The published half-width of Theorem 8 is shown for comparison only: it fails for skewed "
    "shares. Use the rigorous band.";
static const char note_domain[] =
    "Bands assume that the domains are known: a domain observed in the sample makes them too "
    "narrow. Declare it with --domain.";

static const char note_steps[] =
    "A step of the curve holds for thresholds above the one before it and up to its own.";
static const char note_step_bands[] =
    "A step of the curve and its band hold for thresholds above the one before it and up to its "
    "own; the bands hold all at once.";
static const char note_sum[] =
    "The shares do not add up to 1 exactly; up to 1e-6 is forgiven. They are taken as they are: "
    "what is missing belongs to no value.";
static const char note_tight[] =
    "Proposition 13: this many cells of share t and one with the rest. Nobody is exposed at t, and "
    "just above t as many as an entropy of B = -n t ln t allows; the entropy is at most B + 1/e.";

void exposure_note(exposure_answer *answer, const char *text)
{
    cli_words_add(&answer->notes, text, strlen(text));
}

void exposure_note_disclosure(exposure_answer *answer)
{
    exposure_note(answer, "Exposure bounds how few people share a row. It bounds no attribute "
                          "disclosure: what all members of a group have in common is known about "
                          "each of them, however large the group.");
}

void exposure_tell_missing(const exposure_values *values, const char *how, exposure_answer *answer)
{
    if (exposure_says_missing(values, "wildcard"))
        cli_results_text(&answer->results, "missing", how);
}

/* ---- exposure --------------------------------------------------------------- */

static void add_exposure(exposure_answer *answer, const cellar_exposure_curve *curve,
                         uint64_t cutoff, int with_people)
{
    if (with_people)
        cli_results_count(&answer->results, "people", cellar_exposure_below(curve, cutoff));
    cli_results_real(&answer->results, "value", cellar_exposure_value(curve, cutoff));
}

static void add_band(exposure_answer *answer, const char *measure, const char *method,
                     cellar_exposure_band band)
{
    cli_results_begin(&answer->results, measure);
    cli_results_text(&answer->results, "method", method);
    cli_results_real(&answer->results, "lower", band.lower);
    cli_results_real(&answer->results, "upper", band.upper);
}

static void add_threshold_bands(exposure_answer *answer, const cellar_exposure_curve *curve,
                                double t, double radius)
{
    add_band(answer, "exposure_band", "rigorous", cellar_exposure_band_rigorous(curve, t, radius));
    cli_results_real(&answer->results, "threshold", t);
    add_band(answer, "exposure_band", "theorem-5",
             cellar_exposure_band_published(curve, t, radius));
    cli_results_real(&answer->results, "threshold", t);
}

static int run_thresholds(const exposure_values *values, const exposure_query *query,
                          const cellar_exposure_curve *curve, int people, exposure_answer *answer)
{
    cellar_error err;
    for (size_t i = 0; i < query->thresholds.n; i++) {
        uint64_t cutoff;
        cellar_status status =
            cellar_exposure_cutoff(curve, query->thresholds.items[i], &cutoff, &err);
        if (status != CELLAR_OK)
            return cli_exit(status, &err);
        cli_results_begin(&answer->results, "exposure");
        cli_results_real(&answer->results, "threshold", strtod(query->thresholds.items[i], NULL));
        add_exposure(answer, curve, cutoff, people);
        exposure_tell_missing(values, "level", answer);
    }
    return CLI_GO_ON;
}

/* By k: t = k/n. */
static void run_ks(const exposure_values *values, const exposure_query *query,
                   const cellar_exposure_curve *curve, exposure_answer *answer)
{
    for (size_t i = 0; i < query->n_ks; i++) {
        cli_results_begin(&answer->results, "exposure");
        cli_results_count(&answer->results, "k", query->ks[i]);
        cli_results_real(&answer->results, "threshold",
                         (double) query->ks[i] / (double) cellar_exposure_total(curve));
        add_exposure(answer, curve, query->ks[i], 1);
        exposure_tell_missing(values, "level", answer);
    }
}

static void add_entropy_bound(exposure_answer *answer, double entropy, double t)
{
    cli_results_begin(&answer->results, "entropy_bound");
    cli_results_real(&answer->results, "threshold", t);
    cli_results_real(&answer->results, "value", cellar_exposure_entropy_bound(entropy, t));
}

/* Twice: as a mean, and as the integral of Q(t)/t. By k only where there are people to count. */
static void run_entropy(const exposure_query *query, const cellar_exposure_curve *curve,
                        int with_ks, exposure_answer *answer)
{
    double entropy = cellar_exposure_entropy(curve);
    cli_results_begin(&answer->results, "entropy");
    cli_results_real(&answer->results, "value", entropy);
    cli_results_begin(&answer->results, "entropy_integral");
    cli_results_real(&answer->results, "value", cellar_exposure_integral(curve));
    for (size_t i = 0; i < query->thresholds.n; i++)
        add_entropy_bound(answer, entropy, strtod(query->thresholds.items[i], NULL));
    for (size_t i = 0; with_ks && i < query->n_ks; i++)
        add_entropy_bound(answer, entropy,
                          (double) query->ks[i] / (double) cellar_exposure_total(curve));
    exposure_note(answer, note_entropy);
}

/* ---- statistical exposure --------------------------------------------------- */

static int run_statistical(const exposure_values *values, const exposure_query *query,
                           const cellar_exposure_curve *curve, exposure_answer *answer)
{
    size_t n = query->n_ks * query->n_populations;
    cellar_exposure_pair *pairs = cli_alloc(n, sizeof *pairs);
    cellar_error err;
    cellar_status status;

    for (size_t i = 0; i < n; i++)
        pairs[i] = (cellar_exposure_pair){.population = query->populations[i / query->n_ks],
                                          .k = query->ks[i % query->n_ks]};
    status = cellar_exposure_statistical(curve, pairs, n, (int) values->reader.threads.value, &err);
    for (size_t i = 0; status == CELLAR_OK && i < n; i++) {
        cli_results_begin(&answer->results, "statistical_exposure");
        cli_results_count(&answer->results, "population", pairs[i].population);
        cli_results_count(&answer->results, "k", pairs[i].k);
        cli_results_real(&answer->results, "value", pairs[i].value);
        cli_results_real(&answer->results, "complement", pairs[i].complement);
    }
    free(pairs);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

static void run_statistical_bands(const exposure_query *query, const cellar_exposure_curve *curve,
                                  double radius, exposure_answer *answer)
{
    cli_results *results = &answer->results;
    for (size_t p = 0; p < query->n_populations; p++)
        for (size_t i = 0; i < query->n_ks; i++) {
            cellar_exposure_band band = cellar_exposure_statistical_band(
                curve, query->populations[p], query->ks[i], radius);
            add_band(answer, "statistical_exposure_band", "rigorous", band);
            cli_results_count(results, "population", query->populations[p]);
            cli_results_count(results, "k", query->ks[i]);
        }
    for (size_t p = 0; p < query->n_populations; p++) {
        cli_results_begin(results, "statistical_exposure_half_width");
        cli_results_text(results, "method", "published");
        cli_results_count(results, "population", query->populations[p]);
        cli_results_real(results, "value",
                         cellar_exposure_statistical_published(cellar_exposure_n_possible(curve),
                                                               query->populations[p], radius));
    }
    if (query->n_populations > 0)
        exposure_note(answer, note_published);
}

static void run_bands(const exposure_query *query, const cellar_exposure_curve *curve,
                      exposure_answer *answer)
{
    double radius = cellar_exposure_radius(curve, query->delta);
    double total = (double) cellar_exposure_total(curve);
    cli_results_begin(&answer->results, "radius");
    cli_results_real(&answer->results, "delta", query->delta);
    cli_results_real(&answer->results, "value", radius);
    cli_results_begin(&answer->results, "minimax_floor");
    cli_results_real(&answer->results, "value",
                     cellar_exposure_floor(cellar_exposure_n_possible(curve)));
    for (size_t i = 0; i < query->thresholds.n; i++)
        add_threshold_bands(answer, curve, strtod(query->thresholds.items[i], NULL), radius);
    for (size_t i = 0; i < query->n_ks; i++)
        add_threshold_bands(answer, curve, (double) query->ks[i] / total, radius);
    run_statistical_bands(query, curve, radius, answer);
    exposure_note(answer, note_floor);
}

/* ---- shares ----------------------------------------------------------------- */

/* The example of Proposition 13 and what it attains. */
static void add_tight(const exposure_values *values, const exposure_query *query,
                      const cellar_exposure_curve *curve, exposure_answer *answer)
{
    cli_results *results = &answer->results;
    double n = (double) values->tight_example.value, t = strtod(query->thresholds.items[0], NULL);
    double b = -n * t * log(t), entropy = cellar_exposure_entropy(curve);
    uint64_t cutoff = cellar_exposure_step_at(curve, 0).count;
    cli_results_begin(results, "tight_example");
    cli_results_real(results, "threshold", t);
    cli_results_count(results, "cells", values->tight_example.value);
    cli_results_real(results, "exposure_at", cellar_exposure_value(curve, cutoff));
    cli_results_real(results, "exposure_above", cellar_exposure_value(curve, cutoff + 1));
    cli_results_real(results, "bound_of_b", -b / log(t));
    cli_results_real(results, "b", b);
    cli_results_real(results, "entropy", entropy);
    cli_results_real(results, "b_plus_1_over_e", b + exp(-1));
    exposure_note(answer, note_tight);
}

static int check_shares(const exposure_values *values, const exposure_query *query)
{
    if (values->shares == NULL && !values->tight_example.given)
        return cli_usage("exposure shares: name them: --shares 0.5,0.3,0.2");
    if (values->shares != NULL && values->tight_example.given)
        return cli_usage("exposure shares: --shares or --tight-example, not both");
    if (values->tight_example.given && query->thresholds.n != 1)
        return cli_usage("exposure shares: --tight-example needs one --threshold, the share of its "
                         "cells");
    if (values->k != NULL && values->population == NULL)
        return cli_usage("exposure shares: --k needs --population");
    return CLI_GO_ON;
}

static int make_shares(const exposure_values *values, const exposure_query *query,
                       cellar_exposure_curve **curve)
{
    cli_words shares = {0};
    cellar_error err;
    cellar_status status = CELLAR_OK;
    int result = CLI_GO_ON;
    if (values->shares != NULL)
        result = cli_list_decimals("shares", values->shares, &shares);
    if (result == CLI_GO_ON)
        status =
            values->shares != NULL
                ? cellar_exposure_curve_from_shares(cli_words_items(&shares), shares.n, curve, &err)
                : cellar_exposure_curve_create_tight(query->thresholds.items[0],
                                                     values->tight_example.value, curve, &err);
    cli_words_clear(&shares);
    return status == CELLAR_OK ? result : cli_exit(status, &err);
}

int exposure_run_shares(const exposure_values *values, exposure_answer *answer)
{
    exposure_query query = {0};
    cellar_exposure_curve *curve = NULL;
    int result = exposure_query_read(values, &query);

    if (result == CLI_GO_ON)
        result = check_shares(values, &query);
    if (result == CLI_GO_ON)
        result = make_shares(values, &query, &curve);
    if (result == CLI_GO_ON)
        result = run_thresholds(values, &query, curve, 0, answer);
    if (result == CLI_GO_ON && query.n_populations > 0)
        result = run_statistical(values, &query, curve, answer);
    if (result == CLI_GO_ON) {
        run_entropy(&query, curve, 0, answer);
        if (values->tight_example.given)
            add_tight(values, &query, curve, answer);
        if (cellar_exposure_below(curve, UINT64_MAX) != cellar_exposure_total(curve))
            exposure_note(answer, note_sum);
        exposure_note(answer, note_strict);
        exposure_note_disclosure(answer);
    }
    cellar_exposure_curve_free(curve);
    exposure_query_clear(&query);
    return result;
}

/* ---- table ------------------------------------------------------------------ */

/* One step: thresholds from the one before, which is left out, to the one told. Both ends of a band
 * grow with the threshold, so that of the step begins at its beginning and ends at its end. */
static void add_step(const exposure_query *query, const cellar_exposure_curve *curve,
                     cellar_exposure_step step, double *from, exposure_answer *answer)
{
    double total = (double) cellar_exposure_total(curve), t = (double) step.count / total;
    cli_results_begin(&answer->results, "curve");
    cli_results_count(&answer->results, "count", step.count);
    cli_results_count(&answer->results, "cells", step.n_cells);
    cli_results_real(&answer->results, "threshold", t);
    cli_results_count(&answer->results, "people", step.below);
    cli_results_real(&answer->results, "value", (double) step.below / total);
    if (!isnan(query->delta)) {
        double radius = cellar_exposure_radius(curve, query->delta);
        cli_results_real(&answer->results, "lower",
                         cellar_exposure_band_rigorous(curve, *from, radius).lower);
        cli_results_real(&answer->results, "upper",
                         cellar_exposure_band_rigorous(curve, t, radius).upper);
    }
    *from = t;
}

/* All steps, and what comes after the largest share: everybody. */
static void add_curve(const exposure_query *query, const cellar_exposure_curve *curve,
                      exposure_answer *answer)
{
    size_t n = cellar_exposure_n_steps(curve);
    uint64_t total = cellar_exposure_total(curve);
    double from = 0;
    for (size_t i = 0; i < n; i++)
        add_step(query, curve, cellar_exposure_step_at(curve, i), &from, answer);
    if (cellar_exposure_step_at(curve, n - 1).count < total)
        add_step(query, curve, (cellar_exposure_step){total, 0, total}, &from, answer);
    exposure_note(answer, isnan(query->delta) ? note_steps : note_step_bands);
}

static void add_header(const exposure_values *values, const cellar_exposure_curve *curve,
                       exposure_answer *answer)
{
    cli_results_begin(&answer->header, "data");
    cli_results_count(&answer->header, "records", cellar_exposure_total(curve));
    cli_results_count(&answer->header, "cells", cellar_exposure_n_cells(curve));
    cli_results_real(&answer->header, "possible_cells", cellar_exposure_n_possible(curve));
    exposure_add_missing(values, answer);
}

static void warn_observed(const cellar_table *table, exposure_answer *answer)
{
    const cellar_schema *schema = cellar_table_schema(table);
    int observed = 0;
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        observed |= cellar_schema_domain(schema, v) == CELLAR_DOMAIN_OBSERVED;
    if (observed)
        exposure_note(answer, note_domain);
}

static int run_curve(const exposure_values *values, const exposure_query *query,
                     const cellar_table *table, const cellar_exposure_curve *curve, size_t n_qid,
                     exposure_answer *answer)
{
    int result;
    add_header(values, curve, answer);
    result = run_thresholds(values, query, curve, 1, answer);
    if (result == CLI_GO_ON)
        run_ks(values, query, curve, answer);
    if (result == CLI_GO_ON && query->n_populations > 0)
        result = run_statistical(values, query, curve, answer);
    if (result == CLI_GO_ON)
        run_entropy(query, curve, 1, answer);
    if (result == CLI_GO_ON && values->curve)
        add_curve(query, curve, answer);
    if (result == CLI_GO_ON && !isnan(query->delta)) {
        run_bands(query, curve, answer);
        warn_observed(table, answer);
    }
    if (result == CLI_GO_ON && query->n_ks > 0)
        result = exposure_run_groups(values, query, table, n_qid, answer);
    exposure_note(answer, note_strict);
    if (exposure_says_missing(values, "wildcard"))
        exposure_note(answer,
                      "Missing values match everything in the groups and their measures, so "
                      "that a person with one is in several groups; an exposure curve adds "
                      "people up, each in one cell, so there they are a level. k_anonymity "
                      "(missing: wildcard) may therefore have fewer people below k than "
                      "exposure (missing: level).");
    exposure_note_disclosure(answer);
    return result;
}

int exposure_run_table(const exposure_values *values, const char *path, exposure_answer *answer)
{
    exposure_query query = {0};
    cellar_table *table = NULL;
    cellar_exposure_curve *curve = NULL;
    size_t all[CELLAR_MAX_VARIABLES], n_qid = 0;
    cellar_error err;
    cellar_status status;
    int result = exposure_query_read(values, &query);

    if (result == CLI_GO_ON && values->threshold == NULL && values->k == NULL && !values->curve)
        result = cli_usage("exposure table: say at which --threshold or --k, or ask for --curve");
    if (result == CLI_GO_ON)
        result = exposure_check_groups(values);
    if (result == CLI_GO_ON)
        result = exposure_read_table(values, path, &table, NULL);
    if (result == CLI_GO_ON) {
        n_qid = cellar_schema_n_variables(cellar_table_schema(table)) -
                (size_t) (values->sensitive != NULL);
        for (size_t c = 0; c < n_qid; c++)
            all[c] = c;
        status = cellar_exposure_curve_create(table, all, n_qid, &curve, &err);
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    if (result == CLI_GO_ON)
        result = run_curve(values, &query, table, curve, n_qid, answer);
    cellar_exposure_curve_free(curve);
    cellar_table_free(table);
    exposure_query_clear(&query);
    return result;
}
