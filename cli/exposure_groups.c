/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar exposure table: the classical measures, group by group, worst first. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/anonymity.h>

#include "exposure.h"
#include "lists.h"

enum { GROUPS_SHOWN = 20 };

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
        if (exposure_says_missing(values, "wildcard"))
            cli_results_count(&answer->groups, "matches", group.n_matches);
        if (cellar_table_is_weighted(table)) {
            cli_results_real(&answer->groups, "population", group.population);
            cli_results_real(&answer->groups, "risk", group.risk);
        }
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
    exposure_tell_missing(values, "wildcard", answer);
    if (values->sensitive == NULL)
        return;
    cli_results_begin(results, "sensitive_worst");
    add_sensitive(results, &summary->worst, values->diversity_c != NULL);
}

/* Of a sample: the risks of its records. */
static void add_reidentification(const cellar_anonymity_summary *summary, exposure_answer *answer)
{
    cli_results *results = &answer->results;
    cli_results_begin(results, "reidentification");
    cli_results_real(results, "global_risk", summary->expected / (double) summary->n_records);
    cli_results_real(results, "expected", summary->expected);
    cli_results_real(results, "largest", summary->worst.risk);
    cli_results_count(results, "sample_uniques", summary->n_uniques);
    exposure_note(answer,
                  "Weights make the data a sample: 'population' is the sum of the weights of a "
                  "group, 'risk' the expected 1/F of its records, F negative binomial (Benedetti "
                  "and Franconi), 'expected' the sum of the risks of all records.");
}

static void anonymity_options(const exposure_values *values, const exposure_query *query,
                              size_t n_qid, uint64_t k, cellar_anonymity_options *options)
{
    *options = cellar_anonymity_options_default();
    options->k = k;
    options->has_sensitive = values->sensitive != NULL;
    options->sensitive = n_qid;
    options->order = (cellar_anonymity_order) (values->worst_by > 0 ? values->worst_by - 1 : 0);
    if (!isnan(query->diversity_c))
        options->recursive_c = query->diversity_c;
}

/* 1 when --missing-as makes a wildcard of that column by name. */
static int names_wildcard(const exposure_values *values, const char *column)
{
    const cli_words *said = &values->variables.missing_as;
    const size_t length = strlen(column);
    for (size_t i = 0; i < said->n; i++)
        if (strncmp(said->items[i], column, length) == 0 &&
            strcmp(said->items[i] + length, "=wildcard") == 0)
            return 1;
    return 0;
}

/* The category of missing values of each column where it is a wildcard. */
static void find_wildcards(const exposure_values *values, const cellar_schema *schema, size_t n_qid,
                           size_t *wildcards)
{
    for (size_t c = 0; c < n_qid; c++) {
        const char *how = exposure_missing_as(values, cellar_schema_variable(schema, c));
        wildcards[c] = how != NULL && strcmp(how, "wildcard") == 0
                           ? cellar_schema_find_missing(schema, c)
                           : CELLAR_NO_CODE;
    }
}

/* ---- other people ------------------------------------------------------------ */

static void add_share(cli_results *results, const cellar_diversity_share *share, int has_band)
{
    cli_results_real(results, "value", share->value);
    if (has_band) {
        cli_results_real(results, "lower", share->lower);
        cli_results_real(results, "upper", share->upper);
    }
}

static void add_diversity(const cellar_diversity_options *options, const cellar_diversity *found,
                          int is_first, exposure_answer *answer)
{
    cli_results *results = &answer->results;
    cli_results_begin(results, "statistical_diversity");
    cli_results_count(results, "population", options->population);
    cli_results_count(results, "l", options->l);
    add_share(results, &found->below_l, !isnan(options->delta));
    if (isnan(options->t) || !is_first) /* closeness knows no population */
        return;
    cli_results_begin(results, "statistical_closeness");
    cli_results_real(results, "t", options->t);
    add_share(results, &found->beyond_t, !isnan(options->delta));
}

