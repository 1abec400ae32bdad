/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/special.h"

#include <math.h>

static const long double LOG_2PI = 1.837877066409345483560659472811235279L;
static const long double LOG_HALF_PI = 0.4515827052894548647261952298948821436L;

long double cellar_long_double_of_ball(const arb_t ball)
{
    arf_t rest;
    double high = arf_get_d(arb_midref(ball), ARF_RND_NEAR), low = 0;
    if (isfinite(high)) {
        arf_init(rest);
        arf_set_d(rest, high);
        arf_sub(rest, arb_midref(ball), rest, 64, ARF_RND_NEAR);
        low = arf_get_d(rest, ARF_RND_NEAR);
        arf_clear(rest);
    }
    return (long double) high + (long double) low;
}

long double cellar_long_double_of_rational(const fmpq_t value)
{
    arb_t ball;
    long double nearest;
    arb_init(ball);
    arb_set_fmpq(ball, value, 128);
    nearest = cellar_long_double_of_ball(ball);
    arb_clear(ball);
    return nearest;
}

/* ---- gamma functions ------------------------------------------------------- */

long double cellar_stirling_error(long double x)
{
    /* B_2k / (2k (2k-1)); the first left out is below 1e-24 at x = 20 */
    static const long double c[] = {
        1.0L / 12,        -1.0L / 360, 1.0L / 1260,       -1.0L / 1680,      1.0L / 1188,
        -691.0L / 360360, 1.0L / 156,  -3617.0L / 122400, 43867.0L / 244188, -174611.0L / 125400,
    };
    long double y = 1 / (x * x), sum = 0;
    int sign;
    if (x < 20)
        return lgammal_r(x + 1, &sign) - (x + 0.5L) * logl(x) + x - LOG_2PI / 2;
    for (int i = (int) (sizeof c / sizeof *c) - 1; i >= 0; i--)
        sum = sum * y + c[i];
    return sum / x;
}

long double cellar_deviance(long double x, long double mean)
{
    long double d = x - mean, v, sum, term, next;
    if (x == 0)
        return mean;
    if (fabsl(d) >= 0.1L * (x + mean))
        return x * logl(x / mean) - d;
    v = d / (x + mean);
    sum = d * v;
    term = 2 * x * v;
    for (int j = 1; j < 1000; j++) {
        term *= v * v;
        next = sum + term / (2 * j + 1);
        if (next == sum)
            break;
        sum = next;
    }
    return sum;
}

long double cellar_log_poisson(int64_t value, long double mean)
{
    long double x = (long double) value;
    if (value == 0)
        return -mean;
    return -cellar_stirling_error(x) - cellar_deviance(x, mean) - (LOG_2PI + logl(x)) / 2;
}

/* Loader's form: P(value) = size/(value+size) times a binomial probability of `size` successes. */
long double cellar_log_negbin(int64_t value, long double mean, long double size)
{
    long double x = (long double) value, n = x + size, p = size / (size + mean);
    if (value == 0)
        return -size * log1pl(mean / size);
    return cellar_stirling_error(n) - cellar_stirling_error(size) - cellar_stirling_error(x) -
           cellar_deviance(size, n * p) - cellar_deviance(x, n * (mean / (size + mean))) +
           (logl(size / n / x) - LOG_2PI) / 2;
}

/* ---- Bessel functions of the third kind ------------------------------------ */

/* sum_k (-1)^k U_k(t) / order^k with t = order/w (DLMF 10.41.4). As U_k(t) = t^k V_k(t^2), the
 * terms are (-1)^k V_k(t^2) / w^k, which includes order 0. The polynomials are made on the way. */
enum { DEBYE_TERMS = 16 };

long double cellar_log_debye_series(long double order, long double w)
{
    /* v[j]: coefficient of t^(k+2j) in U_k. From U_{k+1} = t^2(1-t^2)/2 U_k' + 1/8 int (1-5s^2)
     * U_k: t^m gives (m/2 + 1/(8(m+1))) t^(m+1) - (m/2 + 5/(8(m+3))) t^(m+3). */
    long double v[DEBYE_TERMS + 1] = {1}, s = order / w, s2 = s * s, sum = 0, power = 1;
    for (int k = 0; k < DEBYE_TERMS; k++) {
        long double term = 0;
        for (int j = k; j >= 0; j--)
            term = term * s2 + v[j];
        term *= power;
        sum += term;
        if (k > 0 && fabsl(term) < 1e-22L)
            break;
        for (int j = k + 1; j >= 0; j--) {
            long double m = k + 2 * j, below = k + 2 * (j - 1);
            v[j] = (j <= k ? v[j] * (m / 2 + 1 / (8 * (m + 1))) : 0) -
                   (j > 0 ? v[j - 1] * (below / 2 + 5 / (8 * (below + 3))) : 0);
        }
        power *= -1 / w;
    }
    return logl(sum);
}

/* e^x K_order(x) = int_0^inf e^{-x (cosh t - 1)} cosh(order t) dt. The integrand is analytic for
 * |Im t| < pi/2 and as wide as 1/sqrt(w), so the trapezoidal rule of step h errs by about
 * e^{-pi^2/h} or e^{-2 pi^2/(w h^2)}, whichever is more: below 1e-21. */
static long double log_bessel_k_integral(long double order, long double x)
{
    long double w = sqrtl(order * order + x * x), h = 0.55L / sqrtl(w + 8);
    long double sum = 0.5L, peak = asinhl(order / x);
    for (int i = 1;; i++) {
        long double t = i * h, s = sinhl(t / 2);
        long double term = expl(order * t - 2 * x * s * s) * (1 + expl(-2 * order * t)) / 2;
        sum += term;
        if (t > peak && term < sum * 1e-22L)
            break;
    }
    return logl(sum * h);
}

long double cellar_log_bessel_k_scaled(long double order, long double x)
{
    long double v = fabsl(order), w = sqrtl(v * v + x * x);
    if (w < CELLAR_DEBYE_FROM)
        return log_bessel_k_integral(v, x);
    /* x - w = -v^2/(x + w) */
    return (LOG_HALF_PI - logl(w)) / 2 - v * v / (x + w) + v * logl((v + w) / x) +
           cellar_log_debye_series(v, w);
}

long double cellar_bessel_k_ratio(long double order, long double x)
{
    return expl(cellar_log_bessel_k_scaled(order + 1, x) - cellar_log_bessel_k_scaled(order, x));
}
