/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar risk attribute: the Bayesian attacker, against one released group or against a table. */
#include <cellar/attribute.h>

#include <stdlib.h>
#include <string.h>

#include "lists.h"
#include "message.h"
#include "risk_run.h"
#include "terminal.h"

static cellar_negatives negatives_of(const risk_values *values)
{
    return values->negatives == 2 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
}

/* ---- one released group --------------------------------------------------------------------- */

/* Whole numbers, also negative ones. Free *out with free(). */
static int read_released(const char *text, int64_t **out, size_t *n)
{
    double *reals = NULL;
    int result = risk_reals("released", text, &reals, n);
    *out = cli_alloc(*n, sizeof **out);
    for (size_t k = 0; k < *n && result == CLI_GO_ON; k++) {
        if (!(reals[k] >= -1e15 && reals[k] <= 1e15) || reals[k] != (double) (int64_t) reals[k])
            result = cli_usage("--released: whole numbers such as 3,-1,0, not '%s'", text);
        else
            (*out)[k] = (int64_t) reals[k];
    }
    free(reals);
    return result;
}

typedef struct group_question {
    int64_t *released;
    double *prior, *posterior;
    uint64_t *size;
    size_t n_values;
} group_question;

static int group_read(const risk_values *values, group_question *q)
{
    size_t n_prior = 0, n_sizes = 0;
    int result = read_released(values->released, &q->released, &q->n_values);
    if (result == CLI_GO_ON)
        result = risk_reals("prior", values->prior, &q->prior, &n_prior);
    if (result == CLI_GO_ON)
        result = cli_list_counts("size", values->size, 1, &q->size, &n_sizes);
    if (result == CLI_GO_ON && n_sizes != 1)
        result = cli_usage("--size: one number of members");
    if (result == CLI_GO_ON && n_prior != q->n_values)
        result =
            cli_usage("--prior: %zu released values want %zu numbers", q->n_values, q->n_values);
    q->posterior = cli_alloc(q->n_values, sizeof *q->posterior);
    return result;
}

static int group_answer(const risk_values *values, const risk_mechanisms *m, size_t index,
                        const group_question *q, risk_answer *answer)
{
    double total = 0;
    cellar_error err;
    const cellar_status status =
        cellar_attribute_posterior(m->mechanisms[index], negatives_of(values), q->prior,
                                   q->n_values, q->size[0], q->released, q->posterior, &err);
    if (status != CELLAR_OK)
        return status == CELLAR_ERR_ARGUMENT ? cli_usage("risk attribute: %s", err.message)
                                             : cli_exit(status, &err);
    for (size_t k = 0; k < q->n_values; k++)
        total += q->prior[k];
    for (size_t k = 0; k < q->n_values; k++) {
        cli_results_begin(&answer->results, "posterior");
        risk_put_mechanism(&answer->results, m, index);
        cli_results_count(&answer->results, "value", k + 1);
        cli_results_real(&answer->results, "released", (double) q->released[k]);
        cli_results_real(&answer->results, "prior", q->prior[k] / total);
        cli_results_real(&answer->results, "posterior", q->posterior[k]);
    }
    return CLI_GO_ON;
}

int risk_run_posterior(const risk_values *values, risk_answer *answer)
{
    risk_mechanisms mechanisms = {0};
    group_question q = {0};
    int result = group_read(values, &q);
    if (result == CLI_GO_ON)
        result = risk_mechanisms_read(values, 1, &mechanisms);
    if (result == CLI_GO_ON && mechanisms.mechanisms == NULL)
        result = cli_usage("risk attribute: for mechanisms that draw each cell on its own");
    for (size_t i = 0; i < mechanisms.n && result == CLI_GO_ON; i++)
        result = group_answer(values, &mechanisms, i, &q, answer);
    if (result == CLI_GO_ON)
        risk_note(answer, "what somebody who knows the group's size and this prior believes about "
                          "a member; computed from what is public");
    risk_mechanisms_clear(&mechanisms);
    free(q.released);
    free(q.prior);
    free(q.posterior);
    free(q.size);
    return result;
}

/* ---- a table --------------------------------------------------------------------------------- */

typedef struct group_list {
    uint64_t *counts;
    size_t n, capacity; /* groups */
} group_list;

static int add_group(void *context, const uint32_t *group, const uint64_t *counts, size_t n_values)
{
    group_list *list = context;
    (void) group;
    if (list->n == list->capacity) {
        const size_t capacity = list->capacity > 0 ? 2 * list->capacity : 256;
        uint64_t *grown = cli_alloc(capacity * n_values, sizeof *grown);
        if (list->n > 0)
            memcpy(grown, list->counts, list->n * n_values * sizeof *grown);
        free(list->counts);
        list->counts = grown;
        list->capacity = capacity;
    }
    memcpy(list->counts + list->n++ * n_values, counts, n_values * sizeof *counts);
    return 0;
}

static void put_success(risk_table_run *r, size_t index, const cellar_attribute_success *s)
{
    cli_results *results = &r->answer->results;
    cli_results_begin(results, "attribute");
    risk_put_mechanism(results, &r->mechanisms, index);
    cli_results_real(results, "success", s->success);
    cli_results_real(results, "se", s->se);
    cli_results_real(results, "baseline", s->baseline);
    cli_results_real(results, "gain", s->success - s->baseline);
    cli_results_real(results, "confidence", s->confidence);
    cli_results_real(results, "truth", s->truth);
    cli_results_real(results, "sure", s->sure);
    cli_results_real(results, "sure_right", s->sure_right);
}

int risk_run_attack(risk_table_run *r, size_t sensitive)
{
    const risk_values *values = r->values;
    cellar_attribute_options options = cellar_attribute_options_default();
    size_t qid[CELLAR_MAX_VARIABLES];
    group_list list = {0};
    cellar_error err;
    cellar_status status;

    for (size_t v = 0; v < r->qid.n; v++)
        qid[v] = v;
    options.prior = r->prior;
    options.negatives = negatives_of(values);
    if (values->copies.given)
        options.copies = values->copies.value;
    if (values->seed.given)
        options.seed = values->seed.value;
    status = cellar_table_groups(r->table, qid, r->qid.n, sensitive, add_group, &list, &err);
    options.progress = cli_progress_begin();
    for (size_t i = 0; i < r->mechanisms.n && status == CELLAR_OK; i++) {
        cellar_attribute_success success;
        status =
            cellar_attribute_assess(r->mechanisms.mechanisms[i], list.counts, list.n,
                                    cellar_groups_n_values(r->groups), &options, &success, &err);
        if (status == CELLAR_OK)
            put_success(r, i, &success);
    }
    cli_progress_end();
    free(list.counts);
    if (status == CELLAR_ERR_ARGUMENT)
        return cli_usage("risk attribute: %s", err.message);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}
