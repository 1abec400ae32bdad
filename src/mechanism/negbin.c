/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The negative binomial law NBI of mean mu = count + alpha and variance mu + sigma mu^2: a Poisson
 * count whose mean is gamma distributed. With size r = 1/sigma and q = sigma mu / (1 + sigma mu),
 * P(b) = Gamma(b + r) / (Gamma(r) b!) q^b (1-q)^r. */
#include <math.h>

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

/* The ratio tends to q, from above or from below. */
static long double negbin_ratio_bound(const cellar_kernel *k, int64_t count, int64_t b)
{
    long double x = negbin_sigma(k) * cellar_kernel_mean(k, count), ratio;
    negbin_ratios(k, count, b, 1, &ratio);
    return fmaxl(ratio, x / (1 + x));
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
