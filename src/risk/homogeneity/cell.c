/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One group of what-if. */
#include "risk/homogeneity/cell.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/homogeneity/local.h"
#include "risk/homogeneity/published.h"
#include "risk/homogeneity/size_model.h"
#include "risk/homogeneity/threshold.h"

static const char *const measure_names[CELLAR_RISK_N_MEASURES] = {
    "local", "expected", "shrinkage", "global", "global_fixed", "hard", "soft"};
static const char *const method_names[CELLAR_RISK_N_METHODS] = {"exact", "published",
                                                                "published-2020", "simulate"};

const char *cellar_risk_measure_name(cellar_risk_measure measure)
{
    return measure_names[measure];
}

const char *cellar_risk_method_name(cellar_risk_method method)
{
    return method_names[method];
}

/* ---- what a cell allows ------------------------------------------------------------------ */

static int cell_has(const cellar_risk_cell *cell, cellar_risk_measure measure)
{
    switch (measure) {
    case CELLAR_RISK_LOCAL:
    case CELLAR_RISK_HARD:
    case CELLAR_RISK_SOFT:
        return cell->counts != NULL;
    case CELLAR_RISK_EXPECTED:
        return cell->counts != NULL || (cell->size > 0 && cell->shares != NULL);
    case CELLAR_RISK_SHRINKAGE:
        return cell->prior != NULL && (cell->size > 0 || cell->counts != NULL);
    case CELLAR_RISK_GLOBAL:
        return cell->model != NULL && cell->prior != NULL;
    case CELLAR_RISK_GLOBAL_FIXED:
        break;
    }
    return cell->model != NULL && cell->shares != NULL;
}

cellar_risk_cell cellar_risk_cell_default(void)
{
    return (cellar_risk_cell){0};
}

int cellar_risk_cell_allows(const cellar_risk_cell *cell, const cellar_mechanism *mechanism,
                            cellar_risk_measure measure, cellar_risk_method method)
{
    if (!cell_has(cell, measure) || method == CELLAR_RISK_SIMULATE)
        return 0;
    if (method == CELLAR_RISK_EXACT)
        return 1;
    return cellar_published_knows(mechanism) && measure != CELLAR_RISK_LOCAL &&
           measure != CELLAR_RISK_HARD && measure != CELLAR_RISK_SOFT;
}

static cellar_status cell_check(const cellar_risk_cell *cell, cellar_error *err)
{
    double sum = 0, prior = 0;
    uint64_t size = 0;

    if (cell->n_values < 2)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a sensitive variable has at least two values");
    for (size_t i = 0; i < cell->n_values; i++) {
        if (cell->shares != NULL && !(cell->shares[i] >= 0 && cell->shares[i] <= 1))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a share must lie between 0 and 1");
        if (cell->prior != NULL && (!(cell->prior[i] >= 0) || !isfinite(cell->prior[i])))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a prior's parameters must not be negative");
        if (cell->counts != NULL && (cell->counts[i] > CELLAR_RISK_MAX_SIZE ||
                                     (size += cell->counts[i]) > CELLAR_RISK_MAX_SIZE))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a group has at most 2^53 members");
        sum += cell->shares != NULL ? cell->shares[i] : 0;
        prior += cell->prior != NULL ? cell->prior[i] : 0;
    }
    if (cell->prior != NULL && prior <= 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a prior needs a positive parameter");
    if (cell->counts != NULL && size == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a group has at least one member");
    if (cell->size > CELLAR_RISK_MAX_SIZE)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a group has at most 2^53 members");
    if (cell->shares != NULL && fabs(sum - 1) > 1e-9)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "shares must sum to 1, and these sum to %.12g",
                           sum);
    return cell->model != NULL ? cellar_size_model_check(cell->model, err) : CELLAR_OK;
}

/* ---- groups from cells --------------------------------------------------------------------- */

static int part_order(const void *left, const void *right)
{
    double a = ((const cellar_group_part *) left)->weight;
    double b = ((const cellar_group_part *) right)->weight;
    return (a > b) - (a < b);
}

void cellar_group_set_parts(cellar_group *group, cellar_group_part *parts, const double *weights,
                            size_t n_values)
{
    size_t n = 0, n_kept = 0;
    group->n_never = 0;
    group->total = 0;
    for (size_t i = 0; i < n_values; i++) {
        if (weights[i] > 0)
            parts[n++] = (cellar_group_part){weights[i], 1};
        else
            group->n_never++;
    }
    qsort(parts, n, sizeof *parts, part_order);
    for (size_t i = 0; i < n; i++) {
        group->total += parts[i].weight;
        if (n_kept > 0 && parts[n_kept - 1].weight == parts[i].weight)
            parts[n_kept - 1].times++;
        else
            parts[n_kept++] = parts[i];
    }
    group->parts = parts;
    group->n_parts = n_kept;
}

/* The largest share is one less the others: near one, that keeps the digits that matter. */
static void cell_weights(const cellar_risk_cell *cell, const double *shares, uint64_t size,
                         double *weights)
{
    double n = (double) size, rest = 0;
    size_t largest = 0;
    for (size_t i = 0; i < cell->n_values; i++) {
        weights[i] = shares[i] * n;
        if (shares[i] > shares[largest])
            largest = i;
    }
    for (size_t i = 0; i < cell->n_values; i++)
        rest += i == largest ? 0 : weights[i];
    weights[largest] = n - rest;
}

/* The risk of a group of that size. */
typedef struct cell_work {
    const cellar_risk_cell *cell;
    cellar_presence presence;
    cellar_group_part *parts;
    double *weights;
    int has_prior;
    cellar_risk_method method;
} cell_work;

static cellar_status cell_of_size(const cell_work *work, uint64_t size, cellar_risk *out,
                                  cellar_error *err)
{
    const cellar_risk_cell *cell = work->cell;
    cellar_group group = {.presence = &work->presence, .size = size, .has_prior = work->has_prior};

    if (work->has_prior)
        cellar_group_set_parts(&group, work->parts, cell->prior, cell->n_values);
    else {
        if (cell->shares != NULL)
            cell_weights(cell, cell->shares, size, work->weights);
        else
            for (size_t i = 0; i < cell->n_values; i++)
                work->weights[i] = (double) cell->counts[i];
        cellar_group_set_parts(&group, work->parts, work->weights, cell->n_values);
    }
    if (work->method == CELLAR_RISK_EXACT)
        return cellar_group_assess(&group, out, err);
    cellar_published_group(&group, work->method == CELLAR_RISK_PUBLISHED_2020, out);
    return CELLAR_OK;
}

void cellar_risk_add(cellar_risk *sum, const cellar_risk *risk, double weight)
{
    sum->value += weight * risk->value;
    for (int s = 0; s < CELLAR_RISK_N_SCENARIOS; s++)
        sum->scenario[s] += weight * risk->scenario[s];
    sum->claim += weight * risk->claim;
    sum->right += weight * risk->right;
    sum->false_claim += weight * risk->false_claim;
    sum->precision = sum->claim > 0 ? sum->right / sum->claim : NAN;
}

enum { MAX_SIZES = 50000 }; /* of a size model: some seconds */

/* Sizes from 1 on, each with its probability: an empty group has nobody to learn of. */
static cellar_status cell_global(const cell_work *work, cellar_risk *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_size_model *model = work->cell->model;
    uint64_t low, high;

    *out = (cellar_risk){0};
    out->precision = NAN;
    cellar_size_model_window(model, &low, &high);
    if (high - low > MAX_SIZES)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "the size model spreads over too many sizes; give --size instead");
    for (uint64_t n = low; n <= high && status == CELLAR_OK; n++) {
        cellar_risk risk;
        status = cell_of_size(work, n, &risk, err);
        if (status == CELLAR_OK)
            cellar_risk_add(out, &risk, exp(cellar_size_model_log_pmf(model, n)));
    }
    return status;
}

