/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The negative binomial law NBI of mean mu = count + alpha and variance mu + sigma mu^2: a Poisson
 * count whose mean is gamma distributed. With size r = 1/sigma and q = sigma mu / (1 + sigma mu),
 * P(b) = Gamma(b + r) / (Gamma(r) b!) q^b (1-q)^r. */
#include <math.h>

#include <arb_hypgeom.h>

#include "math/special.h"
#include "mechanism/count_balls.h"
#include "mechanism/kernel.h"
#include "mechanism/registry.h"

typedef struct negbin {
    cellar_kernel kernel;
    long double sigma;
} negbin;

static long double negbin_sigma(const cellar_kernel *k)
{
    return ((const negbin *) k)->sigma;
}

static long double negbin_log_p(const cellar_kernel *k, int64_t count, int64_t b)
{
    return cellar_log_negbin(b, cellar_kernel_mean(k, count), 1 / negbin_sigma(k));
}

/* q (b + r) / (b + 1) */
static void negbin_ratios(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                          long double *out)
{
    long double sigma = negbin_sigma(k), x = sigma * cellar_kernel_mean(k, count);
    long double q = x / (1 + x), size = 1 / sigma;
    for (size_t i = 0; i < n; i++) {
        long double b = (long double) (first + (int64_t) i);
        out[i] = q * (b + size) / (b + 1);
    }
}

/* A straight line in 1/(b + 1), q (1 + (r - 1) / (b + 1)). */
static void negbin_ratio_curve(const cellar_kernel *k, int64_t count, int64_t b, long double *here,
                               long double *limit)
{
    long double x = negbin_sigma(k) * cellar_kernel_mean(k, count);
    negbin_ratios(k, count, b, 1, here);
    *limit = x / (1 + x);
}

static long double negbin_ratio_bound(const cellar_kernel *k, int64_t count, int64_t b)
{
    long double here, limit;
    negbin_ratio_curve(k, count, b, &here, &limit);
    return fmaxl(here, limit);
}

static void negbin_p_balls(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                           int64_t bits, arb_ptr out)
{
    fmpq_t mean;
    fmpq_init(mean);
    cellar_kernel_mean_rational(k, count, mean);
    cellar_negbin_balls(mean, cellar_kernel_parameter(k, "sigma")->value, first, n, bits, out);
    fmpq_clear(mean);
}

/* The ratios of successive terms from P(b) on are those of 2F1(b + r, 1; b + 1; q). */
static void negbin_upper_ball(const cellar_kernel *k, int64_t count, int64_t b, int64_t bits,
                              arb_t out)
{
    const int64_t work = bits + 96;
    arb_t first, one, next, q;
    arb_init(first);
    arb_init(one);
    arb_init(next);
    arb_init(q);
    arb_set_fmpq(first, cellar_kernel_parameter(k, "sigma")->value, work);
    cellar_kernel_mean_ball(k, count, work, q);
    arb_mul(q, q, first, work);
    arb_add_ui(one, q, 1, work);
    arb_div(q, q, one, work);
    arb_inv(first, first, work);
    arb_add_si(first, first, b, work);
    arb_one(one);
    arb_set_si(next, b);
    arb_add_ui(next, next, 1, work);
    arb_hypgeom_2f1(next, first, one, next, q, 0, work);
    negbin_p_balls(k, count, b, 1, bits, out);
    arb_mul(out, out, next, bits);
    arb_clear(first);
    arb_clear(one);
    arb_clear(next);
    arb_clear(q);
}

/* (b + 1) P(b + 1) = q (b + r) P(b) */
static cellar_status negbin_run(const cellar_kernel *k, int64_t count, int64_t first,
                                cellar_run *out, cellar_error *err)
{
    int64_t bits = CELLAR_KERNEL_RUN_BITS;
    arb_t sigma, t;
    (void) err;
    arb_init(sigma);
    arb_init(t);
    out->kind = CELLAR_RUN_SIMPLE;
    arb_set_fmpq(sigma, cellar_kernel_parameter(k, "sigma")->value, bits);
    cellar_kernel_mean_ball(k, count, bits, t);
    arb_mul(t, t, sigma, bits); /* q = 1 - 1/(1 + sigma mu) */
    arb_inv(sigma, sigma, bits);
    cellar_run_set(out, &out->shift, sigma);
    arb_add_ui(sigma, t, 1, bits);
    arb_div(t, t, sigma, bits);
    cellar_run_set(out, &out->slope, t);
    negbin_p_balls(k, count, first, 1, bits, t);
    cellar_run_start(out, first, t, 1);
    arb_clear(t);
    arb_clear(sigma);
    return CELLAR_OK;
}

static void negbin_mean_variance(const cellar_kernel *k, int64_t count, double *mean,
                                 double *variance)
{
    long double mu = cellar_kernel_mean(k, count);
    *mean = (double) mu;
    *variance = (double) (mu + negbin_sigma(k) * mu * mu);
}

static const cellar_count_law negbin_law = {
    .log_p = negbin_log_p,
    .p_balls = negbin_p_balls,
    .ratios = negbin_ratios,
    .run = negbin_run,
    .run_anywhere = 1,
    .ratio_bound = negbin_ratio_bound,
    .ratio_curve = negbin_ratio_curve,
    .upper_ball = negbin_upper_ball,
    .mean_variance = negbin_mean_variance,
};

static cellar_status negbin_init(cellar_mechanism *m, cellar_error *err)
{
    negbin *nb = (negbin *) m;
    nb->sigma =
        cellar_long_double_of_rational(cellar_kernel_parameter(&nb->kernel, "sigma")->value);
    return cellar_kernel_init(m, &negbin_law, err);
}

static const cellar_parameter_rule negbin_parameters[] = {
    {.name = "alpha", .required = 1, .above = "0", .at_most = "1000000"},
    {.name = "sigma", .required = 1, .at_least = "0.000001", .at_most = "100"},
    {0},
};

const cellar_mechanism_ops cellar_negbin_ops = {
    .name = "negbin",
    .revision = 1,
    .summary = "negative binomial of mean count + alpha",
    .size = sizeof(negbin),
    .parameters = negbin_parameters,
    .init = negbin_init,
    .clear = cellar_kernel_clear,
    .facts = &cellar_negbin_facts,
    CELLAR_KERNEL_SLOTS,
};
