/* SPDX-License-Identifier: GPL-3.0-or-later */
/* P(|loss| > epsilon) of symmetric log-concave noise, over all counts and all shifts 1..w.
 *
 * Negatives kept. Let psi = -ln q, which is even and convex (infinite beyond the support). For the
 * shift s write the noise as -s/2 + t, t on the lattice s/2 + Z, which is the same for s and s + 2.
 * The loss of t is g_s(t) = psi(s/2 + t) - psi(s/2 - t), odd in t and not decreasing (monotone
 * ratios), so the noise that does not violate is an interval |t| <= r_s. For fixed t >= 0 convexity
 * says g_s(t) <= g_{s+2}(t), and where both distributions are positive for s + 2 they are so for s:
 * the interval does not grow from s to s + 2. Its mass is the sum of q(s/2 + t) over |t| <= r_s. A
 * shorter interval weighs less, and so does one of the same length whose middle lies further out,
 * for q has one peak. Hence
 *   (1) delta_p(s) <= delta_p(s + 2).
 * From s to s + 1 it may fall: an even difference has a value in the middle, whose loss is 0.
 *
 * Negatives set to zero, one shift s. All b <= 0 become one value whose loss is ln F(-a)/F(-a-s), F
 * the distribution function of the noise and a the smaller count. F is log-concave as q is, so this
 * loss does not decrease in a, and there is a first count a0 whose zero violates.
 *   a < a0:  what violates also violated before clamping: at most the noise's own delta_p.
 *   a >= a0: with U the mass that violates on the side away from zero, D on the other, the mass is
 *            min(U, 1 - F) + max(F, D) with F the mass of zero, which falls as a grows: largest
 *            at a0, or U + D.
 * So the supremum is the larger of the noise's own, which is the limit of large counts, and that of
 * the pair drawn from a0.
 *
 * Negatives set to zero, all shifts. Let x_s be the smallest noise k with q(k) > e^epsilon q(k +
 * s), and y_s = x_s + s. Violations are k >= x_s and k <= -y_s, the mirror image about -s/2, so
 * delta_p(s) = T(x_s) + T(y_s), T(k) = P(noise >= k). Since |x_s| < |x_s + s|, q(x_s + s + 1) is no
 * more than q(x_s + s): x_s does not increase in s, nor does a0(s). From a0 on, draws from the
 * smaller of two counts violate with T(min(count, x_s)) + T(y_s), and draws from the larger one
 * with T(x_s) + T(min(count, x_s) + s), which is no more. So the supremum over all counts is
 * f(s) = T(min(a0(s), x_s)) + T(y_s).
 *   (2) x_s >= 1: y_s - s >= 1, so q(y_s - s - 1) >= q(y_s - s) > e^epsilon q(y_s), which says
 *       y_{s+1} <= y_s, and nothing else in f or delta_p falls: f(s) <= f(s + 1).
 *   (3) x_s <= 0: as a0(s) >= 0, f(s) = delta_p(s) <= delta_p(s + 2) <= f(s + 2).
 * Hence f(s) <= max(f(s + 1), f(s + 2)): the last two shifts give the supremum over all, and the
 * last alone where (2) holds for the one before it. */
#include <math.h>

#include "math/ball.h"
#include "privacy/worst.h"

/* Larger counts are not searched: a zero there has no mass worth a search. */
static const int64_t COUNT_FAR = INT64_C(1) << 40;

static int is_violation(cellar_order order)
{
    return order == CELLAR_ORDER_ABOVE || order == CELLAR_ORDER_OPEN;
}

/* 1 when the loss of a released zero that stands for all b <= 0 exceeds epsilon; also where nothing
 * is ever negative, which is beyond a0. */
static int zero_violates(cellar_one_cell *cell, int64_t smaller, int64_t shift,
                         const fmpq_t epsilon)
{
    cellar_pair pair = cellar_one_cell_pair(cell, smaller, shift, 0, CELLAR_NEGATIVES_ZERO);
    return !pair.p->is_clamped || is_violation(cellar_pair_compare(&pair, 0, epsilon));
}

/* a0, or COUNT_FAR: by doubling and bisection. */
static int64_t first_violating_zero(cellar_one_cell *cell, int64_t shift, const fmpq_t epsilon)
{
    int64_t no = cell->smallest - 1, yes = cell->smallest, step = 1;
    while (yes < COUNT_FAR && !zero_violates(cell, yes, shift, epsilon)) {
        no = yes;
        yes += step;
        step *= 2;
    }
    yes = yes < COUNT_FAR ? yes : COUNT_FAR;
    while (yes - no > 1) {
        int64_t middle = no + (yes - no) / 2;
        if (zero_violates(cell, middle, shift, epsilon))
            yes = middle;
        else
            no = middle;
    }
    return yes;
}

/* The pair drawn from a0; where a0 was not found, what a zero weighs there is added. */
static void clamped_violation(cellar_one_cell *cell, int64_t shift, const fmpq_t epsilon,
                              cellar_worst *worst)
{
    const int64_t first = first_violating_zero(cell, shift, epsilon);
    cellar_pair pair = cellar_one_cell_pair(cell, first, shift, 0, CELLAR_NEGATIVES_ZERO);
    cellar_worst there = {.upper = -1};
    cellar_worst_measure(&pair, cellar_pair_violation, epsilon, &there);
    if (first >= COUNT_FAR) {
        arb_t zero;
        arb_init(zero);
        cellar_distribution_pmf(pair.p, 0, CELLAR_PAIR_BITS, zero);
        there.upper = fmin(1, nextafter(there.upper + cellar_ball_upper(zero), 2));
        arb_clear(zero);
    }
    worst->lower = fmax(worst->lower, there.lower);
    if (there.upper > worst->upper) {
        worst->upper = there.upper;
        worst->count = there.count;
        worst->neighbour = there.neighbour;
        worst->everywhere = 0;
    }
}

static void shift_violation(cellar_one_cell *cell, int64_t shift, const fmpq_t epsilon,
                            cellar_worst *worst)
{
    cellar_pair pair = cellar_one_cell_pair(cell, cell->smallest, shift, 1, CELLAR_NEGATIVES_KEEP);
    cellar_worst_measure(&pair, cellar_pair_violation, epsilon, worst);
    if (cell->negatives == CELLAR_NEGATIVES_ZERO)
        clamped_violation(cell, shift, epsilon, worst);
}

void cellar_worst_noise_violation(cellar_one_cell *cell, const fmpq_t epsilon, cellar_worst *out)
{
    *out = (cellar_worst){.upper = -1, .everywhere = 1, .is_proved = 1};
    shift_violation(cell, cell->shift, epsilon, out);
    if (cell->shift > 1) {
        const int64_t before = cell->shift - 1;
        cellar_pair pair = cellar_one_cell_pair(cell, 0, before, 1, CELLAR_NEGATIVES_KEEP);
        if (is_violation(cellar_pair_compare(&pair, before, epsilon))) /* x_s < 1 */
            shift_violation(cell, before, epsilon, out);
    }
}
