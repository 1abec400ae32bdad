/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar exposure shares and table: curves, statistical exposure, bands, classical measures. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/anonymity.h>
#include <cellar/exposure.h>

#include "exposure.h"
#include "lists.h"

enum { GROUPS_SHOWN = 20 };

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

void exposure_note(exposure_answer *answer, const char *text)
{
    cli_words_add(&answer->notes, text, strlen(text));
}

void exposure_note_disclosure(exposure_answer *answer)
{
    exposure_note(answer, "Exposure bounds how few people share a row. It bounds no attribute "
                          "disclosure: what all members of a group have in common is told about "
                          "each of them, however large the group.");
}

/* ---- what was asked --------------------------------------------------------- */

typedef struct curve_query {
    cli_words thresholds;
    uint64_t *ks, *populations;
    size_t n_ks, n_populations;
    double delta; /* NAN: no bands */
} curve_query;

static void query_clear(curve_query *query)
{
    cli_words_clear(&query->thresholds);
    free(query->ks);
    free(query->populations);
}

static int query_read(const exposure_values *values, curve_query *query)
{
    int result = CLI_GO_ON;
    query->delta = NAN;
    if (values->threshold != NULL)
        result = cli_list_decimals("threshold", values->threshold, &query->thresholds);
    if (result == CLI_GO_ON && values->k != NULL)
        result = cli_list_counts("k", values->k, 1, &query->ks, &query->n_ks);
    if (result == CLI_GO_ON && values->population != NULL)
        result = cli_list_counts("population", values->population, 1, &query->populations,
                                 &query->n_populations);
    if (result == CLI_GO_ON && values->delta != NULL) {
        result = cli_list_real("delta", values->delta, &query->delta);
        if (result == CLI_GO_ON && !(query->delta > 0 && query->delta < 1))
            result = cli_usage("--delta must lie between 0 and 1, not %s", values->delta);
    }
    if (result == CLI_GO_ON && values->population != NULL && values->k == NULL)
        result = cli_usage("--population needs --k");
    return result;
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

static int run_thresholds(const curve_query *query, const cellar_exposure_curve *curve, int people,
                          exposure_answer *answer)
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
    }
    return CLI_GO_ON;
}

/* By k: t = k/n. */
static void run_ks(const curve_query *query, const cellar_exposure_curve *curve,
                   exposure_answer *answer)
{
    for (size_t i = 0; i < query->n_ks; i++) {
        cli_results_begin(&answer->results, "exposure");
        cli_results_count(&answer->results, "k", query->ks[i]);
        cli_results_real(&answer->results, "threshold",
                         (double) query->ks[i] / (double) cellar_exposure_total(curve));
        add_exposure(answer, curve, query->ks[i], 1);
    }
}

static void run_entropy(const curve_query *query, const cellar_exposure_curve *curve,
                        exposure_answer *answer)
{
    double entropy = cellar_exposure_entropy(curve);
    cli_results_begin(&answer->results, "entropy");
    cli_results_real(&answer->results, "value", entropy);
    for (size_t i = 0; i < query->thresholds.n; i++) {
        double t = strtod(query->thresholds.items[i], NULL);
        cli_results_begin(&answer->results, "entropy_bound");
        cli_results_real(&answer->results, "threshold", t);
        cli_results_real(&answer->results, "value", cellar_exposure_entropy_bound(entropy, t));
    }
    exposure_note(answer, note_entropy);
}

/* ---- statistical exposure --------------------------------------------------- */

