/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about the laws of synthetic counts: Poisson and negative binomial. */
#include "mechanism/facts.h"

#include "mechanism/chernoff.h"

static int facts_yes(const cellar_mechanism *m)
{
    (void) m;
    return 1;
}

static void exceeds_by(cellar_log_moment moment, const cellar_mechanism *m, int64_t from,
                       int64_t shift, const arb_t epsilon, int64_t bits, arb_t out)
{
    const cellar_log_moments moments = {{moment}};
    cellar_large_pair pair;
    cellar_large_pair_init(&pair, m, from, shift, bits);
    cellar_chernoff(&pair, &moments, epsilon, 1, bits, out);
    cellar_large_pair_clear(&pair);
}

/* ---- along the diagonal ------------------------------------------------------------- */

/* Poisson and negative binomial counts are Poisson with mean mu G, G constant or gamma of variance
 * S, and the mean of mu G given b is mu (1 + S b) / (1 + S mu): the derivative of ln P(b | mu) in
 * theta = ln mu is v(mu) = (b - mu) / (1 + S mu) (facts_mixed.c, where it is shown to fall).
 *   Thresholds. ln R(b; mu) = ln P(b | mu + s) / P(b | mu) is the integral of (b - m) w(m) over m
 * from mu to mu + s, w(m) = 1 / (m (1 + S m)), and ln R(b + 1; mu + 1) that of (b - m) w(m) g(m),
 * g(m) = w(m + 1) / w(m) < 1. g rises, so the second is at most g* times the first, g* being g(b),
 * or g at the end that is next to b. Hence if ln R(b; mu) <= epsilon, epsilon >= 0, then
 * ln R(b + 1; mu + 1) <= epsilon; and if b <= mu nothing is positive in the integrals, so that
 * ln R(b; mu) >= -epsilon entails ln R(b + 1; mu + 1) >= -epsilon.
 *   Tails. dP(>= x | mu)/dmu = x P(x | mu) / mu, so that
 *   P(>= x + 1 | mu + 1) - P(>= x | mu) = x I - P(x | mu + 1),
 * I the integral of P(x | e^theta) over theta from ln mu to ln(mu + 1), over which ln P is concave.
 * If x >= mu + 1, its slope is at most v(mu) <= k = x - mu, so I >= P(x | mu + 1) (1 - (1 +
 * 1/mu)^-k) / k, and x I >= P(x | mu + 1) since (1 + 1/mu)^k >= 1 + k/mu for k >= 1: the tail does
 * not fall. If x <= mu, its slope is at least v(mu + 1) >= -j, j = mu + 1 - x, so that
 * I <= P(x | mu + 1) ((1 + 1/mu)^j - 1) / j, and x I <= P(x | mu + 1) since (1 - 1/(mu + 1))^j >=
 * 1 - j/(mu + 1) for j >= 1: the tail does not rise. */
static int mean_side(const cellar_mechanism *m, int64_t count, int64_t b)
{
    fmpq_t mean;
    int order;
    fmpq_init(mean);
    cellar_kernel_mean_rational((const cellar_kernel *) m, count, mean);
    order = fmpq_cmp_si(mean, b);
    fmpq_clear(mean);
    return order < 0 ? 1 : order > 0 ? -1 : 0;
}

/* ---- Poisson ------------------------------------------------------------------- */

/* Monotone: the ratio is (mu'/mu)^b e^{mu - mu'}. Ordered: adding an independent Poisson count of
 * mean c to both laws takes (mu, mu + s) to (mu + c, mu + c + s): every pair of larger counts is a
 * post-processing of the first.
 *   Additive: giving each of the b to one of n cells at random, and adding Poisson counts, takes
 * (mu, mu + s_1 + ... + s_n) to independent cells (mu_i, mu_i + s_i), mu_i >= mu. So the change of
 * one cell dominates every way to spread it. */
static int poisson_log_ratio(const cellar_mechanism *m, int64_t count, int64_t neighbour,
                             int64_t released, fmpq_t out)
{
    (void) m;
    if (released != 0)
        return 0;
    fmpq_set_si(out, neighbour - count, 1);
    return 1;
}

static void poisson_exceeds(const cellar_mechanism *m, int64_t from, int64_t shift,
                            const arb_t epsilon, int64_t bits, arb_t out)
{
    exceeds_by(cellar_poisson_moment, m, from, shift, epsilon, bits, out);
}

const cellar_facts cellar_poisson_facts = {
    .is_monotone = facts_yes,
    .log_ratio = poisson_log_ratio,
    .exceeds = poisson_exceeds,
    .is_ordered = facts_yes,
    .is_concave = facts_yes,
    .side = mean_side,
    .is_spread = facts_yes,
};

/* ---- negative binomial ------------------------------------------------------------ */

/* Monotone: ln P(b | mu') / P(b | mu) = b r - k h, r = ln mu'(1 + S mu) / (mu (1 + S mu')), h =
 * ln (1 + S mu')/(1 + S mu), k = 1/S, and r > 0 for mu' > mu.
 *   Ordered. The generating function is (1 + S mu x)^-k, x = 1 - s. Let each of the b have a random
 * number of successors with generating function 1 - x / (1 + Scx), as in a critical branching
 * process (its coefficients are positive), and add an independent count with (1 + Scx)^-k. The sum
 * has
 *   (1 + S mu x / (1 + Scx))^-k (1 + Scx)^-k = (1 + S (mu + c) x)^-k:
 * one post-processing takes every mu to mu + c. */
static void negbin_moment(const cellar_large_pair *pair, const arb_t t, int larger, int64_t bits,
                          arb_t out)
{
    arb_t sigma, own, other, h;
    arb_init(sigma);
    arb_init(own);
    arb_init(other);
    arb_init(h);
    arb_set_fmpq(sigma, cellar_kernel_parameter(pair->k, "sigma")->value, bits);
    arb_mul(own, sigma, pair->mean, bits);
    arb_set_si(other, pair->shift);
    arb_mul(other, other, sigma, bits);
    arb_add(other, other, own, bits);
    if (larger)
        arb_swap(own, other); /* S mu of P, and of Q */
    arb_log1p(h, own, bits);
    arb_log1p(out, other, bits);
    arb_sub(h, h, out, bits); /* ln (1 + S mu_P)/(1 + S mu_Q) */
    arb_div(out, own, other, bits);
    arb_log(out, out, bits);
    arb_sub(out, out, h, bits); /* r */
    arb_mul(out, out, t, bits);
    arb_expm1(out, out, bits);
    arb_mul(out, out, own, bits);
    arb_neg(out, out);
    arb_log1p(out, out, bits); /* ln of 1 + S mu_P (1 - e^{tr}) */
    arb_addmul(out, t, h, bits);
    arb_div(out, out, sigma, bits);
    arb_neg(out, out);
    arb_clear(sigma);
    arb_clear(own);
    arb_clear(other);
    arb_clear(h);
}

static void negbin_exceeds(const cellar_mechanism *m, int64_t from, int64_t shift,
                           const arb_t epsilon, int64_t bits, arb_t out)
{
    exceeds_by(negbin_moment, m, from, shift, epsilon, bits, out);
}

const cellar_facts cellar_negbin_facts = {
    .is_monotone = facts_yes,
    .exceeds = negbin_exceeds,
    .is_ordered = facts_yes,
    .is_concave = facts_yes,
    .side = mean_side,
};
