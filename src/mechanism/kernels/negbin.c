/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The negative binomial distribution NBI of mean mu = count + alpha and variance mu + sigma mu^2: a
 * Poisson count whose mean is gamma distributed. With size r = 1/sigma and q = sigma mu / (1 +
 * sigma mu), P(b) = Gamma(b + r) / (Gamma(r) b!) q^b (1-q)^r. */
#include <math.h>

#include "math/flint.h"
#include "math/special.h"
#include "mechanism/kernels/count_balls.h"
#include "mechanism/kernels/kernel.h"
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

/* c_j, j = 1, 2, ..., of F = 1/(1 + c_1/(1 + c_2/(1 + ...))) = 2F1(1 - r, 1; b + 1; -x), Gauss's
 * continued fraction: x (m + 1 - r)(b + m) / ((b + 2m)(b + 2m + 1)) for j = 2m + 1, and
 * x m (b + m - 1 + r) / ((b + 2m - 1)(b + 2m)) for j = 2m. */
static void fraction_part(const arb_t x, const arb_t r, int64_t b, int64_t j, int64_t bits,
                          arb_t out)
{
    const int64_t m = j / 2;
    if (j % 2 == 1) {
        arb_sub_si(out, r, m + 1, bits);
        arb_neg(out, out);
        arb_mul_si(out, out, b + m, bits);
    } else {
        arb_add_si(out, r, b + m - 1, bits);
        arb_mul_si(out, out, m, bits);
    }
    arb_mul(out, out, x, bits);
    arb_div_si(out, out, b + j - 1, bits);
    arb_div_si(out, out, b + j, bits);
}

/* That F: from j > 2r + 1 on all parts are positive, and the values of the fraction when it is cut
 * off lie on its two sides in turn. 0 where it takes too many of them. */
static int negbin_fraction(const arb_t x, const arb_t r, int64_t b, int64_t bits, arb_t out)
{
    enum { PARTS_MAX = 400, LOOK = 8 };
    const double positive = 2 * arf_get_d(arb_midref(r), ARF_RND_UP) + 2;
    const int64_t work = bits + 32;
    arb_t c, value;
    arb_struct top[2], bottom[2]; /* of the last two */
    int found = 0;
    arb_init(c);
    arb_init(value);
    for (int i = 0; i < 2; i++) {
        arb_init(top + i);
        arb_init(bottom + i);
    }
    arb_one(top + 1);
    arb_one(bottom);
    arb_one(bottom + 1);
    for (int64_t j = 1; j <= PARTS_MAX && !found; j++) {
        fraction_part(x, r, b, j, work, c);
        arb_mul(top, top, c, work); /* what is new is the last and c times the one before */
        arb_add(top, top, top + 1, work);
        arb_swap(top, top + 1);
        arb_mul(bottom, bottom, c, work);
        arb_add(bottom, bottom, bottom + 1, work);
        arb_swap(bottom, bottom + 1);
        if (j % LOOK != 0 || (double) j < positive)
            continue;
        arb_div(out, top, bottom, work);
        arb_div(value, top + 1, bottom + 1, work);
        arb_union(out, out, value, work);
        found = arb_rel_accuracy_bits(out) >= bits;
    }
    for (int i = 0; i < 2; i++) {
        arb_clear(top + i);
        arb_clear(bottom + i);
    }
    arb_clear(value);
    arb_clear(c);
    return found;
}

/* The ratios of successive terms from P(b) on are those of 2F1(b + r, 1; b + 1; q), q = x/(1 + x),
 * x = sigma mu, which is (1 + x) 2F1(1 - r, 1; b + 1; -x) (Pfaff). */
static void negbin_upper_ball(const cellar_kernel *k, int64_t count, int64_t b, int64_t bits,
                              arb_t out)
{
    const int64_t work = bits + 96;
    const double far = 5; /* where the fraction is the quicker one */
    arb_t r, one, next, x;
    arb_init(r);
    arb_init(one);
    arb_init(next);
    arb_init(x);
    arb_set_fmpq(r, cellar_kernel_parameter(k, "sigma")->value, work);
    cellar_kernel_mean_ball(k, count, work, x);
    arb_mul(x, x, r, work);
    arb_add_ui(one, x, 1, work);
    arb_inv(r, r, work);
    if ((double) b > far * arf_get_d(arb_midref(x), ARF_RND_NEAR) &&
        negbin_fraction(x, r, b, bits + 8, next)) {
        arb_mul(next, next, one, work);
    } else {
        arb_div(x, x, one, work);
        arb_add_si(r, r, b, work);
        arb_one(one);
        arb_set_si(next, b);
        arb_add_ui(next, next, 1, work);
        arb_hypgeom_2f1(next, r, one, next, x, 0, work);
    }
    negbin_p_balls(k, count, b, 1, bits, out);
    arb_mul(out, out, next, bits);
    arb_clear(r);
    arb_clear(one);
    arb_clear(next);
    arb_clear(x);
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
