/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Delaporte law of mean mu = count + alpha: Poisson(lambda) + NBI of mean mu (1 - nu), with
 * lambda = mu nu and variance mu + sigma mu^2 (1 - nu)^2. Write r = 1/sigma and
 * beta = sigma mu (1 - nu). From the generating function e^{lambda(z-1)} (1 - beta(z-1))^{-r},
 *
 *   (1+beta)(b+1) P(b+1) = (beta b + lambda(1+beta) + r beta) P(b) - lambda beta P(b-1).
 *
 * For s_b = P(b+1)/P(b) this damps errors, as lambda < (b+1) s_b s_{b-1} (1+beta)/beta. */
#include <math.h>

#include "math/special.h"
#include "mechanism/kernels/count_balls.h"
#include "mechanism/kernels/kernel.h"
#include "mechanism/registry.h"

enum { RUN_MAX = 1 << 21 }; /* larger counts would take too many steps from 0 */

typedef struct delaporte {
    cellar_kernel kernel;
    long double sigma, nu;
} delaporte;

typedef struct delaporte_terms {
    long double lambda, beta, r;
    long double all; /* lambda (1+beta)/beta */
} delaporte_terms;

static delaporte_terms terms_of(const cellar_kernel *k, int64_t count)
{
    const delaporte *d = (const delaporte *) k;
    long double mu = cellar_kernel_mean(k, count), beta = d->sigma * mu * (1 - d->nu);
    return (delaporte_terms){mu * d->nu, beta, 1 / d->sigma, mu * d->nu * (1 + beta) / beta};
}

/* ---- the law in long doubles ------------------------------------------------ */

/* P(b) = sum_j T_j, T_j = P(Poisson = j) P(NBI = b - j). T_{j+1}/T_j or its inverse, m = b - j, by
 * one division, which takes longer than all the rest: */
static long double term_ratio(const delaporte_terms *t, int64_t b, int64_t j, int up)
{
    long double m = (long double) (b - j), over = t->all * m;
    long double under = (long double) (j + 1) * (m - 1 + t->r);
    return up ? over / under : under / over;
}

