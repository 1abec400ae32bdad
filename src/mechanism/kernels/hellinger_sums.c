/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sum_{b >= N} f(b) = int_N^inf f + f(N)/2 - sum_{j <= J} B_2j/(2j) c_{2j-1}, where c_i are the
 * Taylor coefficients of f at N, and likewise between two ends. f = (sqrt t - root)^k e^{s rate
 * sqrt t} has its only singularity at 0, so that the terms are about ((2j)/(2 pi N))^{2j} or
 * (rate/(4 pi sqrt N))^{2j}: with N >= 16 + rate^2 and ten terms, what is left out is below 1e-20.
 * Terms before N are added one by one. */
#include "mechanism/kernels/hellinger_sums.h"

#include <math.h>
#include <string.h>

/* sqrt t - root, without cancellation: the root is that of a whole number. */
static long double distance(long double t, long double root)
{
    long double count = rintl(root * root);
    return t == count ? 0 : (t - count) / (sqrtl(t) + root);
}

enum { TERMS = 10, COEFFICIENTS = 2 * TERMS };

/* Of c, which begins with the Taylor coefficients 0 and 1 at n of a solution of 4 t y'' + 2 y' =
 * square y, the others up to `last`. */
static void taylor_go_on(long double square, long double n, int last, long double *c)
{
    for (int i = 0; i + 2 <= last; i++)
        c[i + 2] = (square * c[i] - (i + 1) * (4 * i + 2) * c[i + 1]) / (4 * n * (i + 2) * (i + 1));
}

/* Taylor coefficients at n of d^k e^{signed_rate d}, d = sqrt t - root, k < n_sums. y = e^{r sqrt
 * t} solves 4 t y'' + 2 y' = r^2 y. */
static void taylor(long double signed_rate, long double root, long double n, int n_sums,
                   long double c[][COEFFICIENTS])
{
    long double s[COEFFICIENTS];
    s[0] = sqrtl(n);
    for (int i = 0; i + 1 < COEFFICIENTS; i++) /* of sqrt t */
        s[i + 1] = s[i] * (0.5L - i) / (n * (i + 1));
    c[0][1] = signed_rate / (2 * s[0]);
    s[0] = distance(n, root);
    c[0][0] = expl(signed_rate * s[0]);
    c[0][1] *= c[0][0];
    taylor_go_on(signed_rate * signed_rate, n, COEFFICIENTS - 1, c[0]);
    for (int k = 1; k < n_sums; k++)
        for (int i = 0; i < COEFFICIENTS; i++) {
            c[k][i] = 0;
            for (int j = 0; j <= i; j++)
                c[k][i] += c[k - 1][j] * s[i - j];
        }
}

/* What an end contributes besides the integral and half its term. */
static long double end_correction(const long double *c, int terms)
{
    static const long double bernoulli[TERMS] = {
        1.0L / 6,       -1.0L / 30, 1.0L / 42,      -1.0L / 30,     5.0L / 66,
        -691.0L / 2730, 7.0L / 6,   -3617.0L / 510, 43867.0L / 798, -174611.0L / 330,
    };
    long double sum = 0;
    for (int j = terms; j >= 1; j--)
        sum += bernoulli[j - 1] / (2 * j) * c[2 * j - 1];
    return sum;
}

/* An antiderivative of d^p e^{r d}. */
static long double power_exponential(long double r, long double d, int p)
{
    long double sum = 0, factor = 1 / r;
    for (int i = 0; i <= p; i++) {
        sum += factor * powl(d, (long double) (p - i));
        factor *= -(long double) (p - i) / r;
    }
    return sum * expl(r * d);
}

/* An antiderivative in t of d^k e^{r d}: with t = (d + root)^2, that of 2 (d + root) d^k e^{r d}.
 */
static long double antiderivative(long double r, long double root, long double d, int k)
{
    return 2 * (power_exponential(r, d, k + 1) + root * power_exponential(r, d, k));
}

static int64_t first_smooth(long double rate)
{
    return 16 + (int64_t) (rate * rate);
}

