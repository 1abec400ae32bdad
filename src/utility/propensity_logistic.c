/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logistic regression of "released" on main effects and pairs, by Newton's method (iteratively
 * reweighted least squares, McCullagh and Nelder 1989). The first category of each variable is the
 * reference, so that a cell has one parameter for each variable and pair that are not at it. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "utility/propensity_models.h"

enum { ROUNDS_MAX = 100, ACTIVE_MAX = 1 + CELLAR_MAX_VARIABLES * (CELLAR_MAX_VARIABLES + 1) / 2 };

uint64_t cellar_utility_logistic_parameters(const utility_frame *frame)
{
    uint64_t n = 1;
    for (size_t v = 0; v < frame->n_variables; v++) {
        n += frame->radix[v] - 1;
        for (size_t w = 0; w < v; w++)
            n += (uint64_t) (frame->radix[v] - 1) * (frame->radix[w] - 1);
    }
    return n;
}

typedef struct logistic {
    const utility_pooled *pooled;
    size_t n; /* parameters */
    size_t main[CELLAR_MAX_VARIABLES], pair[CELLAR_MAX_VARIABLES][CELLAR_MAX_VARIABLES];
    double *beta, *score, *hessian, *fitted;
} logistic;

static void logistic_number(logistic *l)
{
    const utility_frame *frame = l->pooled->frame;
    l->n = 1;
    for (size_t v = 0; v < frame->n_variables; v++) {
        l->main[v] = l->n;
        l->n += frame->radix[v] - 1;
    }
    for (size_t v = 0; v < frame->n_variables; v++)
        for (size_t w = 0; w < v; w++) {
            l->pair[v][w] = l->n;
            l->n += (size_t) (frame->radix[v] - 1) * (frame->radix[w] - 1);
        }
}

/* The parameters of a cell: each has the factor 1. */
static size_t logistic_active(const logistic *l, size_t cell, size_t *active)
{
    const utility_frame *frame = l->pooled->frame;
    const uint32_t *leaves = l->pooled->leaves + cell * frame->n_variables;
    size_t n = 0;
    active[n++] = 0;
    for (size_t v = 0; v < frame->n_variables; v++) {
        if (leaves[v] == 0)
            continue;
        active[n++] = l->main[v] + leaves[v] - 1;
        for (size_t w = 0; w < v; w++)
            if (leaves[w] > 0)
                active[n++] = l->pair[v][w] + (size_t) (leaves[v] - 1) * (frame->radix[w] - 1) +
                              leaves[w] - 1;
    }
    return n;
}

/* Fills score and lower half of the Hessian; answers the deviance without what does not change. */
static double logistic_sum(logistic *l)
{
    size_t active[ACTIVE_MAX];
    double deviance = 0;
    memset(l->score, 0, l->n * sizeof *l->score);
    memset(l->hessian, 0, l->n * l->n * sizeof *l->hessian);
    for (size_t cell = 0; cell < l->pooled->n; cell++) {
        const double t = l->pooled->records[cell], b = l->pooled->released[cell];
        const size_t n = logistic_active(l, cell, active);
        double eta = 0, p, weight, rest;
        for (size_t i = 0; i < n; i++)
            eta += l->beta[active[i]];
        eta = fmax(-30, fmin(30, eta)); /* a cell that only one table has goes on for ever */
        p = 1 / (1 + exp(-eta));
        l->fitted[cell] = p;
        weight = t * p * (1 - p);
        rest = b - t * p;
        deviance -= 2 * (b * log(p) + (t - b) * log1p(-p));
        for (size_t i = 0; i < n; i++) {
            l->score[active[i]] += rest;
            for (size_t j = 0; j < n; j++)
                if (active[j] <= active[i])
                    l->hessian[active[i] * l->n + active[j]] += weight;
        }
    }
    return deviance;
}

