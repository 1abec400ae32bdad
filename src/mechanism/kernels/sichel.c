/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With mu = count + alpha, g = K_{nu+1}(1/sigma) / K_nu(1/sigma), c^2 = 1/sigma^2 + 2 mu/(g sigma):
 *
 *   P(b) = (mu/g)^b K_{b+nu}(c) / ((c sigma)^{b+nu} b! K_nu(1/sigma))
 *
 * (H. S. Sichel 1971; the parameters of Rigby, Stasinopoulos and Akantziliotou 2008). Runs of
 * probabilities use R_{v+1} = 2(v+1)/c + 1/R_v for R_v = K_{v+1}(c)/K_v(c), all of whose terms are
 * positive once v > -1. */
#include "mechanism/kernels/sichel.h"

#include <math.h>

#include "math/special.h"
#include "mechanism/registry.h"
#include "mechanism/kernels/sichel_balls.h"

static const long double LOG_HALF_PI = 0.4515827052894548647261952298948821436L;
static const long double LOG_2PI = 1.837877066409345483560659472811235279L;

enum { SETTLE = 16 };

static const cellar_sichel *sichel_of(const cellar_kernel *k)
{
    return (const cellar_sichel *) k;
}

/* ---- the distribution in long doubles ------------------------------------------------ */

static long double sichel_c(const cellar_sichel *s, long double mu)
{
    return sqrtl(1 / s->sigma + 2 * mu / s->g) / sqrtl(s->sigma);
}

/* c - 1/sigma */
static long double sichel_c_beyond(const cellar_sichel *s, long double mu, long double c)
{
    return 2 * mu / (s->g * s->sigma) / (c + 1 / s->sigma);
}

/* Straight from the definition: for b = 0, and for small b and c, where no term is large. */
static long double log_p_direct(const cellar_sichel *s, long double mu, int64_t b)
{
    long double c = sichel_c(s, mu), x = (long double) b, log_cs = logl(c * s->sigma);
    int sign;
    return x * (logl(mu / s->g) - log_cs) - s->nu * log_cs - lgammal_r(x + 1, &sign) +
           cellar_log_bessel_k_scaled(x + s->nu, c) - s->log_k_scaled - sichel_c_beyond(s, mu, c);
}

/* By Debye's expansion of K_v(c), v = b + nu >= 0, w^2 = v^2 + c^2, and Stirling's of b!, with what
 * cancels taken out by hand: the powers of b, and w - 1/sigma. */
static long double log_p_large(const cellar_sichel *s, long double mu, int64_t b)
{
    long double x = (long double) b, v = x + s->nu, c = sichel_c(s, mu);
    long double w = sqrtl(v * v + c * c), inverse = 1 / s->sigma, g = s->g, nu = s->nu;
    long double w_less_b = (2 * x * nu + nu * nu + c * c) / (w + x);
    long double power = log1pl((mu * (w_less_b + nu) - g * x * inverse) /
                               ((g * inverse + 2 * mu) * x)); /* mu (v + w) / (g c^2 sigma b) */
    long double linear = inverse - w_less_b;                  /* b - (w - 1/sigma) */
    return x * power + linear + (LOG_HALF_PI - logl(w) - LOG_2PI - logl(x)) / 2 -
           cellar_stirling_error(x) + nu * (logl((v + w) / c) - logl(c * s->sigma)) -
           s->log_k_scaled + cellar_log_debye_series(v, w);
}

static long double sichel_log_p(const cellar_kernel *k, int64_t count, int64_t b)
{
    const cellar_sichel *s = sichel_of(k);
    long double mu = cellar_kernel_mean(k, count), v = (long double) b + s->nu;
    long double c = sichel_c(s, mu);
    if (b == 0 || v < 0 || v * v + c * c < CELLAR_DEBYE_FROM * CELLAR_DEBYE_FROM)
        return log_p_direct(s, mu, b);
    return log_p_large(s, mu, b);
}

/* P(b+1)/P(b) = (mu/g)/(c sigma) R_{b+nu}(c) / (b+1). */
static void sichel_ratios(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                          long double *out)
{
    const cellar_sichel *s = sichel_of(k);
    long double mu = cellar_kernel_mean(k, count), c = sichel_c(s, mu);
    long double factor = mu / (s->g * c * s->sigma);
    long double v = (long double) first + s->nu, ratio;
    /* a ratio from two logarithms has lost digits; each step of the recurrence brings some back */
    int n_before = v > 2 * SETTLE ? SETTLE : 0;

    ratio = cellar_bessel_k_ratio(v - n_before, c);
    for (int i = n_before - 1; i >= 0; i--)
        ratio = 2 * (v - i) / c + 1 / ratio;
    for (size_t i = 0; i < n; i++) {
        out[i] = factor * ratio / (long double) (first + (int64_t) i + 1);
        v += 1;
        ratio = v > 0 ? 2 * v / c + 1 / ratio : cellar_bessel_k_ratio(v, c);
    }
}

