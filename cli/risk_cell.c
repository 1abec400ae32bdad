/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar risk cell, and what it shares with risk table. */
#include "risk.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/text.h>

#include "lists.h"

void risk_note(risk_answer *answer, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (cli_words_find(&answer->notes, text) == (size_t) -1)
        cli_words_add(&answer->notes, text, strlen(text));
}

/* ---- mechanisms that vary ------------------------------------------------------------------- */

int risk_mechanisms_read(const risk_values *values, int create, risk_mechanisms *out)
{
    const cli_words none = {0};
    cli_words base = {0};
    int result;

    cli_words_add(&base, values->mechanism, strlen(values->mechanism));
    result = values->target == NULL
                 ? cli_vary_read(&base, &values->vary, values->epsilon, &out->grid)
                 : cli_vary_read(&base, &none, NULL, &out->grid);
    cli_words_clear(&base);
    out->n = out->grid.specs.n;
    if (result == CLI_GO_ON && create) {
        out->mechanisms = cli_alloc(out->n, sizeof(cellar_mechanism *));
        for (size_t i = 0; i < out->n && result == CLI_GO_ON; i++) {
            cellar_error err;
            cellar_status status =
                cellar_mechanism_create(out->grid.specs.items[i], &out->mechanisms[i], &err);
            if (status == CELLAR_ERR_ARGUMENT)
                result = cli_usage("--mechanism: %s", err.message);
            else if (status != CELLAR_OK)
                result = cli_exit(status, &err);
        }
    }
    return result;
}

void risk_mechanisms_clear(risk_mechanisms *mechanisms)
{
    for (size_t i = 0; i < mechanisms->n && mechanisms->mechanisms != NULL; i++)
        cellar_mechanism_free(mechanisms->mechanisms[i]);
    free(mechanisms->mechanisms);
    cli_vary_clear(&mechanisms->grid);
}

void risk_put_mechanism(cli_results *results, const risk_mechanisms *m, size_t index)
{
    const cellar_mechanism *mechanism = m->mechanisms != NULL ? m->mechanisms[index] : NULL;
    cli_results_text(results, "mechanism", m->grid.specs.items[index]);
    for (size_t k = 0; k < m->grid.keys.n; k++)
        cli_results_real(results, m->grid.keys.items[k],
                         strtod(m->grid.values.items[index * m->grid.keys.n + k], NULL));
    if (mechanism == NULL || cli_words_find(&m->grid.keys, "epsilon") != (size_t) -1)
        return;
    for (size_t i = 0; i < cellar_mechanism_n_parameters(mechanism); i++)
        if (strcmp(cellar_mechanism_parameter_name(mechanism, i), "epsilon") == 0)
            cli_results_real(results, "epsilon", cellar_mechanism_parameter_value(mechanism, i));
}

/* ---- words ---------------------------------------------------------------------------------- */

static int word_index(const char *option, const char *word, const char *const *names)
{
    const char *nearest;
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    nearest = cellar_nearest_word(word, names);
    if (nearest != NULL)
        cli_message("--%s: there is no '%s'; did you mean '%s'?", option, word, nearest);
    else
        cli_message("--%s: there is no '%s'", option, word);
    return -1;
}

static int word_list(const char *option, const char *text, const char *const *names, int *out,
                     size_t *n)
{
    cli_words words = {0};
    int result = CLI_GO_ON;
    cli_words_split(&words, text, ',', 0);
    for (size_t i = 0; i < words.n && result == CLI_GO_ON; i++) {
        int index = word_index(option, words.items[i], names);
        int is_new = 1;
        for (size_t k = 0; k < *n; k++)
            is_new &= out[k] != index;
        if (index < 0)
            result = CLI_USAGE;
        else if (is_new)
            out[(*n)++] = index;
    }
    cli_words_clear(&words);
    return result;
}

int risk_measures(const char *text, const int *allowed, int *out, size_t *n)
{
    const char *names[CELLAR_RISK_N_MEASURES + 1] = {NULL};
    *n = 0;
    for (int i = 0; i < CELLAR_RISK_N_MEASURES; i++)
        names[i] = cellar_risk_measure_name((cellar_risk_measure) i);
    if (text != NULL && strcmp(text, "all") != 0)
        return word_list("measure", text, names, out, n);
    for (int i = 0; i < CELLAR_RISK_N_MEASURES; i++)
        if (allowed == NULL || allowed[i])
            out[(*n)++] = i;
    return CLI_GO_ON;
}

int risk_methods(const char *text, int *out, size_t *n)
{
    const char *names[CELLAR_RISK_N_METHODS + 1] = {NULL};
    *n = 0;
    for (int i = 0; i < CELLAR_RISK_N_METHODS; i++)
        names[i] = cellar_risk_method_name((cellar_risk_method) i);
    return word_list("method", text, names, out, n);
}