/* Cholesky's factor in place of the lower half. Parameters that others determine, or that no record
 * has, get a row without effect; answers how many are left. */
static size_t logistic_factor(const logistic *l)
{
    const double tiny = 1e-10;
    double *h = l->hessian;
    size_t rank = 0;
    for (size_t i = 0; i < l->n; i++) {
        double *row = h + i * l->n;
        const double diagonal = row[i];
        for (size_t j = 0; j < i; j++) {
            const double *other = h + j * l->n;
            double sum = row[j];
            for (size_t k = 0; k < j; k++)
                sum -= row[k] * other[k];
            row[j] = other[j] > 0 ? sum / other[j] : 0;
        }
        for (size_t k = 0; k < i; k++)
            row[i] -= row[k] * row[k];
        row[i] = row[i] > tiny * diagonal && diagonal > 0 ? sqrt(row[i]) : 0;
        rank += row[i] > 0;
    }
    return rank;
}

/* The step that the factor gives, in place of the score. */
static void logistic_solve(const logistic *l)
{
    double *x = l->score;
    for (size_t i = 0; i < l->n; i++) {
        const double *row = l->hessian + i * l->n;
        for (size_t k = 0; k < i; k++)
            x[i] -= row[k] * x[k];
        x[i] = row[i] > 0 ? x[i] / row[i] : 0;
    }
    for (size_t i = l->n; i-- > 0;) {
        const double *row = l->hessian + i * l->n;
        x[i] = row[i] > 0 ? x[i] / row[i] : 0;
        for (size_t k = 0; k < i; k++)
            x[k] -= row[k] * x[i];
    }
}

/* Newton's steps from the same guess for all, until the deviance stays. */
static size_t logistic_fit(logistic *l)
{
    double before = INFINITY, deviance;
    size_t rank = 0;
    l->beta[0] = log(l->pooled->n_released / (l->pooled->n_records - l->pooled->n_released));
    for (int round = 0; round < ROUNDS_MAX; round++) {
        deviance = logistic_sum(l);
        if (fabs(before - deviance) <= 1e-13 * (fabs(deviance) + 0.1))
            break;
        before = deviance;
        if (round == 0)
            rank = logistic_factor(l);
        else
            logistic_factor(l);
        logistic_solve(l);
        for (size_t i = 0; i < l->n; i++)
            l->beta[i] += l->score[i];
    }
    return rank;
}

cellar_status cellar_utility_logistic(const utility_pooled *pooled, double out[UTILITY_N_LOGISTIC],
                                      cellar_error *err)
{
    const double c = pooled->n_released / pooled->n_records;
    logistic l = {.pooled = pooled};
    double df, expected, pmse = 0;
    logistic_number(&l);
    for (int i = 0; i < UTILITY_N_LOGISTIC; i++)
        out[i] = NAN;
    if (!(c > 0 && c < 1))
        return CELLAR_OK;
    l.beta = cellar_alloc(2 * l.n + pooled->n, sizeof *l.beta);
    l.hessian = cellar_alloc(l.n * l.n, sizeof *l.hessian);
    if (l.beta == NULL || l.hessian == NULL) {
        cellar_free(l.beta);
        cellar_free(l.hessian);
        return cellar_fail_memory(err, "a propensity model");
    }
    l.score = l.beta + l.n;
    l.fitted = l.score + l.n;
    df = (double) logistic_fit(&l) - 1;
    for (size_t i = 0; i < pooled->n; i++)
        pmse += pooled->records[i] * (l.fitted[i] - c) * (l.fitted[i] - c) / pooled->n_records;
    expected = df * (1 - c) * (1 - c) * c / pooled->n_records;
    out[0] = pmse;
    if (df > 0) {
        out[1] = pmse / expected;
        out[2] = (pmse / expected - 1) * sqrt(df / 2);
    }
    cellar_free(l.beta);
    cellar_free(l.hessian);
    return CELLAR_OK;
}
