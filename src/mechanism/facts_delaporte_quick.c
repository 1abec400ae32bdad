/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delta and delta_p of one pair of Delaporte counts in doubles, rounded up: ten times as fast as in
 * double-words. P(b+1) = P(b) m(b) / (b+1) with m as in facts_delaporte.c, all of it sums, products
 * and quotients of positive numbers, so that P(b) is right to 8b units; what is close to e^epsilon
 * counts as a violation.
 *
 * What lies beyond b: the ratio of neighbours in the negative binomial part stays below
 * q = beta/(1 + beta), so P(b+1) <= q P(b) + P(X = b+1) P(Y = 0), and the quotient of the last by
 * P(b) falls, as m(b) >= lambda. */
#include <math.h>

#include "mechanism/facts_delaporte.h"
#include "mechanism/kernel.h"

static const double ROUNDING = 1e-9;
static const double EPSILON_MAX = 500;

/* One law, at b. */
typedef struct side {
    double lambda, q, r;
    double p, scale, log_scale; /* P(b) = p scale */
    double g;                   /* m(b) - lambda */
    double plain;               /* P(X = b) P(Y = 0) / P(b) */
} side;

static const double SCALE = 200; /* logarithm of a step of scales */

static void side_rescale(side *a)
{
    while (a->log_scale < 0 && log(a->p) > SCALE) {
        a->p *= exp(-SCALE);
        a->log_scale += SCALE;
    }
    if (a->log_scale > 0) {
        a->p *= exp(a->log_scale);
        a->log_scale = 0;
    }
    a->scale = exp(a->log_scale);
}

static side side_of(const cellar_mechanism *m, int64_t count)
{
    const cellar_kernel *k = (const cellar_kernel *) m;
    double sigma = fmpq_get_d(cellar_kernel_parameter(k, "sigma")->value);
    double mean = (double) cellar_kernel_mean(k, count), beta;
    side a = {.r = 1 / sigma, .p = 1};
    fmpq_t rest;
    fmpq_init(rest);
    fmpq_set_si(rest, 1, 1);
    fmpq_sub(rest, rest, cellar_kernel_parameter(k, "nu")->value);
    beta = sigma * mean * fmpq_get_d(rest);
    fmpq_clear(rest);
    a.lambda = mean * fmpq_get_d(cellar_kernel_parameter(k, "nu")->value);
    a.q = beta / (1 + beta);
    a.g = a.r * a.q;
    a.plain = 1;
    a.log_scale = -a.lambda - a.r * log1p(beta);
    if (a.log_scale > -SCALE) {
        a.p = exp(a.log_scale);
        a.log_scale = 0;
    }
    side_rescale(&a);
    return a;
}

static void side_step(side *a, double b, double inverse)
{
    double m = a->lambda + a->g, other = 1 / m;
    a->p *= m * inverse;
    a->plain *= a->lambda * other;
    a->g = a->q * (a->r + a->g * (b * other));
    if (a->scale < 1 && a->p > 1e80)
        side_rescale(a);
}

/* No less than P(> b). */
static double side_rest(const side *a, double b)
{
    double ratio = a->q * (1 + 1e-15) + a->plain * a->lambda / (b + 1);
    return ratio < 1 ? a->p * a->scale * ratio / (1 - ratio) : 1;
}

int cellar_delaporte_quick(const cellar_mechanism *m, int64_t count, int64_t shift, double epsilon,
                           double enough, double numbers, cellar_quick *out)
{
    const double part = 1e-6, tiny = 1e-250;
    side a[2] = {side_of(m, count), side_of(m, count + shift)};
    double c, rest[2] = {1, 1}, b = 0, inverse;
    *out = (cellar_quick){.numbers = 0};
    if (!(epsilon >= 0 && epsilon < EPSILON_MAX) || a[0].r > 1)
        return 0; /* there the first pair is known to be the worst */
    c = exp(epsilon);
    if (log(part * enough + tiny) / log(a[1].q) > numbers) /* it would not get there */
        return 0;
    for (int64_t n = 0;; n++) {
        b = (double) n;
        for (int i = 0; i < 2; i++) {
            double p = a[i].p * a[i].scale, q = a[1 - i].p * a[1 - i].scale, term = p - c * q;
            if (term < -3 * ROUNDING * p)
                continue;
            out->delta[i] += fmax(term, 0) + 3 * ROUNDING * p;
            out->violation[i] += p;
            out->violation[1 - i] += q;
        }
        if (b > a[1].lambda && n % 16 == 0) {
            rest[0] = side_rest(&a[0], b);
            rest[1] = side_rest(&a[1], b);
            if (fmax(rest[0], rest[1]) <= part * enough)
                break;
        }
        if (b >= numbers)
            return 0;
        inverse = 1 / (b + 1);
        side_step(&a[0], b + 1, inverse);
        side_step(&a[1], b + 1, inverse);
    }
    for (int i = 0; i < 2; i++) {
        out->delta[i] = (out->delta[i] + rest[i]) * (1 + ROUNDING) + c * tiny;
        out->violation[i] = (out->violation[i] + rest[i]) * (1 + ROUNDING) + tiny;
    }
    out->numbers = b;
    return 1;
}
