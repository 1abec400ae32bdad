/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar utility for a reader: a dozen measures, a row for each count, a row for each mechanism. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "utility.h"

enum { RADII_SHOWN = 3 };

static const char *const shown[] = {"absolute_difference",
                                    "total_difference",
                                    "hellinger",
                                    "zeros_turned_positive",
                                    "positives_turned_zero",
                                    "top_overlap",
                                    "top_rank_correlation",
                                    "chi_square",
                                    "cramers_v",
                                    "p_value_chi_square",
                                    "total_variation_1way",
                                    "total_variation_2way",
                                    "additivity_gap",
                                    "pmse_logistic",
                                    "pmse_logistic_ratio",
                                    "pmse_tree",
                                    "pmse_tree_ratio"};
/* These, too, where a propensity model is asked for. */
static const char *const of_synthetic_data[] = {"pmse", "pmse_ratio", "voas_williamson",
                                                "freeman_tukey", "jensen_shannon"};
/* Of these there is a column when several mechanisms stand side by side. */
static const char *const compared[] = {"absolute_difference", "hellinger", "zeros_turned_positive",
                                       "positives_turned_zero"};

/* A measure of the whole table, not of one count or margin; NULL when there is none. */
static const cellar_utility_result *whole_table(const cellar_utility *u, const char *measure)
{
    for (size_t i = 0; i < cellar_utility_n_results(u); i++) {
        const cellar_utility_result *r = cellar_utility_result_at(u, i);
        if (r->count < 0 && !r->is_above && r->variables == NULL && r->radius < 0 &&
            strcmp(r->measure, measure) == 0)
            return r;
    }
    return NULL;
}

/* The exact expectation of a mechanism where there is one; of a release what it shows. */
static double best_value(const utility_run *run, const cellar_utility_result *r)
{
    return run->grid.specs.n > 0 && !isnan(r->expected) ? r->expected : r->mean;
}

static void put_measures(utility_run *run, const cellar_utility *u, const char *const *names,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const cellar_utility_result *r = whole_table(u, names[i]);
        if (r == NULL || (isnan(r->mean) && isnan(r->expected)))
            continue;
        cli_results_begin(&run->measures, r->measure);
        cli_results_real(&run->measures, "original", r->original);
        cli_results_real(&run->measures, "mean", r->mean);
        cli_results_real(&run->measures, "sd", r->sd);
        cli_results_real(&run->measures, "expected", r->expected);
    }
}

/* Beside the difference of one count: how often it is at most r. */
static void put_within(utility_run *run, const cellar_utility *u, const cellar_utility_result *of)
{
    int n = 0;
    for (size_t i = 0; i < cellar_utility_n_results(u) && n < RADII_SHOWN; i++) {
        const cellar_utility_result *r = cellar_utility_result_at(u, i);
        char name[40];
        if (r->radius < 0 || r->count != of->count || r->is_above != of->is_above)
            continue;
        snprintf(name, sizeof name, "within_%lld", (long long) r->radius);
        cli_results_real(&run->by_count, name, best_value(run, r));
        n++;
    }
}

static void put_counts(utility_run *run, const cellar_utility *u)
{
    for (size_t i = 0; i < cellar_utility_n_results(u); i++) {
        const cellar_utility_result *r = cellar_utility_result_at(u, i);
        char count[40];
        if (strcmp(r->measure, "absolute_difference") != 0 || (r->count < 0 && !r->is_above) ||
            r->cells == 0)
            continue;
        snprintf(count, sizeof count, "%s%lld", r->is_above ? "over " : "",
                 (long long) (r->count < 0 ? 0 : r->count));
        cli_results_begin(&run->by_count, "count");
        cli_results_text(&run->by_count, "count", count);
        cli_results_count(&run->by_count, "cells", r->cells);
        cli_results_real(&run->by_count, "absolute_difference", best_value(run, r));
        put_within(run, u, r);
    }
}

static int shows_tests(const utility_run *run)
{
    for (size_t i = 0; i < run->measures.n; i++)
        if (strcmp(run->measures.items[i].fields[0].text, "chi_square") == 0)
            return 1;
    return 0;
}

int utility_put_people(utility_run *run, size_t spec, double delta, const cellar_utility *u)
{
    if (run->grid.specs.n <= 1) {
        put_measures(run, u, shown, sizeof shown / sizeof *shown);
        if (run->values->propensity != 0)
            put_measures(run, u, of_synthetic_data,
                         sizeof of_synthetic_data / sizeof *of_synthetic_data);
        put_counts(run, u);
        return shows_tests(run);
    }
    cli_results_begin(&run->places, "place");
    utility_put_place(run, spec, cellar_utility_mechanism(u), delta, &run->places);
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        const cellar_utility_result *r = whole_table(u, compared[i]);
        if (r != NULL)
            cli_results_real(&run->places, r->measure, best_value(run, r));
    }
    return 0;
}

void utility_write_people(const utility_run *run, cellar_output *output)
{
    int one = run->values->mechanism.n == 1 && run->grid.keys.n > 0;
    cellar_output_string(output, "Confidential: an assessment of true counts\n\n");
    cli_results_people(&run->header, "measure", output);
    cellar_output_string(output, "\n");
    cli_results_people(&run->measures, NULL, output);
    if (run->by_count.n > 0)
        cellar_output_string(output, "\nCells by their true count\n");
    cli_results_people(&run->by_count, "measure", output);
    if (run->places.n > 0 && one)
        cellar_output_printf(output, "mechanism %s\n", run->values->mechanism.items[0]);
    cli_results_people(&run->places, one ? "measure,mechanism" : "measure", output);
    cellar_output_string(output, run->distances.n > 0 ? "\n" : "");
    cli_results_people(&run->distances, "minimum,q10,q20,q30,q40,q60,q70,q80,q95,q99", output);
    cellar_output_string(output, run->risks.n > 0 ? "\n" : "");
    cli_results_people(&run->risks,
                       one ? "mechanism,false_claim,difference,original"
                           : "false_claim,difference,original",
                       output);
    cellar_output_string(output, "\nMore measures: --json, --csv results, --csv spreads\n");
    for (size_t i = 0; i < run->notes.n; i++)
        cellar_output_printf(output, "%s\n", run->notes.items[i]);
}
