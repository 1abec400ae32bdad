/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about rounded gamma counts: X of shape K = mu/theta and of a scale theta that does
 * not depend on the count, b = X to the nearest whole number.
 *
 * Monotone. The ratio of the densities of two counts is proportional to x^(K' - K), which rises
 * with x for K' > K, and so does the ratio of their integrals over intervals one after the other.
 *   Bound. b is a post-processing of X. An independent gamma variable of shape c and the same scale
 * added to X takes (K, K + d) to (K + c, K + c + d): the divergences of X do not increase with the
 * count. Whether those of b do is not known, so that counts are measured one by one until this
 * bound is below what was found.
 *   With L = ln of the ratio of the densities of X, d = shift/theta, and P that of the larger
 * count, L = d ln y - ln Gamma(K + d)/Gamma(K), y = X/theta of shape K + d, and ln E e^{tL} = ln
 * Gamma(K + d + td) - (1 + t) ln Gamma(K + d) + t ln Gamma(K); with P that of the smaller one it is
 * ln Gamma(K - td) - (1 + t) ln Gamma(K) + t ln Gamma(K + d) for K > td, and else infinite: the
 * same with K and K + d exchanged. */
#include "mechanism/facts/chernoff.h"
#include "mechanism/facts/facts.h"

static void gamma_moment(const cellar_large_pair *pair, const arb_t t, int larger, int64_t bits,
                         arb_t out)
{
    const int64_t work = bits + 192; /* what is left of ln Gamma of up to 2^69 is small */
    const int64_t counts[2] = {pair->from, pair->from + pair->shift};
    arb_t theta, p, q;
    arb_init(theta);
    arb_init(p);
    arb_init(q);
    arb_set_fmpq(theta, cellar_kernel_parameter(pair->k, "sigma")->value, work);
    arb_mul(theta, theta, theta, work);
    cellar_kernel_mean_ball(pair->k, counts[larger], work, p);
    cellar_kernel_mean_ball(pair->k, counts[!larger], work, q);
    arb_div(p, p, theta, work);
    arb_div(q, q, theta, work);
    arb_sub(out, p, q, work);
    arb_mul(out, out, t, work);
    arb_add(out, out, p, work);
    if (arb_is_positive(out)) {
        arb_lgamma(out, out, work);
        arb_lgamma(p, p, work);
        arb_lgamma(q, q, work);
        arb_sub(q, q, p, work);
        arb_addmul(out, q, t, work);
        arb_sub(out, out, p, work);
    } else {
        arb_indeterminate(out);
    }
    arb_clear(theta);
    arb_clear(p);
    arb_clear(q);
}

static double gamma_bound(const cellar_mechanism *m, int64_t from, int64_t shift, double epsilon)
{
    static const cellar_log_moments moments = {{gamma_moment}};
    return cellar_chernoff_bound(m, from, shift, epsilon, &moments);
}

const cellar_facts cellar_gamma_facts = {
    .is_monotone = cellar_facts_yes,
    .bound = gamma_bound,
};
