/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Size models from the sizes of the groups. */
#include <math.h>

#include <cellar/risk_fit.h>

#include "base/error.h"
#include "risk/homogeneity/groups.h"

/* Sizes of non-empty groups, in moments. */
typedef struct size_moments {
    double n, mean, variance;
} size_moments;

static size_moments size_moments_of(const cellar_groups *g)
{
    size_moments m = {(double) g->n_groups, (double) g->n_records / (double) g->n_groups, 0};
    for (size_t i = 0; i < g->n_kinds; i++) {
        double away = (double) g->kinds[i].size - m.mean;
        m.variance += (double) g->kinds[i].times * away * away / m.n;
    }
    return m;
}

static double size_likelihood(const cellar_groups *g, const cellar_size_model *model)
{
    double sum = 0;
    for (size_t i = 0; i < g->n_kinds; i++)
        sum += (double) g->kinds[i].times * cellar_size_model_log_pmf(model, g->kinds[i].size);
    return sum;
}

/* The mean of the plain law whose mean given "not empty" is `mean` (> 1): m / (1 - P(0)) grows with
 * m; bisection. r is INFINITY for Poisson. */
static double size_untruncate(double mean, double r, int *n_steps)
{
    double low = 0, high = mean;
    for (int i = 0; i < 200 && high - low > 1e-15 * high; i++, ++*n_steps) {
        double m = (low + high) / 2;
        double log_zero = isinf(r) ? -m : -r * log1p(m / r);
        if (m / -expm1(log_zero) < mean)
            low = m;
        else
            high = m;
    }
    return (low + high) / 2;
}

static cellar_size_model size_model_of(cellar_size_family family, cellar_size_zeros zeros, double m,
                                       double r)
{
    cellar_size_model model = {family, zeros, m, NAN, 0};
    if (family == CELLAR_SIZE_NEGBIN) {
        model.r = r;
        model.lambda = r / (r + m);
    }
    return model;
}

/* The share of empty groups that the plain law does not explain. */
static void size_inflate(const cellar_groups *g, cellar_size_model *model)
{
    cellar_size_model plain = *model;
    double n_all = (double) g->n_groups + (double) g->n_empty, present;
    plain.zeros = CELLAR_SIZE_PLAIN;
    present = -expm1(cellar_size_model_log_pmf(&plain, 0));
    model->zero = fmax(0, 1 - (double) g->n_groups / n_all / present);
}

static double size_mean(const size_moments *m, cellar_size_zeros zeros, double r, int *n_steps)
{
    return zeros == CELLAR_SIZE_PLAIN ? m->mean : size_untruncate(m->mean, r, n_steps);
}

/* The likelihood of a negative binomial with that r, its other parameter at its best (the sizes
 * of non-empty groups alone tell them apart, also under inflation). */
static double size_profile(const cellar_groups *g, const size_moments *m, cellar_size_zeros zeros,
                           double r, int *n_steps)
{
    cellar_size_zeros fitted = zeros == CELLAR_SIZE_PLAIN ? zeros : CELLAR_SIZE_TRUNCATED;
    cellar_size_model model =
        size_model_of(CELLAR_SIZE_NEGBIN, fitted, size_mean(m, zeros, r, n_steps), r);
    return size_likelihood(g, &model);
}

/* r by golden section on ln r, after a coarse look for where the top is. */
static cellar_hyper_fit_end size_fit_r(const cellar_groups *g, const size_moments *m,
                                       cellar_size_zeros zeros, double *r, int *n_steps)
{
    const double low = log(1e-4), high = log(1e7), golden = 0.6180339887498949;
    enum { N_LOOKS = 64 };
    double best = -INFINITY, a, b, x, y, f_x, f_y;
    int at = 0;

    for (int i = 0; i <= N_LOOKS; i++) {
        double f =
            size_profile(g, m, zeros, exp(low + (high - low) * i / (double) N_LOOKS), n_steps);
        if (f > best) {
            best = f;
            at = i;
        }
    }
    *r = exp(low + (high - low) * at / (double) N_LOOKS);
    if (at == 0)
        return CELLAR_HYPER_FIT_AT_ZERO;
    if (at == N_LOOKS)
        return CELLAR_HYPER_FIT_AT_INFINITY;
    a = low + (high - low) * (at - 1) / (double) N_LOOKS;
    b = low + (high - low) * (at + 1) / (double) N_LOOKS;
    x = b - golden * (b - a);
    y = a + golden * (b - a);
    f_x = size_profile(g, m, zeros, exp(x), n_steps);
    f_y = size_profile(g, m, zeros, exp(y), n_steps);
    while (b - a > 1e-9) {
        if (f_x > f_y) {
            b = y;
            y = x;
            f_y = f_x;
            x = b - golden * (b - a);
            f_x = size_profile(g, m, zeros, exp(x), n_steps);
        } else {
            a = x;
            x = y;
            f_x = f_y;
            y = a + golden * (b - a);
            f_y = size_profile(g, m, zeros, exp(y), n_steps);
        }
    }
    *r = exp((a + b) / 2);
    return CELLAR_HYPER_FIT_CONVERGED;
}

cellar_status cellar_size_fit(const cellar_groups *g, cellar_size_family family,
                              cellar_size_zeros zeros, cellar_size_model *model,
                              cellar_hyper_fit *fit, cellar_error *err)
{
    size_moments m = size_moments_of(g);
    double r = INFINITY, mean;

    *fit = (cellar_hyper_fit){CELLAR_HYPER_FIT_CONVERGED, 0, NAN, 0};
    if (zeros == CELLAR_SIZE_INFLATED && g->n_empty == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a zero-inflated size model needs a table in which groups are empty");
    if (zeros != CELLAR_SIZE_PLAIN && m.mean <= 1) { /* every group has one member */
        fit->end = CELLAR_HYPER_FIT_AT_ZERO;
        *model = size_model_of(family, zeros, 1e-9, 1);
        return CELLAR_OK;
    }
    if (family == CELLAR_SIZE_NEGBIN)
        fit->end = size_fit_r(g, &m, zeros, &r, &fit->n_steps);
    mean = size_mean(&m, zeros, r, &fit->n_steps);
    *model = size_model_of(family, zeros, mean, r);
    if (zeros == CELLAR_SIZE_INFLATED)
        size_inflate(g, model);
    fit->log_likelihood = size_likelihood(g, model);
    return CELLAR_OK;
}