/* ---- the measures -------------------------------------------------------------------------- */

cellar_status cellar_risk_cell_random(const cellar_risk_cell *cell,
                                      const cellar_mechanism *mechanism,
                                      cellar_risk_measure measure, cellar_risk_method method,
                                      cellar_risk *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t size = cell->size;
    cell_work *work = cellar_alloc(1, sizeof *work);

    if (work != NULL) {
        work->parts = cellar_alloc(cell->n_values, sizeof *work->parts);
        work->weights = cellar_alloc(cell->n_values, sizeof *work->weights);
    }
    if (work == NULL || work->parts == NULL || work->weights == NULL) {
        status = cellar_fail_memory(err, "the risk of a group");
        goto out;
    }
    work->cell = cell;
    work->method = method;
    work->has_prior = measure == CELLAR_RISK_SHRINKAGE || measure == CELLAR_RISK_GLOBAL;
    for (size_t i = 0; i < cell->n_values && cell->counts != NULL && cell->size == 0; i++)
        size += cell->counts[i];
    cellar_presence_init(&work->presence, mechanism, size > 0 ? size + 1 : CELLAR_PRESENCE_CACHED);
    if (measure == CELLAR_RISK_GLOBAL || measure == CELLAR_RISK_GLOBAL_FIXED)
        CELLAR_TRY(cell_global(work, out, err));
    else
        CELLAR_TRY(cell_of_size(work, size, out, err));
out:
    if (work != NULL) {
        cellar_free(work->parts);
        cellar_free(work->weights);
    }
    cellar_free(work);
    return status;
}

cellar_status cellar_risk_cell_assess(const cellar_risk_cell *cell,
                                      const cellar_mechanism *mechanism,
                                      cellar_risk_measure measure, cellar_risk_method method,
                                      cellar_risk *out, cellar_error *err)
{
    cellar_status status = cell_check(cell, err);
    if (status != CELLAR_OK)
        return status;
    if (!cellar_risk_cell_allows(cell, mechanism, measure, method))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s risk by method %s cannot be computed from this input",
                           measure_names[measure], method_names[method]);
    switch (measure) {
    case CELLAR_RISK_LOCAL:
        return cellar_risk_of_counts(mechanism, cell->counts, cell->n_values, out, err);
    case CELLAR_RISK_HARD:
        return cellar_threshold_hard(mechanism, cell->counts, cell->n_values, out, err);
    case CELLAR_RISK_SOFT:
        return cellar_threshold_soft(mechanism, cell->counts, cell->n_values, out, err);
    default:
        return cellar_risk_cell_random(cell, mechanism, measure, method, out, err);
    }
}
