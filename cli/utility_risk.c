/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "utility_risk.h"

#include <cellar/table.h>

#include "message.h"
#include "variables.h"

/* ---- the groups ----------------------------------------------------------------------- */

int utility_risk_open(const cellar_table *table, const char *qid, const char *sensitive,
                      utility_risk *out)
{
    const cellar_schema *schema = cellar_table_schema(table);
    size_t positions[CELLAR_MAX_VARIABLES], n_qid = 0, n;
    cellar_error err;
    cellar_status status;
    int result;

    if (qid == NULL && sensitive == NULL)
        return CLI_GO_ON;
    result = cli_variables_positions(schema, "qid", qid, positions, &n_qid);
    n = n_qid;
    if (result == CLI_GO_ON)
        result = cli_variables_positions(schema, "sensitive", sensitive, positions, &n);
    if (result != CLI_GO_ON)
        return result;
    out->is_lower_bound =
        cellar_schema_cells_per_record(schema) > 1 || cellar_schema_n_variables(schema) > n;
    status = cellar_groups_create(table, positions, n_qid, positions + n_qid, n - n_qid,
                                  &out->groups, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

void utility_risk_clear(utility_risk *risk)
{
    cellar_groups_free(risk->groups);
}

/* ---- what the attack yields --------------------------------------------------------- */

int utility_risk_assess(const utility_risk *risk, const char *spec, int n_threads,
                        utility_risk_point *out)
{
    cellar_risk_options options = cellar_risk_options_default();
    cellar_mechanism *mechanism = NULL;
    const cellar_mechanism *only;
    cellar_error err;
    cellar_status status = cellar_mechanism_create(spec, &mechanism, &err);

    options.n_threads = n_threads;
    only = mechanism;
    options.measure = CELLAR_RISK_LOCAL;
    if (status == CELLAR_OK)
        status = cellar_risk_assess(risk->groups, &only, 1, &options, &out->local, &err);
    options.measure = CELLAR_RISK_EXPECTED;
    if (status == CELLAR_OK)
        status = cellar_risk_assess(risk->groups, &only, 1, &options, &out->expected, &err);
    cellar_mechanism_free(mechanism);
    if (status == CELLAR_ERR_ARGUMENT)
        return cli_usage("utility: --qid: %s", err.message);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

void utility_risk_columns(cli_results *results, const utility_risk_point *point)
{
    cli_results_real(results, "risk_local", point->local.mean.value);
    cli_results_real(results, "risk_expected", point->expected.mean.value);
    cli_results_real(results, "precision", point->local.mean.precision);
    cli_results_real(results, "baseline", point->local.baseline);
}

void utility_risk_row(cli_results *results, const cellar_risk_summary *summary)
{
    cli_results_real(results, "value", summary->mean.value);
    cli_results_real(results, "precision", summary->mean.precision);
    cli_results_real(results, "false_claim", summary->mean.false_claim);
    cli_results_real(results, "baseline", summary->baseline);
    cli_results_real(results, "difference", summary->difference);
    cli_results_real(results, "maximum", summary->maximum);
    cli_results_real(results, "original", summary->original);
}
