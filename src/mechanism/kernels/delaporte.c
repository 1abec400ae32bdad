/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Delaporte distribution of mean mu = count + alpha: Poisson(lambda) + NBI of mean mu (1 - nu),
 * with lambda = mu nu and variance mu + sigma mu^2 (1 - nu)^2. Write r = 1/sigma and beta = sigma
 * mu (1 - nu). From the generating function e^{lambda(z-1)} (1 - beta(z-1))^{-r},
 *
 *   (1+beta)(b+1) P(b+1) = (beta b + lambda(1+beta) + r beta) P(b) - lambda beta P(b-1).
 *
 * For s_b = P(b+1)/P(b) this damps errors, as lambda < (b+1) s_b s_{b-1} (1+beta)/beta. */
#include <math.h>

#include "math/special.h"
#include "math/work.h"
#include "mechanism/kernels/delaporte_balls.h"
#include "mechanism/registry.h"

/* Larger counts are drawn by their two components. A table would do as well, but would draw other
 * values from the same random bits. */
enum { PARTS_FROM = (1 << 21) + 1 };

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

/* ---- the distribution in long doubles ------------------------------------------------ */

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
    int64_t last = start;
    growth *= t->r < 1 ? 1 / t->r : 1;
    for (int64_t j = start; up ? j < b : j > 0; j += up ? 1 : -1) {
        long double ratio = term_ratio(t, b, up ? j : j - 1, up);
        last = j;
        term *= ratio;
        sum += term;
        if (ratio < 1 && term * growth < 1e-20L * (1 + sum))
            break;
    }
    cellar_work_add((double) (last > start ? last - start : start - last) / 2);
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

/* For r >= 1: no less than the ratio at b, which falls with b, for both parts and so their sum are
 * log-concave. P(b + 1) / P(b) = (lambda + q (r + E[N | b])) / (b + 1), N the negative binomial
 * part, is at most (lambda + q (r + b)) / (b + 1). The recurrence takes such a bound from one value
 * to the next, and closer to the ratio. */
static long double bound_of_ratio(const delaporte_terms *t, int64_t b)
{
    enum { STEPS_MAX = 1 << 14 };
    const long double q = t->beta / (1 + t->beta), one = t->lambda * (1 + t->beta) + t->r * t->beta;
    const long double wanted = 64 / (1 - q * t->lambda / (t->lambda + t->r * t->beta));
    const int64_t steps = wanted < STEPS_MAX ? (int64_t) wanted : STEPS_MAX;
    int64_t c = b > steps ? b - steps : 0;
    long double bound = (t->lambda + q * (t->r + (long double) c)) / (long double) (c + 1);
    while (c < b) {
        c++;
        bound = (t->beta * (long double) c + one - t->lambda * t->beta / bound) /
                ((1 + t->beta) * (long double) (c + 1));
    }
    return bound;
}

/* For r < 1 the ratio of the NBI part stays below q = beta/(1+beta), so P(b+1) <= q P(b) +
 * P(Poisson = b+1) P(NBI = 0); the quotient of the last by P(b) falls, as (b+1) P(b+1)/P(b), the
 * mean of a mixed Poisson distribution's mean given b, is at least lambda. */
static long double delaporte_ratio_bound(const cellar_kernel *k, int64_t count, int64_t b)
{
    delaporte_terms t = terms_of(k, count);
    long double ratio, log_last;
    if (t.r >= 1)
        return bound_of_ratio(&t, b) * (1 + 1e-12L);
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

/* ---- its two parts, for wide distributions ------------------------------------------- */

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
    .p_balls = cellar_delaporte_p_balls,
    .ratios = delaporte_ratios,
    .run = cellar_delaporte_run,
    .run_from_zero = 1024,
    .run_anywhere = 1,
    .ratio_bound = delaporte_ratio_bound,
    .mean_variance = delaporte_mean_variance,
    .part_balls = cellar_delaporte_part_balls,
    .parts_from = PARTS_FROM,
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
