/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about synthetic counts: Poisson, negative binomial, Sichel and Poisson-inverse
 * Gaussian. */
#include "mechanism/facts/facts.h"

#include <math.h>

#include "math/ball.h"
#include "mechanism/facts/chernoff.h"

/* ---- Poisson ------------------------------------------------------------------- */

/* Monotone: the ratio is (mu'/mu)^b e^{mu - mu'}. Ordered: adding an independent Poisson count of
 * mean c to both distributions takes (mu, mu + s) to (mu + c, mu + c + s): every pair of larger
 * counts is a post-processing of the first. Additive: giving each of the b to one of n cells at
 * random, and adding Poisson counts, takes (mu, mu + s_1 + ... + s_n) to independent cells (mu_i,
 * mu_i + s_i), mu_i >= mu. So the change of one cell dominates every way to spread it. */
static int poisson_log_ratio(const cellar_mechanism *m, int64_t count, int64_t neighbour,
                             int64_t released, fmpq_t out)
{
    const cellar_kernel *k = (const cellar_kernel *) m;
    fmpq_t mean;
    if (released != 0)
        return 0;
    fmpq_init(mean);
    cellar_kernel_mean_rational(k, neighbour, out);
    cellar_kernel_mean_rational(k, count, mean);
    fmpq_sub(out, out, mean);
    fmpq_clear(mean);
    return 1;
}

/* 1 - F_{a+A}[(1 + epsilon) / ln((a+A)/(a-1+A))] with a = min_count + 1, for epsilon >= 1: Jackson,
 * Mitra, Francis and Dove, "Obtaining (epsilon, delta)-differential privacy guarantees when using a
 * Poisson mechanism", eq. (9); with a known minimum eq. (10). */
static double poisson_published(const cellar_mechanism *m, const fmpq_t epsilon, uint64_t min_count)
{
    enum { BITS = 256 };
    const int64_t count = (int64_t) min_count + 1, most = INT64_C(1) << 60;
    double delta = NAN;
    fmpz_t last;
    arb_t x, y;
    if (fmpq_cmp_si(epsilon, 1) < 0 || min_count > 1000000000)
        return NAN;
    fmpz_init(last);
    arb_init(x);
    arb_init(y);
    cellar_kernel_mean_ball((const cellar_kernel *) m, count - 1, BITS, x);
    if (arb_is_positive(x)) {
        arb_inv(x, x, BITS); /* (a + A) / (a - 1 + A) = 1 + 1 / (a - 1 + A) */
        arb_log1p(x, x, BITS);
        arb_set_fmpq(y, epsilon, BITS);
        arb_add_ui(y, y, 1, BITS);
        arb_div(y, y, x, BITS);
        arb_floor(y, y, BITS);
        if (arb_get_unique_fmpz(last, y) && fmpz_cmp_si(last, most) < 0) {
            m->ops->survival_ball(m, count, fmpz_get_si(last), BITS, x);
            delta = cellar_ball_upper(x);
        }
    }
    fmpz_clear(last);
    arb_clear(x);
    arb_clear(y);
    return delta;
}

const cellar_facts cellar_poisson_facts = {
    .is_monotone = cellar_facts_yes,
    .is_ordered = cellar_facts_yes,
    .is_spread = cellar_facts_yes,
    .log_ratio = poisson_log_ratio,
    .published = poisson_published,
};

/* ---- Poisson, alpha for zeros only ------------------------------------------------ */

/* Monotone, since means rise with the count (alpha <= 1). Not ordered: the means of counts 0 and 1
 * are 1 - alpha apart, those of 1 and 2 are 1 apart. From a count of 1 on the means are the counts,
 * the first pair is the worst, and Chernoff's bound of it holds for all. */
static double poisson_zeros_bound(const cellar_mechanism *m, int64_t from, int64_t shift,
                                  double epsilon)
{
    static const cellar_log_moments moments = {{cellar_poisson_moment}};
    return from == 0 ? 1 : cellar_chernoff_bound(m, from, shift, epsilon, &moments);
}

const cellar_facts cellar_poisson_zeros_facts = {
    .is_monotone = cellar_facts_yes,
    .log_ratio = poisson_log_ratio,
    .bound = poisson_zeros_bound,
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
const cellar_facts cellar_negbin_facts = {
    .is_monotone = cellar_facts_yes,
    .is_ordered = cellar_facts_yes,
};

/* ---- mixed Poisson counts ---------------------------------------------------------- */

/* What is proved about synthetic counts that are Poisson with mean mu G, mu = count + alpha, G of
 * mean 1 and of a distribution that does not depend on the count: generalised inverse Gaussian
 * (Sichel), or a constant plus a gamma variable (Delaporte).
 *
 * Monotone ratios. P(b | mu) = E Poisson(b | mu G). The Poisson distribution is totally positive of
 * order 2 in (mean, b); ln(mu G) is ln mu plus ln G, and totally positive in (mu, .) when the
 * density of ln G is log-concave. Total positivity is kept by composition (Karlin 1968), so P(b |
 * mu') / P(b | mu) does not decrease in b for mu' > mu. For ln G with G generalised inverse
 * Gaussian, ln density = nu x - (A e^x + B e^-x)/2 + const, which is concave; the gamma
 * distribution is B = 0.
 *
 * Ordered, where ratios are monotone: no pair of counts is further apart, in either order and at
 * any epsilon >= 0, than the first one. Write S(b | mu) = P(>= b | mu) and mu' = mu + s. Since dS(b
 * | mu)/dmu = E G Poisson(b - 1 | mu G) = b P(b | mu) / mu, the curve of the pair, the largest over
 * b of f(b) = S(b | mu') - e^epsilon S(b | mu), has the derivative b (P(b | mu') / mu' - e^epsilon
 * P(b | mu) / mu) in mu, at the b where it is taken (Danskin 1966). Let R(b) = P(b | mu') / P(b |
 * mu); the derivative is not positive if R(b) <= e^epsilon mu'/mu. There R(b - 1) <= e^epsilon, for
 * b is where R first exceeds it; and R(b) <= R(b - 1) mu'/mu always: P(b | mu) / P(b - 1 | mu) is
 * mu/b times the mean of G under the weights G^{b-1} e^{-mu G}, which falls with mu (its derivative
 * is minus a variance). With P that of the smaller count, the largest over c of P(<= c | mu) -
 * e^epsilon P(<= c | mu') has the derivative (c + 1) (e^epsilon P(c + 1 | mu') / mu' - P(c + 1 |
 * mu) / mu), which is not positive since R(c) <= e^-epsilon, and so R(c + 1) <= e^-epsilon mu'/mu.
 * For all epsilon in both orders this says that larger counts are a post-processing of the first
 * (Blackwell 1953).
 */
const cellar_facts cellar_sichel_facts = {
    .is_monotone = cellar_facts_yes,
    .is_ordered = cellar_facts_yes,
};
