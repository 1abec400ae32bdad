/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar risk table: the risk of the groups, and the parameters that keep it low. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/dirichlet.h>

#include "lists.h"
#include "risk_run.h"
#include "terminal.h"

/* ---- answers -------------------------------------------------------------------------------- */

static void put_summary(risk_table_run *r, size_t index, const cellar_risk_summary *s)
{
    cli_results *results = &r->answer->results;
    cli_results_begin(results, cellar_risk_measure_name(r->options.measure));
    if (r->sensitive.n > 1)
        cli_results_text(results, "sensitive", r->target_name);
    risk_put_mechanism(results, &r->mechanisms, index);
    cli_results_text(results, "method", cellar_risk_method_name(r->options.method));
    cli_results_text(results, "average",
                     r->options.average == CELLAR_RISK_BY_PERSON ? "person" : "group");
    risk_put(results, &s->mean);
    cli_results_real(results, "maximum", s->maximum);
    for (size_t i = 0; i < CELLAR_RISK_N_QUANTILES; i++) {
        char key[32];
        snprintf(key, sizeof key, "quantile_%.2g", cellar_risk_quantile_level(i));
        cli_results_real(results, key, s->quantiles[i]);
    }
    cli_results_real(results, "baseline", s->baseline);
    cli_results_real(results, "difference", s->difference);
    cli_results_real(results, "original", s->original);
    if (r->options.method == CELLAR_RISK_SIMULATE)
        cli_results_real(results, "sd", s->sd);
    if (!r->values->read.json && !r->values->read.csv)
        cli_results_bar(results, s->mean.value);
    else if (!isnan(s->mean.scenario[1]))
        risk_put_scenarios(results, &s->mean);
}

uint64_t risk_run_n_cells(const risk_table_run *r)
{
    return cellar_schema_n_possible(cellar_table_schema(r->table));
}

/* One measure of the joint mechanism, for each of its parameters. */
static int run_dirichlet(risk_table_run *r)
{
    int result = CLI_GO_ON;
    for (size_t i = 0; i < r->mechanisms.n && result == CLI_GO_ON; i++) {
        cellar_dirichlet *d = NULL;
        cellar_risk_summary summary;
        cellar_error err;
        cellar_status status = cellar_dirichlet_create(r->mechanisms.grid.specs.items[i], &d, &err);
        if (status == CELLAR_OK) {
            int64_t total = cellar_dirichlet_total(d);
            status = cellar_risk_assess_dirichlet(
                r->groups, cellar_dirichlet_alpha(d), risk_run_n_cells(r),
                total >= 0 ? (uint64_t) total : cellar_groups_n_records(r->groups), &r->options,
                &summary, &err);
        }
        cellar_dirichlet_free(d);
        if (status != CELLAR_OK)
            result = status == CELLAR_ERR_ARGUMENT ? cli_usage("risk table: %s", err.message)
                                                   : cli_exit(status, &err);
        else
            put_summary(r, i, &summary);
    }
    return result;
}

static int run_cells(risk_table_run *r)
{
    cellar_risk_summary *summaries = cli_alloc(r->mechanisms.n, sizeof *summaries);
    cellar_error err;
    cellar_status status;
    int result = CLI_GO_ON;

    r->options.progress = cli_progress_begin();
    status =
        cellar_risk_assess(r->groups, (const cellar_mechanism *const *) r->mechanisms.mechanisms,
                           r->mechanisms.n, &r->options, summaries, &err);
    cli_progress_end();
    if (status != CELLAR_OK)
        result = status == CELLAR_ERR_ARGUMENT ? cli_usage("risk table: %s", err.message)
                                               : cli_exit(status, &err);
    for (size_t i = 0; i < r->mechanisms.n && result == CLI_GO_ON; i++)
        put_summary(r, i, &summaries[i]);
    free(summaries);
    return result;
}

/* 0 for measures that the method or the mechanism does not have. */
static int run_has(const risk_table_run *r, cellar_risk_measure measure, cellar_risk_method method)
{
    int is_given = measure == CELLAR_RISK_LOCAL || measure >= CELLAR_RISK_HARD;
    if (method == CELLAR_RISK_SIMULATE)
        return !r->is_dirichlet && (is_given || measure == CELLAR_RISK_EXPECTED);
    if (method != CELLAR_RISK_EXACT)
        return !is_given;
    return measure <= (r->is_dirichlet  ? CELLAR_RISK_EXPECTED
                       : r->is_cell_key ? CELLAR_RISK_SHRINKAGE
                                        : CELLAR_RISK_SOFT);
}

static int is_of_papers(cellar_risk_method method)
{
    return method == CELLAR_RISK_PUBLISHED || method == CELLAR_RISK_PUBLISHED_2020;
}

/* Measures that the method does not have are left out. Of measures that were named only those
 * without a published formula are, beside others; else the library says why it refuses. */
