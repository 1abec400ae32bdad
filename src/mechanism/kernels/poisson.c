/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Poisson(count + alpha): fully synthetic counts. */
#include "math/special.h"
#include "mechanism/kernels/count_balls.h"
#include "mechanism/kernels/kernel.h"
#include "mechanism/registry.h"

static long double poisson_log_p(const cellar_kernel *k, int64_t count, int64_t b)
{
    return cellar_log_poisson(b, cellar_kernel_mean(k, count));
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

static const cellar_parameter_rule poisson_parameters[] = {
    {.name = "alpha", .required = 1, .above = "0", .at_most = "1000000"},
    {0},
};

const cellar_mechanism_ops cellar_poisson_ops = {
    .name = "poisson",
    .revision = 1,
    .summary = "Poisson of mean count + alpha",
    .size = sizeof(cellar_kernel),
    .parameters = poisson_parameters,
    .init = poisson_init,
    .clear = cellar_kernel_clear,
    .facts = &cellar_poisson_facts,
    CELLAR_KERNEL_SLOTS,
};
