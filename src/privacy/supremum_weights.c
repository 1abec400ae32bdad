/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delta_p of additive noise over all weights 1..w: the last two tell of all others.
 *
 * Let q be symmetric and log-concave, so that psi = -ln q is even and convex (infinite beyond the
 * support). For the weight s write the noise as -s/2 + t, t on the lattice s/2 + Z, which is the
 * same for s and s + 2. The loss of t is g_s(t) = psi(s/2 + t) - psi(s/2 - t), odd in t and not
 * decreasing (monotone ratios), so the noise that does not violate is an interval |t| <= r_s. For
 * fixed t >= 0 convexity says g_s(t) <= g_{s+2}(t), and where both laws are positive for s + 2 they
 * are so for s: the interval does not grow from s to s + 2. Its mass is the sum of q(s/2 + t) over
 * |t| <= r_s. A shorter interval weighs less, and so does one of the same length whose middle lies
 * further out, for q has one peak. Hence
 *   (1) delta_p(s) <= delta_p(s + 2).
 * From s to s + 1 it may fall: an even difference has a number in the middle, which tells nothing.
 *
 * With negatives set to zero let x_s be the smallest noise k with q(k) > e^epsilon q(k + s), and
 * y_s = x_s + s. Violations are k >= x_s and k <= -y_s, the mirror image about -s/2, so delta_p(s)
 * = T(x_s) + T(y_s), T(k) = P(noise >= k). Since |x_s| < |x_s + s|, q(x_s + s + 1) is no more than
 * q(x_s + s): x_s does not increase in s. Let a0(s) be the first count whose zero violates, T(a0) >
 * e^epsilon T(a0 + s), of the counts that there are; it does not increase in s either. From a0 on,
 * draws from the smaller of two counts violate with T(min(count, x_s)) + T(y_s), and draws from the
 * larger one with T(x_s) + T(min(count, x_s) + s), which is no more; below a0 no more violates than
 * before clamping. So the supremum over all counts is f(s) = T(min(a0(s), x_s)) + T(y_s).
 *   (2) x_s >= 1: y_s - s >= 1, so q(y_s - s - 1) >= q(y_s - s) > e^epsilon q(y_s), which says
 *       y_{s+1} <= y_s, and nothing else in f or delta_p falls: f(s) <= f(s + 1).
 *   (3) x_s <= 0: as a0(s) >= 0, f(s) = delta_p(s) <= delta_p(s + 2) <= f(s + 2).
 * Hence f(s) <= max(f(s + 1), f(s + 2)), and w - 1 need not be asked when (2) holds for it. */
#include "privacy/supremum.h"

/* 1 when x_s >= 1: noise of 0 does not violate. */
static int weight_is_small(const cellar_reach *reach, const fmpq_t epsilon)
{
    cellar_order order;
    cellar_pair pair;
    cellar_pair_init(&pair, reach->m, reach->shift, 0, CELLAR_NEGATIVES_KEEP);
    pair.cache = reach->cache;
    order = cellar_pair_compare(&pair, reach->shift, epsilon);
    return order == CELLAR_ORDER_BELOW || order == CELLAR_ORDER_TIE;
}

void cellar_supremum_violation_to(const cellar_reach *reach, const fmpq_t epsilon,
                                  cellar_worst *worst)
{
    cellar_reach other = *reach;
    cellar_worst found;
    cellar_supremum_violation(reach, epsilon, worst);
    other.shift--;
    if (other.shift < 1 || worst->bound >= 1 || weight_is_small(&other, epsilon))
        return;
    cellar_supremum_violation(&other, epsilon, &found);
    if (found.bound > worst->bound)
        *worst = found;
}
