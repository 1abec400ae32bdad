/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about Delaporte counts: Poisson with mean mu G, mu = count + alpha, G = nu +
 * (1 - nu) gamma of shape 1/sigma.
 *
 * With sigma <= 1 ln G has a concave density, ratios are monotone and the first pair of counts is
 * the worst one (facts_kernels.c). With sigma > 1 the ratio rises, falls and rises again: a Poisson
 * hump is followed by the tail of the gamma part, and no pair is the worst for every epsilon. Then
 * two bounds hold for all pairs of counts from one on, and the better one counts.
 *
 * G forgotten. Drawing b forgets G: the distributions of b for mu and mu e^tau are a
 * post-processing of those of ln G and ln G + tau. Their divergences do not decrease in tau, and
 * tau = ln(1 + shift/mu) falls with the count and rises with the shift. Good when G varies much.
 *   G known. b is a post-processing of (b, G), and given G the counts are Poisson: E e^{tL} is the
 * mean over G of those of Poisson counts, which fall with the count, and rise with the shift, for
 * every G. Good when G varies little. */
#include "mechanism/facts/facts.h"

#include "mechanism/facts/chernoff.h"

/* G = nu + (1 - nu) gamma. The density of its logarithm is concave when the gamma's shape 1/sigma
 * is at least 1: its second derivative has the terms -(1/sigma - 1) N e^-x / (1 - N e^-x)^2 and
 * -(1 - nu)^-1 e^x / sigma, N = nu. */
static int delaporte_is_monotone(const cellar_mechanism *m)
{
    return fmpq_cmp_si(cellar_kernel_parameter((const cellar_kernel *) m, "sigma")->value, 1) <= 0;
}

static void inverse_sigma(const cellar_kernel *k, int64_t bits, arb_t out)
{
    arb_set_fmpq(out, cellar_kernel_parameter(k, "sigma")->value, bits);
    arb_inv(out, out, bits);
}

/* G gamma of shape k = 1/sigma, forgotten: L = k tau - k G (1 - e^-tau) for G against G e^tau, and
 * L = k G (e^tau - 1) - k tau for G against G e^-tau: P that of the smaller and of the larger
 * count. E e^{tL} is e^{tk tau} (1 + t(1 - e^-tau))^-k and e^{-tk tau} (1 - t(e^tau - 1))^-k. */
static void gamma_forgotten(const cellar_large_pair *pair, const arb_t t, int larger, int64_t bits,
                            arb_t out)
{
    arb_t shape, tau;
    arb_init(shape);
    arb_init(tau);
    inverse_sigma(pair->k, bits, shape);
    arb_set(tau, pair->tau);
    if (!larger)
        arb_neg(tau, tau);
    arb_expm1(out, tau, bits); /* the two orders are one formula, with tau and with -tau */
    arb_mul(out, out, t, bits);
    arb_neg(out, out);
    arb_log1p(out, out, bits);
    arb_addmul(out, t, tau, bits);
    arb_mul(out, out, shape, bits);
    arb_neg(out, out);
    arb_clear(shape);
    arb_clear(tau);
}

/* What is released is the sum of two independent parts, a Poisson count of mean mu nu and one of
 * mean mu (1 - nu) gamma: a post-processing of both together. So the product of their E e^{tL}
 * bounds that of the sum (data processing of Renyi divergences, van Erven and Harremoes 2014), and
 * falls with the count as each part's do. */
static void delaporte_forgotten(const cellar_large_pair *pair, const arb_t t, int larger,
                                int64_t bits, arb_t out)
{
    arb_t part, nu;
    arb_init(part);
    arb_init(nu);
    arb_set_fmpq(nu, cellar_kernel_parameter(pair->k, "nu")->value, bits);
    cellar_poisson_moment(pair, t, larger, bits, part);
    gamma_forgotten(pair, t, larger, bits, out);
    arb_addmul(out, part, nu, bits);
    arb_clear(part);
    arb_clear(nu);
}

/* G known: ln E e^{cG} = c nu - k ln(1 - (1 - nu) c/k). */
static void delaporte_known(const cellar_large_pair *pair, const arb_t t, int larger, int64_t bits,
                            arb_t out)
{
    arb_t c, nu, shape;
    arb_init(c);
    arb_init(nu);
    arb_init(shape);
    arb_set_fmpq(nu, cellar_kernel_parameter(pair->k, "nu")->value, bits);
    inverse_sigma(pair->k, bits, shape);
    cellar_poisson_moment(pair, t, larger, bits, c);
    arb_sub_ui(out, nu, 1, bits);
    arb_mul(out, out, c, bits);
    arb_div(out, out, shape, bits);
    arb_log1p(out, out, bits);
    arb_mul(out, out, shape, bits);
    arb_submul(out, c, nu, bits);
    arb_neg(out, out);
    arb_clear(c);
    arb_clear(nu);
    arb_clear(shape);
}

static double delaporte_bound(const cellar_mechanism *m, int64_t from, int64_t shift,
                              double epsilon)
{
    static const cellar_log_moments moments = {{delaporte_forgotten, delaporte_known}};
    return cellar_chernoff_bound(m, from, shift, epsilon, &moments);
}

const cellar_facts cellar_delaporte_facts = {
    .is_monotone = delaporte_is_monotone,
    .is_ordered = delaporte_is_monotone,
    .bound = delaporte_bound,
};