static int run_statistical(const exposure_values *values, const curve_query *query,
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

static void run_statistical_bands(const curve_query *query, const cellar_exposure_curve *curve,
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

static void run_bands(const curve_query *query, const cellar_exposure_curve *curve,
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
    for (size_t i = 0; i < query->n_ks && query->n_populations == 0; i++)
        add_threshold_bands(answer, curve, (double) query->ks[i] / total, radius);
    run_statistical_bands(query, curve, radius, answer);
    exposure_note(answer, note_floor);
}

/* ---- shares ----------------------------------------------------------------- */

int exposure_run_shares(const exposure_values *values, exposure_answer *answer)
{
    curve_query query = {0};
    cli_words shares = {0};
    cellar_exposure_curve *curve = NULL;
    cellar_error err;
    cellar_status status;
    int result = query_read(values, &query);

    if (result == CLI_GO_ON && values->shares == NULL)
        result = cli_usage("exposure shares: name them: --shares 0.5,0.3,0.2");
    if (result == CLI_GO_ON && values->k != NULL && values->population == NULL)
        result = cli_usage("exposure shares: --k needs --population");
    if (result == CLI_GO_ON)
        result = cli_list_decimals("shares", values->shares, &shares);
    if (result == CLI_GO_ON) {
        status =
            cellar_exposure_curve_from_shares(cli_words_items(&shares), shares.n, &curve, &err);
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    if (result == CLI_GO_ON)
        result = run_thresholds(&query, curve, 0, answer);
    if (result == CLI_GO_ON && query.n_populations > 0)
        result = run_statistical(values, &query, curve, answer);
    if (result == CLI_GO_ON) {
        run_entropy(&query, curve, answer);
        exposure_note(answer, note_strict);
        exposure_note_disclosure(answer);
    }
    cellar_exposure_curve_free(curve);
    cli_words_clear(&shares);
    query_clear(&query);
    return result;
}

/* ---- the classical measures ------------------------------------------------- */

static void add_sensitive(cli_results *results, const cellar_anonymity_group *group,
                          int with_recursive)
{
    cli_results_count(results, "distinct_l", group->n_distinct);
    cli_results_real(results, "entropy_l", group->entropy_l);
    if (with_recursive)
        cli_results_count(results, "recursive_l", group->recursive_l);
    cli_results_real(results, "t_equal", group->t_equal);
    cli_results_real(results, "t_ordered", group->t_ordered);
    cli_results_real(results, "t_hierarchical", group->t_hierarchical);
    if (isinf(group->delta))
        cli_results_text(results, "delta_disclosure", "infinite");
    else
        cli_results_real(results, "delta_disclosure", group->delta);
    cli_results_real(results, "beta_likeness", group->beta);
    cli_results_text(results, "beta_enhanced", group->enhanced ? "holds" : "fails");
}

static void add_groups(const exposure_values *values, const cellar_table *table, size_t n_qid,
                       const cellar_anonymity *anonymity, exposure_answer *answer)
{
    const cellar_schema *schema = cellar_table_schema(table);
    cellar_anonymity_summary summary = cellar_anonymity_summarise(anonymity);
    uint64_t shown = values->groups.given ? values->groups.value : GROUPS_SHOWN;
    char code[1024];

    answer->groups_key = "groups";
    for (size_t g = 0; g < summary.n_groups && (shown == 0 || g < shown); g++) {
        cellar_anonymity_group group = cellar_anonymity_group_at(anonymity, g);
        cli_results_begin(&answer->groups, "group");
        for (size_t c = 0; c < n_qid; c++) {
            snprintf(code, sizeof code, "%s", cellar_schema_code(schema, c, group.categories[c]));
            cli_results_text(&answer->groups, cellar_schema_variable(schema, c), code);
        }
        cli_results_count(&answer->groups, "size", group.size);
        if (values->missing_as == EXPOSURE_MISSING_WILDCARD)
            cli_results_count(&answer->groups, "matches", group.n_matches);
        if (values->sensitive != NULL)
            add_sensitive(&answer->groups, &group, values->diversity_c != NULL);
    }
}

static void add_anonymity(const exposure_values *values, uint64_t k,
                          const cellar_anonymity_summary *summary, exposure_answer *answer)
{
    cli_results *results = &answer->results;
    cli_results_begin(results, "k_anonymity");
    cli_results_count(results, "value", summary->k);
    cli_results_count(results, "groups", summary->n_groups);
    cli_results_count(results, "k", k);
    cli_results_count(results, "groups_below", summary->groups_below);
    cli_results_count(results, "people_below", summary->records_below);
    if (values->sensitive == NULL)
        return;
    cli_results_begin(results, "sensitive_worst");
    add_sensitive(results, &summary->worst, values->diversity_c != NULL);
}

static int anonymity_options(const exposure_values *values, size_t n_qid, uint64_t k,
                             cellar_anonymity_options *options)
{
    *options = cellar_anonymity_options_default();
    options->k = k;
    options->has_sensitive = values->sensitive != NULL;
    options->sensitive = n_qid;
    options->order = (cellar_anonymity_order) (values->worst_by > 0 ? values->worst_by - 1 : 0);
    if (values->missing_as == EXPOSURE_MISSING_WILDCARD)
        options->wildcard = "missing";
    if (values->worst_by > 1 && values->sensitive == NULL)
        return cli_usage("--worst-by needs --sensitive, unless it is size");
    if (values->diversity_c != NULL && values->sensitive == NULL)
        return cli_usage("--diversity-c needs --sensitive");
    if (values->diversity_c != NULL)
        return cli_list_real("diversity-c", values->diversity_c, &options->recursive_c);
    return CLI_GO_ON;
}

static int run_anonymity(const exposure_values *values, const curve_query *query,
                         const cellar_table *table, size_t n_qid, exposure_answer *answer)
{
    size_t qid[CELLAR_MAX_VARIABLES];
    cellar_anonymity_options options;
    cellar_anonymity *anonymity = NULL;
    cellar_error err;
    int result = CLI_GO_ON;

    for (size_t c = 0; c < n_qid; c++)
        qid[c] = c;
    for (size_t i = 0; i < query->n_ks && result == CLI_GO_ON; i++) {
        cellar_anonymity_summary summary;
        cellar_status status;
        result = anonymity_options(values, n_qid, query->ks[i], &options);
        if (result != CLI_GO_ON)
            break;
        status = cellar_anonymity_create(table, qid, n_qid, &options, &anonymity, &err);
        if (status != CELLAR_OK)
            return cli_exit(status, &err);
        summary = cellar_anonymity_summarise(anonymity);
        add_anonymity(values, query->ks[i], &summary, answer);
        if (i == 0)
            add_groups(values, table, n_qid, anonymity, answer);
        cellar_anonymity_free(anonymity);
    }
    return result;
}

/* ---- table ------------------------------------------------------------------ */

static void add_curve(const cellar_exposure_curve *curve, exposure_answer *answer)
{
    double total = (double) cellar_exposure_total(curve);
    for (size_t i = 0; i < cellar_exposure_n_steps(curve); i++) {
        cellar_exposure_step step = cellar_exposure_step_at(curve, i);
        cli_results_begin(&answer->results, "curve");
        cli_results_count(&answer->results, "count", step.count);
        cli_results_count(&answer->results, "cells", step.n_cells);
        cli_results_real(&answer->results, "threshold", (double) step.count / total);
        cli_results_count(&answer->results, "people", step.below);
        cli_results_real(&answer->results, "value", (double) step.below / total);
    }
}

static const char *missing_word(int missing_as)
{
    static const char *const words[] = {"none declared", "drop", "level", "wildcard"};
    return words[missing_as];
}

static void add_header(const exposure_values *values, const cellar_exposure_curve *curve,
                       exposure_answer *answer)
{
    cli_results_begin(&answer->header, "data");
    cli_results_count(&answer->header, "records", cellar_exposure_total(curve));
    cli_results_count(&answer->header, "cells", cellar_exposure_n_cells(curve));
    cli_results_real(&answer->header, "possible_cells", cellar_exposure_n_possible(curve));
    cli_results_text(&answer->header, "missing", missing_word(values->missing_as));
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

static int run_curve(const exposure_values *values, const curve_query *query,
                     const cellar_table *table, const cellar_exposure_curve *curve, size_t n_qid,
                     exposure_answer *answer)
{
    int result;
    add_header(values, curve, answer);
    result = run_thresholds(query, curve, 1, answer);
    if (result == CLI_GO_ON && query->n_populations > 0)
        result = run_statistical(values, query, curve, answer);
    else if (result == CLI_GO_ON)
        run_ks(query, curve, answer);
    if (result == CLI_GO_ON)
        run_entropy(query, curve, answer);
    if (result == CLI_GO_ON && values->curve)
        add_curve(curve, answer);
    if (result == CLI_GO_ON && !isnan(query->delta)) {
        run_bands(query, curve, answer);
        warn_observed(table, answer);
    }
    if (result == CLI_GO_ON && query->n_ks > 0)
        result = run_anonymity(values, query, table, n_qid, answer);
    exposure_note(answer, note_strict);
    if (values->missing_as == EXPOSURE_MISSING_WILDCARD)
        exposure_note(answer, "Missing values match everything in the groups and their measures; "
                              "in the exposure curve they are a level.");
    exposure_note_disclosure(answer);
    return result;
}

int exposure_run_table(const exposure_values *values, const char *path, exposure_answer *answer)
{
    curve_query query = {0};
    cellar_table *table = NULL;
    cellar_exposure_curve *curve = NULL;
    size_t all[CELLAR_MAX_VARIABLES], n_qid = 0;
    cellar_error err;
    cellar_status status;
    int result = query_read(values, &query);

    if (result == CLI_GO_ON && values->threshold == NULL && values->k == NULL && !values->curve)
        result = cli_usage("exposure table: say at which --threshold or --k, or ask for --curve");
    if (result == CLI_GO_ON && values->sensitive != NULL && values->k == NULL)
        result = cli_usage("--sensitive needs --k");
    if (result == CLI_GO_ON)
        result = exposure_read_table(values, path, &table);
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
    query_clear(&query);
    return result;
}
