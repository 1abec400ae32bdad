/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The prior of the shares from the groups. */
#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include <cellar/risk_fit.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/homogeneity/groups.h"

#define AT_ZERO 1e-9     /* a total that stands for the limit 0 */
#define AT_INFINITY 1e12 /* and for infinity */
enum { MAX_STEPS = 500 };

const char *cellar_hyper_fit_end_text(cellar_hyper_fit_end end)
{
    switch (end) {
    case CELLAR_HYPER_FIT_CONVERGED:
        return "converged";
    case CELLAR_HYPER_FIT_AT_ZERO:
        return "at the limit zero";
    case CELLAR_HYPER_FIT_AT_INFINITY:
        return "at the limit infinity";
    case CELLAR_HYPER_FIT_UNIDENTIFIED:
        return "the data do not determine it";
    case CELLAR_HYPER_FIT_NOT_CONVERGED:
        break;
    }
    return "not converged";
}

/* ---- moments ------------------------------------------------------------- */

/* Pairs of members of the same group: all, those with the same value, and those weighted by the
 * inverse share of that value. */
typedef struct pair_counts {
    double all, alike, weighted;
} pair_counts;

static pair_counts prior_pairs(const cellar_groups *g)
{
    pair_counts pairs = {0, 0, 0};
    for (size_t i = 0; i < g->n_kinds; i++) {
        double n = (double) g->kinds[i].size;
        pairs.all += (double) g->kinds[i].times * n * (n - 1);
    }
    for (size_t i = 0; i < g->n_value_counts; i++) {
        const cellar_value_count *c = &g->value_counts[i];
        double n = (double) c->count, alike = (double) c->times * n * (n - 1);
        pairs.alike += alike;
        pairs.weighted += alike * (double) g->n_records / g->value_records[c->value];
    }
    return pairs;
}

static void prior_set(const cellar_groups *g, double total, double *prior)
{
    for (size_t k = 0; k < g->n_values; k++)
        prior[k] = total * g->value_records[k] / (double) g->n_records;
}

/* P(two members alike) = (A sum p^2 + 1) / (A + 1). */
static cellar_hyper_fit_end prior_total(const cellar_groups *g, double *total)
{
    pair_counts pairs = prior_pairs(g);
    double alike, by_chance = 0;

    *total = 1;
    if (pairs.all <= 0)
        return CELLAR_HYPER_FIT_UNIDENTIFIED;
    for (size_t k = 0; k < g->n_values; k++) {
        double share = g->value_records[k] / (double) g->n_records;
        by_chance += share * share;
    }
    alike = pairs.alike / pairs.all;
    if (pairs.alike >= pairs.all) {
        *total = AT_ZERO;
        return CELLAR_HYPER_FIT_AT_ZERO;
    }
    *total = alike > by_chance ? (1 - alike) / (alike - by_chance) : AT_INFINITY;
    return *total < AT_INFINITY ? CELLAR_HYPER_FIT_CONVERGED : CELLAR_HYPER_FIT_AT_INFINITY;
}

cellar_status cellar_prior_moments(const cellar_groups *groups, double *prior,
                                   cellar_hyper_fit *fit, cellar_error *err)
{
    double total;
    (void) err;
    *fit = (cellar_hyper_fit){prior_total(groups, &total), 0, NAN, NAN};
    prior_set(groups, total, prior);
    return CELLAR_OK;
}

/* ---- maximum likelihood -------------------------------------------------- */

/* The likelihood sees counts by value and sizes: lnGamma(A) - lnGamma(A + n) for each group, and
 * lnGamma(a_k + n_k) - lnGamma(a_k) for each count. */
typedef struct prior_slope {
    double value;            /* of the log likelihood */
    double *gradient, *diag; /* of each value: first derivative, own part of the second */
    double *alone;           /* what the value's own counts add to the gradient */
    double common;           /* the part of the second derivative that all share */
    double sizes;            /* what the sizes take off the gradient */
} prior_slope;

static double log_rising(double a, double n) /* ln a (a+1) ... (a+n-1) */
{
    return n < 1                ? 0
           : n > 1e4 || a > 1e6 ? -lbeta(n, a) + lgammafn(n)
                                : lgammafn(a + n) - lgammafn(a);
}

/* sum of 1/(a+j) and of 1/(a+j)^2 for j < n: without cancellation where n is small. */
static void rising_slopes(double a, double n, double *first, double *second)
{
    *first = *second = 0;
    if (n <= 32) {
        for (int j = 0; j < (int) n; j++) {
            *first += 1 / (a + j);
            *second += 1 / ((a + j) * (a + j));
        }
        return;
    }
    *first = digamma(a + n) - digamma(a);
    *second = trigamma(a) - trigamma(a + n);
}

static double prior_value(const cellar_groups *g, const double *prior, double total)
{
    double sum = 0;
    for (size_t i = 0; i < g->n_value_counts; i++) {
        const cellar_value_count *c = &g->value_counts[i];
        sum += (double) c->times * log_rising(prior[c->value], (double) c->count);
    }
    for (size_t i = 0; i < g->n_kinds; i++)
        sum -= (double) g->kinds[i].times * log_rising(total, (double) g->kinds[i].size);
    return sum;
}

static double prior_sum(const cellar_groups *g, const double *prior)
{
    double total = 0;
    for (size_t k = 0; k < g->n_values; k++)
        total += prior[k];
    return total;
}

