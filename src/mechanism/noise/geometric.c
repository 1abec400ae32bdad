/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/noise/geometric.h"

#include <math.h>

/* Below 1e-6 noise would exceed what tables of people can use, and 32 bits. */
const cellar_parameter_rule cellar_geometric_parameters[] = {
    {.name = "epsilon", .required = 1, .at_least = "0.000001", .at_most = "10000"},
    {0},
};

static const cellar_geometric *geometric_of(const cellar_additive *a)
{
    return (const cellar_geometric *) a;
}

static const fmpq *geometric_rate(const cellar_additive *a)
{
    return cellar_additive_parameter(a, "epsilon")->value;
}

static double geometric_log_q(const cellar_additive *a, int64_t k)
{
    const cellar_geometric *g = geometric_of(a);
    if (k == 0)
        return g->log_zero;
    return g->log_half + log(-expm1(-g->epsilon)) - g->epsilon * (double) (k - 1);
}

static double geometric_tail(const cellar_additive *a, int64_t k)
{
    const cellar_geometric *g = geometric_of(a);
    return exp(g->log_half - g->epsilon * (double) (k - 1));
}

/* e^{-epsilon k}. */
static void geometric_power(const cellar_additive *a, int64_t k, int64_t bits, arb_t out)
{
    fmpq_t exponent;
    fmpz_t factor;
    fmpq_init(exponent);
    fmpz_init_set_si(factor, -k);
    fmpq_mul_fmpz(exponent, geometric_rate(a), factor);
    /* exp turns an absolute error into a relative one: as many bits more as the exponent has */
    bits += (int64_t) fmpz_bits(fmpq_numref(exponent)) + 32;
    arb_set_fmpq(out, exponent, bits);
    arb_exp(out, out, bits);
    fmpz_clear(factor);
    fmpq_clear(exponent);
}

static void geometric_tail_balls(const cellar_additive *a, int64_t first, size_t n, int64_t bits,
                                 arb_ptr out)
{
    arb_t half;
    arb_init(half);
    geometric_of(a)->half_ball(geometric_rate(a), bits + 32, half);
    for (size_t i = 0; i < n; i++) {
        geometric_power(a, first + (int64_t) i - 1, bits, out + i);
        arb_mul(out + i, out + i, half, bits + 16);
    }
    arb_clear(half);
}

static void geometric_q_ball(const cellar_additive *a, int64_t k, int64_t bits, arb_t out)
{
    arb_t other;
    int64_t work = bits + 64;
    arb_init(other);
    if (k == 0) { /* 1 - p */
        geometric_of(a)->half_ball(geometric_rate(a), work, other);
        arb_mul_2exp_si(other, other, 1);
    } else { /* P(>= k) (1 - r) */
        geometric_power(a, 1, work, other);
    }
    arb_sub_ui(other, other, 1, work);
    arb_neg(other, other);
    if (k == 0) {
        arb_set_round(out, other, bits + 16);
    } else {
        geometric_tail_balls(a, k, 1, work, out);
        arb_mul(out, out, other, bits + 16);
    }
    arb_clear(other);
}

/* 1 + G is geometric on 1, 2, ...: E (1+G)^2 = (1+r) / (1-r)^2; the entropy splits into that of
 * being zero, one bit of sign, and that of G. */
static void geometric_moments(const cellar_additive *a, cellar_moments *out)
{
    const cellar_geometric *g = geometric_of(a);
    double r = exp(-g->epsilon), s = -expm1(-g->epsilon), log_p = log(2.0) + g->log_half;
    double zero = exp(g->log_zero);
    out->variance = g->nonzero * (1 + r) / (s * s);
    out->entropy = -zero * g->log_zero - g->nonzero * log_p +
                   g->nonzero * (log(2.0) - log(s) + g->epsilon * r / s);
}

const cellar_noise cellar_geometric_noise = {
    .log_q = geometric_log_q,
    .tail = geometric_tail,
    .q_ball = geometric_q_ball,
    .tail_balls = geometric_tail_balls,
    .rate = geometric_rate,
    .moments = geometric_moments,
};
