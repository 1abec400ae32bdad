/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Poisson(count + alpha): fully synthetic counts; and the same with alpha added to counts of zero
 * only. With alpha = 0 the first one releases a count of zero as zero. */
#include <math.h>

#include "math/special.h"
#include "mechanism/kernels/count_balls.h"
#include "mechanism/kernels/kernel.h"
#include "mechanism/registry.h"

static long double poisson_log_p(const cellar_kernel *k, int64_t count, int64_t b)
{
    const long double mean = cellar_kernel_mean(k, count);
    return mean > 0 || b == 0 ? cellar_log_poisson(b, mean) : -INFINITY;
}

static void poisson_ratios(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                           long double *out)
{
    long double mean = cellar_kernel_mean(k, count);
    for (size_t i = 0; i < n; i++)
        out[i] = mean / (long double) (first + (int64_t) i + 1);
}

static long double poisson_ratio_bound(const cellar_kernel *k, int64_t count, int64_t b)
{
    return cellar_kernel_mean(k, count) / (long double) (b + 1);
}

static void poisson_p_balls(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                            int64_t bits, arb_ptr out)
{
    fmpq_t mean;
    fmpq_init(mean);
    cellar_kernel_mean_rational(k, count, mean);
    cellar_poisson_balls(mean, first, n, bits, out);
    fmpq_clear(mean);
}

/* P(b + 1) = mean P(b) / (b + 1) */
static cellar_status poisson_run(const cellar_kernel *k, int64_t count, int64_t first,
                                 cellar_run *out, cellar_error *err)
{
    arb_t t;
    (void) err;
    arb_init(t);
    out->kind = CELLAR_RUN_SIMPLE;
    cellar_kernel_mean_ball(k, count, CELLAR_KERNEL_RUN_BITS, t);
    cellar_run_set(out, &out->constant, t);
    poisson_p_balls(k, count, first, 1, CELLAR_KERNEL_RUN_BITS, t);
    cellar_run_start(out, first, t, 1);
    arb_clear(t);
    return CELLAR_OK;
}

static void poisson_mean_variance(const cellar_kernel *k, int64_t count, double *mean,
                                  double *variance)
{
    *mean = *variance = (double) cellar_kernel_mean(k, count);
}

static const cellar_count_law poisson_law = {
    .log_p = poisson_log_p,
    .p_balls = poisson_p_balls,
    .ratios = poisson_ratios,
    .run = poisson_run,
    .run_anywhere = 1,
    .ratio_bound = poisson_ratio_bound,
    .mean_variance = poisson_mean_variance,
};

static cellar_status poisson_init(cellar_mechanism *m, cellar_error *err)
{
    return cellar_kernel_init(m, &poisson_law, err);
}

/* Nothing but zero comes of mean zero. */
static void poisson_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                            int64_t *high)
{
    if (cellar_kernel_mean((const cellar_kernel *) m, count) > 0)
        cellar_kernel_support(m, count, tail, low, high);
    else
        *low = *high = 0;
}

static void poisson_moments(const cellar_mechanism *m, int64_t count, cellar_moments *out)
{
    if (cellar_kernel_mean((const cellar_kernel *) m, count) > 0)
        cellar_kernel_moments(m, count, out);
    else
        out->mean = out->variance = out->entropy = 0;
}

#define POISSON_SLOTS                                                                              \
    .size = sizeof(cellar_kernel), .clear = cellar_kernel_clear, CELLAR_KERNEL_SLOTS_BASIC,        \
    .support = poisson_support, .cdf = cellar_kernel_cdf, .survival = cellar_kernel_survival,      \
    .moments = poisson_moments, .mean_variance = cellar_kernel_mean_variance,                      \
    .survival_ball = cellar_kernel_survival_ball, .law_row = cellar_kernel_law_row

static const cellar_parameter_rule poisson_parameters[] = {
    {.name = "alpha", .required = 1, .at_least = "0", .at_most = "1000000"},
    {0},
};

const cellar_mechanism_ops cellar_poisson_ops = {
    .name = "poisson",
    .revision = 1,
    .summary = "Poisson of mean count + alpha",
    .parameters = poisson_parameters,
    .init = poisson_init,
    .facts = &cellar_poisson_facts,
    POISSON_SLOTS,
};

/* ---- alpha for zeros only ----------------------------------------------------------- */

static cellar_status poisson_zeros_init(cellar_mechanism *m, cellar_error *err)
{
    ((cellar_kernel *) m)->alpha_for_zeros = 1;
    return cellar_kernel_init(m, &poisson_law, err);
}

/* With an alpha above 1 an empty cell would have a larger mean than a cell of one. */
static const cellar_parameter_rule poisson_zeros_parameters[] = {
    {.name = "alpha", .required = 1, .above = "0", .at_most = "1"},
    {0},
};

const cellar_mechanism_ops cellar_poisson_zeros_ops = {
    .name = "poisson-zeros",
    .revision = 1,
    .summary = "Poisson of count, of alpha for zeros",
    .parameters = poisson_zeros_parameters,
    .init = poisson_zeros_init,
    .facts = &cellar_poisson_zeros_facts,
    POISSON_SLOTS,
};