static void prior_slopes(const cellar_groups *g, const double *prior, prior_slope *slope)
{
    double total = prior_sum(g, prior), first, second;

    slope->sizes = slope->common = 0;
    for (size_t k = 0; k < g->n_values; k++)
        slope->alone[k] = slope->diag[k] = 0;
    for (size_t i = 0; i < g->n_kinds; i++) {
        rising_slopes(total, (double) g->kinds[i].size, &first, &second);
        slope->sizes += (double) g->kinds[i].times * first;
        slope->common += (double) g->kinds[i].times * second;
    }
    for (size_t i = 0; i < g->n_value_counts; i++) {
        const cellar_value_count *c = &g->value_counts[i];
        rising_slopes(prior[c->value], (double) c->count, &first, &second);
        slope->alone[c->value] += (double) c->times * first;
        slope->diag[c->value] -= (double) c->times * second;
    }
    for (size_t k = 0; k < g->n_values; k++)
        slope->gradient[k] = slope->alone[k] - slope->sizes;
    slope->value = prior_value(g, prior, total);
}

/* Newton's step with the Hessian diag + common 1 1' (T. P. Minka, Estimating a Dirichlet
 * distribution, 2000); answers how much it promises to gain, negative when it is no ascent. */
static double prior_newton(const cellar_groups *g, const double *prior, const prior_slope *s,
                           double *step)
{
    double sum = 0, inverse = 1 / s->common, b, gain = 0;
    for (size_t k = 0; k < g->n_values; k++)
        if (prior[k] > 0) {
            sum += s->gradient[k] / s->diag[k];
            inverse += 1 / s->diag[k];
        }
    b = sum / inverse;
    for (size_t k = 0; k < g->n_values; k++) {
        step[k] = prior[k] > 0 ? -(s->gradient[k] - b) / s->diag[k] : 0;
        gain += step[k] * s->gradient[k];
    }
    return gain;
}

/* Minka's fixed point: it always gains. */
static void prior_fixed_point(const cellar_groups *g, const double *prior, const prior_slope *s,
                              double *next)
{
    for (size_t k = 0; k < g->n_values; k++)
        next[k] = prior[k] > 0 ? prior[k] * s->alone[k] / s->sizes : 0;
}

/* Moves along Newton's step, halved until it stays positive and gains; else the fixed point. */
static void prior_move(const cellar_groups *g, double *prior, const prior_slope *s, double *step,
                       double *next)
{
    double gain = prior_newton(g, prior, s, step), part = 1;
    for (int halvings = 0; gain > 0 && halvings < 14; halvings++) {
        int is_positive = 1;
        for (size_t k = 0; k < g->n_values; k++) {
            next[k] = prior[k] + part * step[k];
            is_positive &= prior[k] <= 0 || next[k] > 0.05 * prior[k];
        }
        if (is_positive && prior_value(g, next, prior_sum(g, next)) >= s->value) {
            for (size_t k = 0; k < g->n_values; k++)
                prior[k] = next[k];
            return;
        }
        part /= 2;
    }
    prior_fixed_point(g, prior, s, next);
    for (size_t k = 0; k < g->n_values; k++)
        prior[k] = next[k];
}

static double prior_gradient(const cellar_groups *g, const double *prior, const prior_slope *s)
{
    double worst = 0;
    for (size_t k = 0; k < g->n_values; k++)
        if (prior[k] > 0)
            worst = fmax(worst, fabs(s->gradient[k]) / (s->alone[k] + s->sizes));
    return worst;
}

static cellar_status prior_climb(const cellar_groups *g, double *prior, cellar_hyper_fit *fit,
                                 cellar_error *err)
{
    double *room = cellar_alloc(5 * g->n_values, sizeof *room);
    prior_slope slope = {0};

    if (room == NULL)
        return cellar_fail_memory(err, "a prior");
    slope.gradient = room;
    slope.diag = room + g->n_values;
    slope.alone = room + 2 * g->n_values;
    fit->end = CELLAR_HYPER_FIT_NOT_CONVERGED;
    for (fit->n_steps = 0; fit->n_steps < MAX_STEPS; fit->n_steps++) {
        prior_slopes(g, prior, &slope);
        fit->gradient = prior_gradient(g, prior, &slope);
        fit->log_likelihood = slope.value;
        if (fit->gradient < 1e-11) {
            fit->end = CELLAR_HYPER_FIT_CONVERGED;
            break;
        }
        prior_move(g, prior, &slope, room + 3 * g->n_values, room + 4 * g->n_values);
        if (prior_sum(g, prior) > AT_INFINITY) {
            fit->end = CELLAR_HYPER_FIT_AT_INFINITY;
            break;
        }
    }
    if (fit->end == CELLAR_HYPER_FIT_NOT_CONVERGED && fit->gradient < 1e-8)
        fit->end = CELLAR_HYPER_FIT_CONVERGED; /* as far as rounding lets it */
    cellar_free(room);
    return CELLAR_OK;
}

cellar_status cellar_prior_fit(const cellar_groups *groups, double *prior, cellar_hyper_fit *fit,
                               cellar_error *err)
{
    pair_counts pairs = prior_pairs(groups);
    double total;

    *fit = (cellar_hyper_fit){prior_total(groups, &total), 0, NAN, NAN};
    if (fit->end == CELLAR_HYPER_FIT_UNIDENTIFIED || fit->end == CELLAR_HYPER_FIT_AT_ZERO) {
        prior_set(groups, total, prior);
        return CELLAR_OK;
    }
    if (pairs.weighted <= pairs.all) { /* the likelihood falls as the total comes from infinity */
        fit->end = CELLAR_HYPER_FIT_AT_INFINITY;
        prior_set(groups, AT_INFINITY, prior);
        return CELLAR_OK;
    }
    prior_set(groups, fmin(fmax(total, 1e-3), 1e4), prior);
    return prior_climb(groups, prior, fit, err);
}