int risk_reals(const char *option, const char *text, double **out, size_t *n)
{
    cli_words words = {0};
    int result = CLI_GO_ON;
    cli_words_split(&words, text, ',', 0);
    *n = words.n;
    *out = cli_alloc(words.n, sizeof **out);
    for (size_t i = 0; i < words.n && result == CLI_GO_ON; i++)
        result = cli_list_real(option, words.items[i], &(*out)[i]);
    cli_words_clear(&words);
    return result;
}

/* ---- one group ------------------------------------------------------------------------------ */

void risk_put(cli_results *results, const cellar_risk *risk)
{
    cli_results_real(results, "value", risk->value);
    cli_results_real(results, "scenario_1", risk->scenario[0]);
    cli_results_real(results, "scenario_8", risk->scenario[7]);
    cli_results_real(results, "precision", risk->precision);
    cli_results_real(results, "false_claim", risk->false_claim);
    cli_results_real(results, "claim", risk->claim);
}

void risk_put_scenarios(cli_results *results, const cellar_risk *risk)
{
    for (int s = 0; s < CELLAR_RISK_N_SCENARIOS; s++) {
        char key[32];
        snprintf(key, sizeof key, "%d", s + 1);
        cli_results_member(results, "scenarios", key, risk->scenario[s]);
    }
}

/* What the options say of the group, and the memory it points to. */
typedef struct cell_arguments {
    cellar_risk_cell cell;
    uint64_t *counts;
    double *shares, *prior;
    cellar_size_model model;
} cell_arguments;

static int cell_set_n(cellar_risk_cell *cell, size_t n, const char *option)
{
    if (cell->n_values != 0 && cell->n_values != n)
        return cli_usage("--%s: as many numbers as there are values, please", option);
    cell->n_values = n;
    return CLI_GO_ON;
}

static int cell_read(const risk_values *values, cell_arguments *a)
{
    int result = CLI_GO_ON;
    size_t n;
    if (values->counts != NULL) {
        result = cli_list_counts("counts", values->counts, 0, &a->counts, &n);
        if (result == CLI_GO_ON)
            result = cell_set_n(&a->cell, n, "counts");
    }
    if (values->shares != NULL && result == CLI_GO_ON) {
        result = risk_reals("shares", values->shares, &a->shares, &n);
        if (result == CLI_GO_ON)
            result = cell_set_n(&a->cell, n, "shares");
    }
    if (values->prior != NULL && result == CLI_GO_ON) {
        result = risk_reals("prior", values->prior, &a->prior, &n);
        if (result == CLI_GO_ON)
            result = cell_set_n(&a->cell, n, "prior");
    }
    if (values->size != NULL && result == CLI_GO_ON &&
        (!cellar_parse_u64(values->size, strlen(values->size), &a->cell.size) || a->cell.size == 0))
        result = cli_usage("--size: '%s' is no number of members", values->size);
    if (values->size_model != NULL && result == CLI_GO_ON) {
        cellar_error err;
        if (cellar_size_model_parse(values->size_model, &a->model, &err) != CELLAR_OK)
            result = cli_usage("--size-model: %s", err.message);
        a->cell.model = &a->model;
    }
    a->cell.counts = a->counts;
    a->cell.shares = a->shares;
    a->cell.prior = a->prior;
    if (result == CLI_GO_ON && a->cell.n_values == 0)
        result = cli_usage("risk cell: give --counts, or --size or --size-model with --shares or "
                           "--prior");
    return result;
}

/* The success of a guess without the release: the most frequent value by the shares or the prior,
 * which are those of the population. Counts alone do not show it. */
static double cell_baseline(const cell_arguments *a, cellar_risk_measure measure)
{
    const double *weights =
        measure == CELLAR_RISK_SHRINKAGE || measure == CELLAR_RISK_GLOBAL ? a->prior : a->shares;
    double most = 0, sum = 0;
    for (size_t i = 0; i < a->cell.n_values && weights != NULL; i++) {
        most = fmax(most, weights[i]);
        sum += weights[i];
    }
    return weights != NULL ? most / sum : NAN;
}

static int cell_allows(const cell_arguments *a, const cellar_mechanism *mechanism,
                       cellar_risk_measure measure, cellar_risk_method method)
{
    if (method != CELLAR_RISK_SIMULATE)
        return cellar_risk_cell_allows(&a->cell, mechanism, measure, method);
    return a->counts != NULL && (measure == CELLAR_RISK_LOCAL || measure >= CELLAR_RISK_HARD ||
                                 (measure == CELLAR_RISK_EXPECTED && a->shares == NULL));
}