/* K_v is log-convex in v, so R_v >= R_{v-1}, whence R_v >= (v + sqrt(v^2 + c^2))/c by the
 * recurrence, whence by the recurrence again R_v <= (v + 1 + sqrt((v-1)^2 + c^2))/c. So
 * P(b+1)/P(b) <= mu/(g c^2 sigma) (1 + nu u + |(1 + (nu-2) u, c u)|) at u = 1/(b+1), a convex
 * function of u: beyond b it is at most what it is at b or at infinity. */
static void sichel_ratio_curve(const cellar_kernel *k, int64_t count, int64_t b, long double *here,
                               long double *limit)
{
    const cellar_sichel *s = sichel_of(k);
    long double mu = cellar_kernel_mean(k, count), c = sichel_c(s, mu);
    long double factor = mu / (s->g / s->sigma + 2 * mu), u = 1 / ((long double) b + 1);
    *here = factor * (1 + s->nu * u + hypotl(1 + (s->nu - 2) * u, c * u));
    *limit = 2 * factor;
}

static long double sichel_ratio_bound(const cellar_kernel *k, int64_t count, int64_t b)
{
    long double here, limit;
    sichel_ratio_curve(k, count, b, &here, &limit);
    return fmaxl(here, limit);
}

static void sichel_mean_variance(const cellar_kernel *k, int64_t count, double *mean,
                                 double *variance)
{
    const cellar_sichel *s = sichel_of(k);
    long double mu = cellar_kernel_mean(k, count), g = s->g;
    *mean = (double) mu;
    *variance = (double) (mu + mu * mu * (2 * s->sigma * (s->nu + 1) / g + 1 / (g * g) - 1));
}

static const cellar_count_law sichel_law = {
    .log_p = sichel_log_p,
    .p_balls = cellar_sichel_p_balls,
    .ratios = sichel_ratios,
    .run = cellar_sichel_run,
    .run_anywhere = 1,
    .run_from_zero = 1 << 16, /* where K is quick */
    .ratio_bound = sichel_ratio_bound,
    .ratio_curve = sichel_ratio_curve,
    .mean_variance = sichel_mean_variance,
};

/* ---- life cycle -------------------------------------------------------------- */

cellar_status cellar_sichel_init(cellar_mechanism *m, const fmpq_t nu, cellar_error *err)
{
    cellar_sichel *s = (cellar_sichel *) m;
    arb_t log_k;

    fmpq_init(s->order);
    fmpq_set(s->order, nu);
    s->nu = cellar_long_double_of_rational(nu);
    s->sigma = cellar_long_double_of_rational(cellar_kernel_parameter(&s->kernel, "sigma")->value);
    arb_init(s->k_ball);
    arb_init(s->g_ball);
    s->bits = cellar_sichel_bits(s);
    cellar_sichel_constants(s, s->bits, s->k_ball, s->g_ball);
    s->g = cellar_long_double_of_ball(s->g_ball);
    arb_init(log_k);
    arb_log(log_k, s->k_ball, 128);
    s->log_k_scaled = cellar_long_double_of_ball(log_k);
    arb_clear(log_k);
    return cellar_kernel_init(m, &sichel_law, err);
}

void cellar_sichel_clear(cellar_mechanism *m)
{
    cellar_sichel *s = (cellar_sichel *) m;
    fmpq_clear(s->order);
    arb_clear(s->k_ball);
    arb_clear(s->g_ball);
    cellar_kernel_clear(m);
}

static cellar_status sichel_init(cellar_mechanism *m, cellar_error *err)
{
    return cellar_sichel_init(m, cellar_kernel_parameter((const cellar_kernel *) m, "nu")->value,
                              err);
}

static const cellar_parameter_rule sichel_parameters[] = {
    {.name = "alpha", .required = 1, .above = "0", .at_most = "1000000"},
    {.name = "sigma", .required = 1, .at_least = "0.0001", .at_most = "100"},
    {.name = "nu", .required = 1, .at_least = "-20", .at_most = "20"},
    {0},
};

const cellar_mechanism_ops cellar_sichel_ops = {
    .name = "sichel",
    .revision = 1,
    .summary = "Sichel: Poisson of a mixed mean",
    .size = sizeof(cellar_sichel),
    .parameters = sichel_parameters,
    .init = sichel_init,
    .clear = cellar_sichel_clear,
    .facts = &cellar_sichel_facts,
    CELLAR_KERNEL_SLOTS,
};