/* The largest term when sizes r >= 1 (the terms are then log-concave), and near it otherwise. */
static int64_t term_peak(const delaporte_terms *t, int64_t b)
{
    int64_t low = 0, high = b;
    if (t->r < 1)
        return t->all < (long double) b ? (int64_t) t->all : b;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (term_ratio(t, b, middle, 1) >= 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* sum of T_j / T_start from `start` outwards, start itself not included. Later terms may grow again
 * for r < 1, by a factor of at most (b+1)/r in all. */
static long double sum_side(const delaporte_terms *t, int64_t b, int64_t start, int up)
{
    long double term = 1, sum = 0, growth = ((long double) b + 1) * ((long double) b + 1);
    growth *= t->r < 1 ? 1 / t->r : 1;
    for (int64_t j = start; up ? j < b : j > 0; j += up ? 1 : -1) {
        long double ratio = term_ratio(t, b, up ? j : j - 1, up);
        term *= ratio;
        sum += term;
        if (ratio < 1 && term * growth < 1e-20L * (1 + sum))
            break;
    }
    return sum;
}

static long double delaporte_log_p(const cellar_kernel *k, int64_t count, int64_t b)
{
    delaporte_terms t = terms_of(k, count);
    int64_t j = term_peak(&t, b);
    long double sum = 1 + sum_side(&t, b, j, 1) + sum_side(&t, b, j, 0);
    return cellar_log_poisson(j, t.lambda) + cellar_log_negbin(b - j, t.r * t.beta, t.r) +
           logl(sum);
}

static void delaporte_ratios(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                             long double *out)
{
    delaporte_terms t = terms_of(k, count);
    long double one = t.lambda * (1 + t.beta) + t.r * t.beta, ratio;
    if (first == 0)
        ratio = one / (1 + t.beta);
    else
        ratio = expl(delaporte_log_p(k, count, first + 1) - delaporte_log_p(k, count, first));
    for (size_t i = 0; i < n; i++) {
        long double b = (long double) (first + (int64_t) i);
        if (i > 0)
            ratio = (t.beta * b + one - t.lambda * t.beta / ratio) / ((1 + t.beta) * (b + 1));
        out[i] = ratio;
    }
}

/* For r >= 1 both parts are log-concave, so their sum is, and the ratio falls. For r < 1 the ratio
 * of the NBI part stays below q = beta/(1+beta), so P(b+1) <= q P(b) + P(Poisson = b+1) P(NBI = 0);
 * the quotient of the last by P(b) falls, as (b+1) P(b+1)/P(b), the mean of a mixed Poisson law's
 * mean given b, is at least lambda. */
static long double delaporte_ratio_bound(const cellar_kernel *k, int64_t count, int64_t b)
{
    delaporte_terms t = terms_of(k, count);
    long double ratio, log_last;
    if (t.r >= 1) {
        delaporte_ratios(k, count, b, 1, &ratio);
        return ratio * (1 + 1e-12L);
    }
    log_last = cellar_log_poisson(b + 1, t.lambda) + cellar_log_negbin(0, t.r * t.beta, t.r);
    ratio = t.beta / (1 + t.beta) + expl(log_last - delaporte_log_p(k, count, b));
    return ratio * (1 + 1e-12L);
}

static void delaporte_mean_variance(const cellar_kernel *k, int64_t count, double *mean,
                                    double *variance)
{
    delaporte_terms t = terms_of(k, count);
    long double mu = cellar_kernel_mean(k, count);
    *mean = (double) mu;
    *variance = (double) (mu + t.r * t.beta * t.beta);
}

/* ---- the law in balls -------------------------------------------------------- */

typedef struct delaporte_balls {
    arb_t lambda, beta, r, one, cross; /* lambda(1+beta) + r beta, lambda beta */
} delaporte_balls;

static void balls_init(delaporte_balls *d, const cellar_kernel *k, int64_t count, int64_t bits)
{
    arb_ptr all[] = {d->lambda, d->beta, d->r, d->one, d->cross};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_init(all[i]);
    arb_set_fmpq(d->lambda, cellar_kernel_parameter(k, "nu")->value, bits);
    arb_set_fmpq(d->beta, cellar_kernel_parameter(k, "sigma")->value, bits);
    arb_inv(d->r, d->beta, bits);
    cellar_kernel_mean_ball(k, count, bits, d->one);
    arb_mul(d->lambda, d->lambda, d->one, bits);
    arb_sub(d->one, d->one, d->lambda, bits); /* mu (1 - nu) = r beta */
    arb_mul(d->beta, d->beta, d->one, bits);
    arb_mul(d->cross, d->lambda, d->beta, bits);
    arb_add(d->one, d->one, d->lambda, bits);
    arb_add(d->one, d->one, d->cross, bits);
}

static void balls_clear(delaporte_balls *d)
{
    arb_ptr all[] = {d->lambda, d->beta, d->r, d->one, d->cross};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_clear(all[i]);
}

/* P(0) = e^{-lambda} (1+beta)^{-r} */
static void balls_zero(const delaporte_balls *d, int64_t bits, arb_t out)
{
    arb_add_ui(out, d->beta, 1, bits);
    arb_log(out, out, bits);
    arb_mul(out, out, d->r, bits);
    arb_add(out, out, d->lambda, bits);
    arb_neg(out, out);
    arb_exp(out, out, bits);
}

/* From P(0) up by the ratios: `step` is s_{b-1} on entry (if b > 0) and s_b on return. */
static void balls_step(const delaporte_balls *d, int64_t b, int64_t bits, arb_t step, arb_t spare)
{
    arb_mul_si(spare, d->beta, b, bits);
    arb_add(spare, spare, d->one, bits);
    if (b > 0) {
        arb_div(step, d->cross, step, bits);
        arb_sub(spare, spare, step, bits);
    }
    arb_add_ui(step, d->beta, 1, bits);
    arb_mul_si(step, step, b + 1, bits);
    arb_div(step, spare, step, bits);
}

static void delaporte_p_balls(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                              int64_t bits, arb_ptr out)
{
    delaporte_balls d;
    arb_t p, step, spare;
    int64_t work = bits + 64;

    balls_init(&d, k, count, work + 64);
    arb_init(p);
    arb_init(step);
    arb_init(spare);
    balls_zero(&d, work + 64, p);
    for (int64_t b = 0; b < first + (int64_t) n; b++) {
        if (b >= first)
            arb_set_round(out + (b - first), p, bits + 16);
        balls_step(&d, b, work, step, spare);
        arb_mul(p, p, step, work);
    }
    arb_clear(spare);
    arb_clear(step);
    arb_clear(p);
    balls_clear(&d);
}

/* With q = beta/(1+beta), the logarithm of the generating function has the derivative
 * lambda + r q / (1 - q z), so (b+1) P(b+1) = lambda P(b) + S(b), S(b) = r q P(b) + q S(b-1). */
static cellar_status delaporte_run(const cellar_kernel *k, int64_t count, int64_t first,
                                   cellar_run *out, cellar_error *err)
{
    int64_t bits = (int64_t) 2 * CELLAR_KERNEL_RUN_BITS; /* 1 - nu may cancel */
    delaporte_balls d;
    arb_t t;
    (void) err;
    if (first > 0) {
        out->error = INFINITY; /* S is not known there */
        return CELLAR_OK;
    }
    arb_init(t);
    balls_init(&d, k, count, bits);
    out->kind = CELLAR_RUN_FADING;
    cellar_run_set(out, &out->constant, d.lambda);
    arb_add_ui(t, d.beta, 1, bits);
    arb_div(t, d.beta, t, bits);
    cellar_run_set(out, &out->fade, t);
    arb_mul(t, t, d.r, bits);
    cellar_run_set(out, &out->feed, t);
    delaporte_p_balls(k, count, first, 1, bits, t);
    cellar_run_start(out, first, t, 1);
    balls_clear(&d);
    arb_clear(t);
    return CELLAR_OK;
}

/* ---- its two parts, for wide laws ------------------------------------------- */

static void delaporte_part_balls(const cellar_kernel *k, int64_t count, int part, int64_t first,
                                 size_t n, int64_t bits, arb_ptr out)
{
    fmpq_t mean, share;
    fmpq_init(mean);
    fmpq_init(share);
    cellar_kernel_mean_rational(k, count, mean);
    fmpq_mul(share, mean, cellar_kernel_parameter(k, "nu")->value);
    fmpq_sub(mean, mean, share);
    if (part == 0)
        cellar_poisson_balls(share, first, n, bits, out);
    else
        cellar_negbin_balls(mean, cellar_kernel_parameter(k, "sigma")->value, first, n, bits, out);
    fmpq_clear(share);
    fmpq_clear(mean);
}

/* lambda/(b+1), and q (b+r)/(b+1), which tends to q. */
static long double delaporte_part_ratio_bound(const cellar_kernel *k, int64_t count, int part,
                                              int64_t b)
{
    delaporte_terms t = terms_of(k, count);
    long double next = (long double) b + 1, q = t.beta / (1 + t.beta);
    return part == 0 ? t.lambda / next : q * fmaxl(1, (next - 1 + t.r) / next);
}

/* ---- the mechanism ----------------------------------------------------------- */

static const cellar_count_law delaporte_law = {
    .log_p = delaporte_log_p,
    .p_balls = delaporte_p_balls,
    .ratios = delaporte_ratios,
    .run = delaporte_run,
    .run_from_zero = RUN_MAX,
    .ratio_bound = delaporte_ratio_bound,
    .mean_variance = delaporte_mean_variance,
    .part_balls = delaporte_part_balls, /* a ball of the whole takes as many steps as b */
    .part_ratio_bound = delaporte_part_ratio_bound,
};

static cellar_status delaporte_init(cellar_mechanism *m, cellar_error *err)
{
    delaporte *d = (delaporte *) m;
    const cellar_kernel *k = &d->kernel;
    d->sigma = cellar_long_double_of_rational(cellar_kernel_parameter(k, "sigma")->value);
    d->nu = cellar_long_double_of_rational(cellar_kernel_parameter(k, "nu")->value);
    return cellar_kernel_init(m, &delaporte_law, err);
}

static const cellar_parameter_rule delaporte_parameters[] = {
    {.name = "alpha", .required = 1, .above = "0", .at_most = "1000000"},
    {.name = "sigma", .required = 1, .at_least = "0.0001", .at_most = "100"},
    {.name = "nu", .required = 1, .above = "0", .below = "1"},
    {0},
};

const cellar_mechanism_ops cellar_delaporte_ops = {
    .name = "delaporte",
    .revision = 1,
    .summary = "Poisson plus negative binomial",
    .size = sizeof(delaporte),
    .parameters = delaporte_parameters,
    .init = delaporte_init,
    .clear = cellar_kernel_clear,
    .facts = &cellar_delaporte_facts,
    CELLAR_KERNEL_SLOTS,
};
