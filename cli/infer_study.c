/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar infer study. */
#include <cellar/study.h>

#include <math.h>
#include <string.h>

#include "infer.h"
#include "terminal.h"

/* What "Confidentiality and differential privacy in the dissemination of frequency tables" prints
 * in Table 3: per cent of p-values of at most 0.05, for original, naive and aware tests. */
typedef struct printed_row {
    const char *mechanism;
    double independent[3];
    double dependence, dependent[3];
} printed_row;

/* The paper prints a dependence of 0.7, with which every test rejects every table. These give the
 * mean G^2 that it prints for the counts themselves (118.8, 124.8, 118.3, 119.6 +- 0.6): they
 * differ, so the paper's effects were drawn once for each setting (docs/errata.md). */

static const printed_row table_3[] = {
    {"truncated-laplace:epsilon=0.1,m=10", {5.0, 86.7, 3.0}, 0.309, {79.3, 99.6, 51.0}},
    {"truncated-laplace:epsilon=0.1,m=7", {6.0, 53.3, 4.0}, 0.333, {87.3, 98.3, 73.3}},
    {"truncated-laplace:epsilon=0.5,m=10", {5.8, 25.4, 6.9}, 0.307, {82.1, 91.3, 76.3}},
    {"truncated-laplace:epsilon=0.5,m=7", {4.7, 18.7, 5.3}, 0.312, {81.3, 91.0, 76.9}},
};
enum { N_PRINTED = sizeof table_3 / sizeof table_3[0] };

static int study_options(const infer_values *values, cellar_study_spec *spec)
{
    int result;
    *spec = cellar_study_spec_default();
    spec->negatives = values->negatives == 2 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
    spec->n_threads = (int) values->threads.value;
    spec->fixed_effects = values->fixed_effects;
    if (values->tables.given)
        spec->n_tables = values->tables.value;
    if (values->seed.given)
        spec->seed = values->seed.value;
    if (values->replicates.given)
        spec->n_replicates = values->replicates.value;
    if (values->n_rows.given)
        spec->n_rows = (size_t) values->n_rows.value;
    if (values->n_columns.given)
        spec->n_columns = (size_t) values->n_columns.value;
    if (values->reference == 2)
        spec->reference = CELLAR_REFERENCE_BOOTSTRAP;
    result = infer_real("eta", values->eta, spec->eta, &spec->eta);
    if (result == CLI_GO_ON)
        result = infer_real("spread", values->spread, spec->spread, &spec->spread);
    if (result == CLI_GO_ON)
        result = infer_real("dependence", values->dependence, 0, &spec->dependence);
    if (result == CLI_GO_ON)
        result = infer_real("level", values->level, spec->level, &spec->level);
    return result;
}

static void add_result(infer_answer *answer, const cellar_study_spec *spec, const char *test,
                       const cellar_study_result *found, double printed)
{
    cli_results *list = &answer->list;
    cli_results_begin(list, test);
    cli_results_text(list, "mechanism", spec->mechanism);
    cli_results_real(list, "dependence", spec->dependence);
    cli_results_real(list, "rejected", found->rejected);
    cli_results_real(list, "rejected_se", found->rejected_se);
    cli_results_real(list, "statistic", found->statistic);
    cli_results_real(list, "statistic_se", found->statistic_se);
    cli_results_real(list, "p_value", found->p_value);
    cli_results_real(list, "p_value_se", found->p_value_se);
    if (!isnan(printed))
        cli_results_real(list, "published", printed / 100);
}

static int run_setting(const cellar_study_spec *spec, const double printed[3], size_t *n_failed,
                       infer_answer *answer)
{
    cellar_study found;
    cellar_error err;
    cellar_study_spec with_progress = *spec;
    cellar_status status;
    with_progress.progress = cli_progress_begin();
    status = cellar_study_run(&with_progress, &found, &err);
    cli_progress_end();
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    add_result(answer, spec, "original", &found.original, printed[0]);
    add_result(answer, spec, "naive", &found.naive, printed[1]);
    add_result(answer, spec, "aware", &found.aware, printed[2]);
    *n_failed += found.n_failed;
    return CLI_GO_ON;
}

static int run_published(cellar_study_spec *spec, size_t *n_failed, infer_answer *answer)
{
    double asked = spec->dependence;
    int result = CLI_GO_ON;
    for (size_t i = 0; i < N_PRINTED && result == CLI_GO_ON; i++) {
        spec->mechanism = table_3[i].mechanism;
        spec->dependence = 0;
        result = run_setting(spec, table_3[i].independent, n_failed, answer);
        spec->dependence = asked != 0 ? asked : table_3[i].dependence;
        if (result == CLI_GO_ON)
            result = run_setting(spec, table_3[i].dependent, n_failed, answer);
    }
    return result;
}

int infer_run_study(const infer_values *values, infer_answer *answer)
{
    const double nothing[3] = {NAN, NAN, NAN};
    cellar_study_spec spec;
    size_t n_failed = 0;
    int result = study_options(values, &spec);

    if (result != CLI_GO_ON)
        return result;
    if (values->table_3 == (values->mechanism != NULL))
        return cli_usage("infer study: say --mechanism SPEC, or --table-3 for the published one");
    cli_results_begin(&answer->header, "study");
    cli_results_count(&answer->header, "rows", spec.n_rows);
    cli_results_count(&answer->header, "columns", spec.n_columns);
    cli_results_real(&answer->header, "eta", spec.eta);
    cli_results_real(&answer->header, "spread", spec.spread);
    cli_results_text(&answer->header, "effects", spec.fixed_effects ? "once" : "by table");
    cli_results_real(&answer->header, "level", spec.level);
    cli_results_count(&answer->header, "tables", spec.n_tables);
    cli_results_count(&answer->header, "seed", spec.seed);
    cli_results_text(&answer->header, "reference",
                     values->reference == 2 ? "bootstrap" : "chi-square");
    answer->list_key = "results";
    spec.mechanism = values->mechanism;
    if (values->table_3)
        result = run_published(&spec, &n_failed, answer);
    else
        result = run_setting(&spec, nothing, &n_failed, answer);
    cli_results_count(&answer->header, "not_converged", n_failed);
    infer_note(answer,
               "Without dependence the share rejected is the level of the test, with it the "
               "power. The power of a test is of use only if its level is the one asked for.");
    return result;
}
