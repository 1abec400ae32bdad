/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar risk table: hyper-parameters, given or fitted. */
#include <stdlib.h>
#include <string.h>

#include "risk_run.h"
#include "terminal.h"

static int run_wants(const risk_table_run *r, cellar_risk_measure a, cellar_risk_measure b)
{
    for (size_t i = 0; i < r->n_measures; i++)
        if (r->measures[i] == (int) a || r->measures[i] == (int) b)
            return 1;
    return 0;
}

static int run_prior(risk_table_run *r)
{
    const char *text = r->values->prior != NULL ? r->values->prior : "fit";
    size_t n = cellar_groups_n_values(r->groups);
    cellar_hyper_fit fit;
    cellar_error err;
    cellar_status status;

    free(r->prior);
    r->prior = NULL;
    if (strcmp(text, "fit") != 0 && strcmp(text, "moments") != 0) {
        int result = risk_reals("prior", text, &r->prior, &n);
        if (result == CLI_GO_ON && n != cellar_groups_n_values(r->groups))
            result =
                cli_usage("--prior: %zu values want %zu numbers", cellar_groups_n_values(r->groups),
                          cellar_groups_n_values(r->groups));
        r->options.prior = r->prior;
        return result;
    }
    r->prior = cli_alloc(n, sizeof *r->prior);
    status = strcmp(text, "fit") == 0 ? cellar_prior_fit(r->groups, r->prior, &fit, &err)
                                      : cellar_prior_moments(r->groups, r->prior, &fit, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    r->options.prior = r->prior;
    double total = 0;
    for (size_t k = 0; k < n; k++)
        total += r->prior[k];
    risk_note(r->answer, "%s: the prior's total is %.8g (%s%s, %d steps)", r->target_name, total,
              strcmp(text, "fit") == 0 ? "maximum likelihood: " : "moments: ",
              cellar_hyper_fit_end_text(fit.end), fit.n_steps);
    if (fit.end == CELLAR_HYPER_FIT_AT_ZERO)
        risk_note(r->answer,
                  "%s: every group is homogeneous, which no prior explains better than "
                  "the limit",
                  r->target_name);
    if (fit.end == CELLAR_HYPER_FIT_AT_INFINITY)
        risk_note(r->answer,
                  "%s: groups differ no more than chance makes them, so all have the "
                  "same shares",
                  r->target_name);
    return CLI_GO_ON;
}

static int run_fit_size(risk_table_run *r, const char *name)
{
    cellar_hyper_fit fit;
    cellar_error err;
    cellar_status status;
    for (int family = 0; family < 2; family++)
        for (int zeros = 0; zeros < 3; zeros++) {
            cellar_size_model model = {(cellar_size_family) family, (cellar_size_zeros) zeros, 0, 0,
                                       0};
            if (strcmp(name, cellar_size_model_name(&model)) != 0)
                continue;
            status = cellar_size_fit(r->groups, model.family, model.zeros, &r->model, &fit, &err);
            if (status != CELLAR_OK)
                return cli_exit(status, &err);
            risk_note(r->answer, "%s: %s fitted to the sizes: lambda %.8g%s%.8g (%s)",
                      r->target_name, name, r->model.lambda,
                      r->model.family == CELLAR_SIZE_NEGBIN ? ", r " : ", zero ",
                      r->model.family == CELLAR_SIZE_NEGBIN ? r->model.r : r->model.zero,
                      cellar_hyper_fit_end_text(fit.end));
            return CLI_GO_ON;
        }
    if (cellar_size_model_parse(name, &r->model, &err) != CELLAR_OK)
        return cli_usage("--size-model: %s", err.message);
    return CLI_GO_ON;
}

int risk_run_hyper(risk_table_run *r)
{
    int result = CLI_GO_ON;
    if (r->is_attribute || run_wants(r, CELLAR_RISK_SHRINKAGE, CELLAR_RISK_GLOBAL))
        result = run_prior(r);
    if (result == CLI_GO_ON && !r->is_attribute &&
        run_wants(r, CELLAR_RISK_GLOBAL, CELLAR_RISK_GLOBAL_FIXED)) {
        result = run_fit_size(r, r->values->size_model != NULL ? r->values->size_model
                                                               : "zero-truncated-poisson");
        r->options.model = &r->model;
    }
    return result;
}
