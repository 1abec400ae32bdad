/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar risk membership: the best test of whether somebody is in the data. */
#include <cellar/membership.h>

#include <stdlib.h>

#include "message.h"
#include "risk.h"

static int put_power(const risk_values *values, const risk_mechanisms *m, size_t index,
                     double level, risk_answer *answer)
{
    const cellar_certify_part part = {m->mechanisms[index], 1};
    cellar_certify_options options = cellar_certify_options_default();
    double power;
    cellar_error err;
    cellar_status status;
    if (values->neighbours == 2)
        options.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
    if (values->cells.given)
        options.n_cells = values->cells.value;
    status = cellar_membership_power(&part, 1, &options, level, &power, &err);
    if (status != CELLAR_OK)
        return status == CELLAR_ERR_ARGUMENT ? cli_usage("risk membership: %s", err.message)
                                             : cli_exit(status, &err);
    cli_results_begin(&answer->results, "membership");
    risk_put_mechanism(&answer->results, m, index);
    cli_results_real(&answer->results, "level", level);
    cli_results_real(&answer->results, "power", power);
    cli_results_real(&answer->results, "advantage", power - level);
    return CLI_GO_ON;
}

int risk_run_membership(const risk_values *values, risk_answer *answer)
{
    risk_mechanisms mechanisms = {0};
    double *levels = NULL;
    size_t n = 0;
    int result =
        risk_reals("level", values->level != NULL ? values->level : "0.01,0.05,0.1", &levels, &n);
    if (result == CLI_GO_ON)
        result = risk_mechanisms_read(values, 1, &mechanisms);
    for (size_t i = 0; i < mechanisms.n && result == CLI_GO_ON; i++)
        for (size_t k = 0; k < n && result == CLI_GO_ON; k++)
            result = put_power(values, &mechanisms, i, levels[k], answer);
    if (result == CLI_GO_ON)
        risk_note(answer, "no test of that level has more power, whatever the attacker knows about "
                          "everybody else: an upper bound for every attack");
    risk_mechanisms_clear(&mechanisms);
    free(levels);
    return result;
}