/* Copies of the group as a table of one. */
static cellar_status cell_simulate(const risk_values *values, const cell_arguments *a,
                                   const cellar_mechanism *mechanism, cellar_risk_measure measure,
                                   cellar_risk *out, double *sd, cellar_error *err)
{
    cellar_risk_options options = cellar_risk_options_default();
    cellar_groups *groups = NULL;
    cellar_risk_summary summary;
    cellar_status status =
        cellar_groups_from_counts(a->counts, 1, a->cell.n_values, NULL, &groups, err);
    options.measure = measure;
    options.method = CELLAR_RISK_SIMULATE;
    if (values->copies.given)
        options.copies = values->copies.value;
    if (values->seed.given)
        options.seed = values->seed.value;
    options.n_threads = 1;
    if (status == CELLAR_OK)
        status = cellar_risk_assess(groups, &mechanism, 1, &options, &summary, err);
    if (status == CELLAR_OK) {
        *out = summary.mean;
        *sd = summary.sd;
    }
    cellar_groups_free(groups);
    return status;
}

static int cell_measure(const risk_values *values, const cell_arguments *a,
                        const risk_mechanisms *m, size_t index, cellar_risk_measure measure,
                        cellar_risk_method method, risk_answer *answer)
{
    cellar_risk risk;
    cellar_error err;
    double baseline, sd = NAN;
    cellar_status status =
        method == CELLAR_RISK_SIMULATE
            ? cell_simulate(values, a, m->mechanisms[index], measure, &risk, &sd, &err)
            : cellar_risk_cell_assess(&a->cell, m->mechanisms[index], measure, method, &risk, &err);
    if (status != CELLAR_OK)
        return status == CELLAR_ERR_ARGUMENT ? cli_usage("risk cell: %s", err.message)
                                             : cli_exit(status, &err);
    baseline = cell_baseline(a, measure);
    cli_results_begin(&answer->results, cellar_risk_measure_name(measure));
    cli_results_text(&answer->results, "method", cellar_risk_method_name(method));
    if (m->n > 1)
        risk_put_mechanism(&answer->results, m, index);
    risk_put(&answer->results, &risk);
    cli_results_real(&answer->results, "baseline", baseline);
    cli_results_real(&answer->results, "difference", risk.precision - baseline);
    if (method == CELLAR_RISK_SIMULATE)
        cli_results_real(&answer->results, "sd", sd);
    if ((values->read.json || values->read.csv) && !isnan(risk.scenario[1]))
        risk_put_scenarios(&answer->results, &risk);
    if (method == CELLAR_RISK_PUBLISHED || method == CELLAR_RISK_PUBLISHED_2020)
        risk_note(answer, "published: formulas of the papers, for comparison; they understate, for "
                          "small epsilon hundreds of times (docs/errata.md)");
    return CLI_GO_ON;
}

static int cell_run(const risk_values *values, const cell_arguments *a, const risk_mechanisms *m,
                    risk_answer *answer)
{
    int measures[CELLAR_RISK_N_MEASURES], methods[CELLAR_RISK_N_METHODS];
    size_t n_measures, n_methods;
    int is_named = values->measure != NULL && strcmp(values->measure, "all") != 0;
    int result = risk_measures(values->measure, NULL, measures, &n_measures);
    if (result == CLI_GO_ON)
        result =
            risk_methods(values->method != NULL ? values->method : "exact,published,published-2020",
                         methods, &n_methods);
    for (size_t i = 0; i < m->n && result == CLI_GO_ON; i++)
        for (size_t k = 0; k < n_measures && result == CLI_GO_ON; k++) {
            size_t n_before = answer->results.n;
            for (size_t j = 0; j < n_methods && result == CLI_GO_ON; j++)
                if (cell_allows(a, m->mechanisms[i], (cellar_risk_measure) measures[k],
                                (cellar_risk_method) methods[j]))
                    result = cell_measure(values, a, m, i, (cellar_risk_measure) measures[k],
                                          (cellar_risk_method) methods[j], answer);
            if (result == CLI_GO_ON && is_named && answer->results.n == n_before)
                result = cli_usage("risk cell: %s risk cannot be computed from these arguments",
                                   cellar_risk_measure_name((cellar_risk_measure) measures[k]));
        }
    if (result == CLI_GO_ON && answer->results.n == 0)
        result = cli_usage("risk cell: nothing can be measured from these arguments");
    if (result == CLI_GO_ON && values->also_released)
        risk_note(answer, "a lower bound: with margins or other tables released as well, an "
                          "attacker can do more");
    return result;
}

int risk_run_cell(const risk_values *values, risk_answer *answer)
{
    cell_arguments a = {0};
    risk_mechanisms m = {0};
    int result = cell_read(values, &a);
    if (result == CLI_GO_ON)
        result = risk_mechanisms_read(values, 1, &m);
    if (result == CLI_GO_ON)
        result = cell_run(values, &a, &m, answer);
    risk_mechanisms_clear(&m);
    free(a.counts);
    free(a.shares);
    free(a.prior);
    return result;
}