static void add_term(long double r, long double root, int64_t b, int n_sums, long double *sums)
{
    long double d = distance((long double) b, root), term = expl(r * d);
    for (int k = 0; k < n_sums; k++) {
        sums[k] += term;
        term *= d;
    }
}

/* 1 when all from b on is below 1e-21 of the sums: by the integrals. */
static int rest_above_is_small(long double rate, long double root, int64_t b, int n_sums,
                               const long double *sums)
{
    long double d = distance((long double) b, root);
    for (int k = 0; k < n_sums; k++)
        if (!(-antiderivative(-rate, root, d, k) < 1e-21L * fabsl(sums[k])))
            return 0;
    return 1;
}

void cellar_hellinger_above(long double rate, long double root, int64_t n, int n_sums,
                            long double *sums)
{
    long double c[CELLAR_HELLINGER_POWERS][COEFFICIENTS], d;
    int64_t smooth = first_smooth(rate);

    memset(sums, 0, (size_t) n_sums * sizeof *sums);
    for (; n < smooth; n++) {
        add_term(-rate, root, n, n_sums, sums);
        if (n % 64 == 63 && n > 1 && rest_above_is_small(rate, root, n, n_sums, sums))
            return;
    }
    d = distance((long double) n, root);
    taylor(-rate, root, (long double) n, n_sums, c);
    for (int k = 0; k < n_sums; k++)
        sums[k] += c[k][0] / 2 - end_correction(c[k], TERMS) - antiderivative(-rate, root, d, k);
}

void cellar_hellinger_below(long double rate, long double root, int64_t n, int n_sums,
                            long double *sums)
{
    long double low[CELLAR_HELLINGER_POWERS][COEFFICIENTS];
    long double high[CELLAR_HELLINGER_POWERS][COEFFICIENTS];
    int64_t smooth = first_smooth(rate);

    memset(sums, 0, (size_t) n_sums * sizeof *sums);
    if (n > smooth) {
        long double d0 = distance((long double) smooth, root);
        long double d1 = distance((long double) n, root);
        taylor(rate, root, (long double) smooth, n_sums, low);
        taylor(rate, root, (long double) n, n_sums, high);
        for (int k = 0; k < n_sums; k++)
            sums[k] = antiderivative(rate, root, d1, k) - antiderivative(rate, root, d0, k) +
                      (low[k][0] + high[k][0]) / 2 + end_correction(high[k], TERMS) -
                      end_correction(low[k], TERMS);
        n = smooth - 1;
    }
    for (; n >= 0; n--) { /* no term below is larger than this one */
        add_term(rate, root, n, n_sums, sums);
        if (expl(rate * distance((long double) n, root)) * (long double) n < 1e-21L * sums[0])
            break;
    }
}

long double cellar_hellinger_low(long double rate)
{
    long double c[1][COEFFICIENTS], sum = 0;
    int64_t smooth = first_smooth(rate);
    for (int64_t b = 0; b < smooth; b++)
        add_term(rate, 0, b, 1, &sum);
    taylor(rate, 0, (long double) smooth, 1, c);
    return sum + c[0][0] / 2 - end_correction(c[0], TERMS) -
           antiderivative(rate, 0, sqrtl((long double) smooth), 0);
}

/* At the end d is 0. What is left out of so few terms is about (rate/(4 pi sqrt count))^10. */
void cellar_hellinger_far(long double rate, long double low, int64_t count, long double *below,
                          long double *above)
{
    enum { FEW = 4 };
    long double n = (long double) count, root = sqrtl(n), c[2 * FEW] = {1, rate / (2 * root)};
    taylor_go_on(rate * rate, n, 2 * FEW - 1, c);
    *below =
        2 / rate * (root - 1 / rate) + low * expl(-rate * root) - 0.5L + end_correction(c, FEW);
    c[1] = -rate / (2 * root);
    taylor_go_on(rate * rate, n, 2 * FEW - 1, c);
    *above = 2 / rate * (root + 1 / rate) + 0.5L - end_correction(c, FEW);
}
