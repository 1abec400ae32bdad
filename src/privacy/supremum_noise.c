/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worst pair of counts of additive noise. */
#include <math.h>

#include "privacy/supremum_part.h"

/* Symmetric noise that does not depend on the count: one pair stands for all, in both orders.
 * Setting negatives to zero is post-processing, which increases neither delta nor infinite loss,
 * and is without effect in the limit of large counts: the supremum is that of the noise. */
void cellar_noise_worst(const cellar_reach *reach, pair_measure measure, const fmpq_t epsilon,
                        cellar_worst *worst)
{
    cellar_reach kept = *reach;
    cellar_pair pair;
    kept.negatives = CELLAR_NEGATIVES_KEEP;
    *worst = worst_start(reach);
    worst->everywhere = 1;
    reach_pair(&kept, &pair, reach->smallest + reach->shift, reach->smallest);
    worst_measure(&pair, measure, epsilon, worst);
}

/* 1 when the loss of a released zero that stands for all b <= 0 exceeds epsilon. */
static int zero_violates(const cellar_reach *reach, int64_t smaller, const fmpq_t epsilon)
{
    cellar_pair pair;
    cellar_order order;
    reach_pair(reach, &pair, smaller, smaller + reach->shift);
    if (!pair.clamped) /* nothing is ever negative: beyond a0, or there is none */
        return 1;
    order = cellar_pair_compare(&pair, 0, epsilon);
    return order == CELLAR_ORDER_ABOVE || order == CELLAR_ORDER_OPEN;
}

/* Negatives set to zero: all b <= 0 become one number whose loss is ln F(-a)/F(-a-s), F the
 * distribution function of the noise. F is log-concave as q is, so this loss does not decrease in
 * the smaller count a, and there is a first count a0 whose zero violates.
 *   a < a0:  what violates also violated before clamping: at most the noise's own delta_p.
 *   a >= a0: with U the mass that violates on the side away from zero, D on the other, the mass is
 *            min(U, 1 - F) + max(F, D) with F the mass of zero, which falls as a grows: largest
 *            at a0, or U + D.
 * So the supremum is the larger of the noise's own, which is the limit of large counts, and the
 * two orders at a0. */
static void violation_of_clamped_noise(const cellar_reach *reach, const fmpq_t epsilon,
                                       cellar_worst *worst)
{
    int64_t no = reach->smallest - 1, yes = reach->smallest, step = 1;
    const int64_t far = INT64_C(1) << 40; /* F is nil there for noise of any use */
    double limit;
    cellar_pair pair;

    cellar_noise_worst(reach, cellar_pair_violation, epsilon, worst);
    while (yes < far && !zero_violates(reach, yes, epsilon)) {
        no = yes;
        yes += step;
        step *= 2;
    }
    while (yes - no > 1) {
        int64_t middle = no + (yes - no) / 2;
        if (zero_violates(reach, middle, epsilon))
            yes = middle;
        else
            no = middle;
    }
    limit = worst->bound;
    reach_pair(reach, &pair, yes + reach->shift, yes);
    worst_measure(&pair, cellar_pair_violation, epsilon, worst);
    reach_pair(reach, &pair, yes, yes + reach->shift);
    worst_measure(&pair, cellar_pair_violation, epsilon, worst);
    if (yes >= far) { /* a0 may lie beyond: what zero weighs there */
        arb_t zero;
        arb_init(zero);
        reach_pair(reach, &pair, far, far + reach->shift);
        cellar_pair_lower(&pair, 0, 0, CELLAR_PAIR_BITS, zero);
        worst->bound = fmin(1, nextafter(worst->bound + bound_of(zero), 2));
        arb_clear(zero);
    }
    if (worst->bound > limit)
        worst->everywhere = 0;
}

void cellar_noise_violation(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *worst)
{
    if (reach->negatives == CELLAR_NEGATIVES_KEEP)
        cellar_noise_worst(reach, cellar_pair_violation, epsilon, worst);
    else
        violation_of_clamped_noise(reach, epsilon, worst);
}