static int run_diversity(const exposure_values *values, const exposure_query *query,
                         const cellar_table *table, const size_t *qid, size_t n_qid,
                         exposure_answer *answer)
{
    cellar_diversity_options options = cellar_diversity_options_default();
    cellar_diversity found;
    cellar_error err;
    if (!values->diversity_l.given)
        return CLI_GO_ON;
    options.l = values->diversity_l.value;
    options.t = query->closeness_t;
    options.delta = query->delta;
    for (size_t i = 0; i < query->n_populations; i++) {
        cellar_status status;
        options.population = query->populations[i];
        status = cellar_diversity_estimate(table, qid, n_qid, n_qid, &options, &found, &err);
        if (status != CELLAR_OK)
            return cli_exit(status, &err);
        add_diversity(&options, &found, i == 0, answer);
    }
    return CLI_GO_ON;
}

int exposure_run_groups(const exposure_values *values, const exposure_query *query,
                        const cellar_table *table, size_t n_qid, exposure_answer *answer)
{
    size_t qid[CELLAR_MAX_VARIABLES], wildcards[CELLAR_MAX_VARIABLES];
    cellar_anonymity_options options;
    cellar_anonymity *anonymity = NULL;
    cellar_error err;

    for (size_t c = 0; c < n_qid; c++)
        qid[c] = c;
    find_wildcards(values, cellar_table_schema(table), n_qid, wildcards);
    for (size_t i = 0; i < query->n_ks; i++) {
        cellar_anonymity_summary summary;
        cellar_status status;
        anonymity_options(values, query, n_qid, query->ks[i], &options);
        if (exposure_says_missing(values, "wildcard"))
            options.wildcards = wildcards;
        status = cellar_anonymity_create(table, qid, n_qid, &options, &anonymity, &err);
        if (status != CELLAR_OK)
            return cli_exit(status, &err);
        summary = cellar_anonymity_summarise(anonymity);
        add_anonymity(values, query->ks[i], &summary, answer);
        if (i == 0 && cellar_table_is_weighted(table))
            add_reidentification(&summary, answer);
        if (i == 0)
            add_groups(values, table, n_qid, anonymity, answer);
        cellar_anonymity_free(anonymity);
    }
    return run_diversity(values, query, table, qid, n_qid, answer);
}

int exposure_check_groups(const exposure_values *values)
{
    if (values->sensitive != NULL && values->k == NULL)
        return cli_usage("--sensitive needs --k");
    if (values->groups.given && values->k == NULL)
        return cli_usage("--groups needs --k");
    if (values->csv == EXPOSURE_CSV_LIST && values->k == NULL)
        return cli_usage("--csv list needs --k: it lists groups");
    if (values->worst_by > 0 && values->k == NULL)
        return cli_usage("--worst-by needs --k");
    if (values->worst_by > 1 && values->worst_by - 1 != CELLAR_ORDER_RISK &&
        values->sensitive == NULL)
        return cli_usage("--worst-by needs --sensitive, unless it is size or risk");
    if (values->sample_weight != NULL && values->k == NULL)
        return cli_usage("--sample-weight needs --k: the risk is that of groups");
    if (values->diversity_c != NULL && values->sensitive == NULL)
        return cli_usage("--diversity-c needs --sensitive");
    if (values->diversity_l.given && (values->sensitive == NULL || values->population == NULL))
        return cli_usage("--diversity-l needs --sensitive and --population");
    if (values->closeness_t != NULL && !values->diversity_l.given)
        return cli_usage("--closeness-t needs --diversity-l");
    if (values->sensitive != NULL && names_wildcard(values, values->sensitive))
        return cli_usage("--missing-as: '%s' is the sensitive column, and a wildcard is for "
                         "columns that make the groups; say drop or level",
                         values->sensitive);
    return CLI_GO_ON;
}