int risk_run_measures(risk_table_run *r)
{
    int result = CLI_GO_ON, is_published = 0;
    int is_named = r->values->measure != NULL && strcmp(r->values->measure, "all") != 0;
    for (size_t i = 0; i < r->n_measures; i++)
        for (size_t k = 0; k < r->n_methods && result == CLI_GO_ON; k++) {
            r->options.measure = (cellar_risk_measure) r->measures[i];
            r->options.method = (cellar_risk_method) r->methods[k];
            if (!run_has(r, r->options.measure, r->options.method) &&
                (!is_named ||
                 (r->n_measures * r->n_methods > 1 && is_of_papers(r->options.method)))) {
                if (is_of_papers(r->options.method))
                    risk_note(r->answer, "%s: no paper has a formula for it; left out",
                              cellar_risk_measure_name(r->options.measure));
                continue;
            }
            is_published |= is_of_papers(r->options.method);
            result = r->is_dirichlet ? run_dirichlet(r) : run_cells(r);
        }
    if (is_published)
        risk_note(r->answer, "published: formulas of the papers, for comparison; they understate, "
                             "for small epsilon hundreds of times (docs/errata.md)");
    return result;
}

/* ---- calibration ---------------------------------------------------------------------------- */

static void put_calibration(risk_table_run *r, const char *key, double target,
                            const cellar_calibration *c)
{
    cli_results *results = &r->answer->results;
    for (size_t i = 0; i < c->n_ranges || i == 0; i++) {
        cli_results_begin(results, cellar_risk_measure_name(r->options.measure));
        if (r->sensitive.n > 1)
            cli_results_text(results, "sensitive", r->target_name);
        cli_results_text(results, "mechanism", r->values->mechanism);
        cli_results_text(results, "method", cellar_risk_method_name(r->options.method));
        cli_results_text(results, "average",
                         r->options.average == CELLAR_RISK_BY_PERSON ? "person" : "group");
        cli_results_real(results, "target", target);
        cli_results_text(results, "parameter", key);
        cli_results_text(results, "reached", c->n_ranges > 0 ? "yes" : "no");
        if (c->n_ranges > 0) {
            cli_results_real(results, "from", c->ranges[i].low);
            cli_results_real(results, "to", c->ranges[i].high);
        }
        cli_results_real(results, "least", c->least);
        cli_results_real(results, "least_at", c->least_at);
    }
    if (c->n_ranges == 0)
        risk_note(r->answer, "no value of %s reaches the target: the least risk is %.6g, at %.6g",
                  key, c->least, c->least_at);
    risk_note(r->answer, "a parameter chosen on the confidential table is not covered by the "
                         "certificate: declare it in advance, or choose it on public data");
}

/* The parameter to find and where: the first --vary, or epsilon. Others hold their only value. */
static int calibration_key(risk_table_run *r, char *key, size_t size, double *low, double *high)
{
    const risk_values *v = r->values;
    const char *item = v->vary.n > 0 ? v->vary.items[0] : NULL, *grid = v->epsilon;
    snprintf(key, size, "epsilon");
    if (grid == NULL && item != NULL) {
        const char *equals = strchr(item, '=');
        if (equals == NULL || (size_t) (equals - item) >= size)
            return cli_usage("--vary: it reads epsilon=0.01..100");
        snprintf(key, size, "%.*s", (int) (equals - item), item);
        grid = equals + 1;
    }
    if (v->vary.n + (v->epsilon != NULL) > 1)
        return cli_usage("--target finds one parameter: put the others into --mechanism");
    *low = 0.001;
    *high = 100;
    if (grid == NULL)
        return CLI_GO_ON;
    if (!cli_list_ends(grid, low, high))
        return cli_usage("--target: the range reads 0.01..100, not '%s'", grid);
    return CLI_GO_ON;
}

int risk_run_calibrate(risk_table_run *r)
{
    char key[64];
    double low, high, target;
    int result = cli_list_real("target", r->values->target, &target);
    if (result == CLI_GO_ON && !(target >= 0 && target <= 1))
        return cli_usage("--target: a risk lies between 0 and 1");
    if (r->n_methods > 1)
        return cli_usage("--target: one --method, please");
    if (r->is_dirichlet || r->is_cell_key)
        return cli_usage("--target: for mechanisms of single cells with a parameter to be found");
    if (result == CLI_GO_ON)
        result = calibration_key(r, key, sizeof key, &low, &high);
    for (size_t i = 0; i < r->n_measures && result == CLI_GO_ON; i++) {
        cellar_calibration calibration;
        cellar_error err;
        cellar_status status;
        r->options.measure = (cellar_risk_measure) r->measures[i];
        r->options.method = (cellar_risk_method) r->methods[0];
        status = cellar_risk_calibrate(r->groups, r->values->mechanism, key, low, high, target,
                                       &r->options, &calibration, &err);
        if (status != CELLAR_OK)
            result = status == CELLAR_ERR_ARGUMENT ? cli_usage("--target: %s", err.message)
                                                   : cli_exit(status, &err);
        else
            put_calibration(r, key, target, &calibration);
    }
    return result;
}
