/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worst pair of counts of additive noise. */
#include <float.h>
#include <math.h>

#include "privacy/pair_normal.h"
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
    if (measure == cellar_pair_delta && cellar_normal_is_within(reach, epsilon)) {
        worst->bound = DBL_TRUE_MIN;
        return;
    }
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

/* About ln P(noise >= k): far out, where doubles end, as if the noise were geometric from there. */
static double log_beyond(const cellar_mechanism *m, int64_t k)
{
    static const double least = 1e-290;
    double p = m->ops->survival != NULL ? m->ops->survival(m, 0, k - 1) : 0, q;
    if (p > least)
        return log(p);
    q = m->ops->log_pmf(m, 0, k);
    return isfinite(q) ? q - log(-expm1(m->ops->log_pmf(m, 0, k + 1) - q)) : q;
}

/* The same as zero_violates() with doubles, which may be wrong. */
static int zero_seems_to_violate(const cellar_reach *reach, int64_t smaller, const fmpq_t epsilon)
{
    double p = log_beyond(reach->m, smaller), q = log_beyond(reach->m, smaller + reach->shift);
    return !isfinite(p) || !isfinite(q) || p - q > fmpq_get_d(epsilon);
}

/* The first smaller count of first..last for which `violates` says yes, which it does from there
 * on; last + 1 when it never does. By doubling steps from `start` and bisection. */
static int64_t zero_search(const cellar_reach *reach, const fmpq_t epsilon, int64_t start,
                           int64_t last,
                           int (*violates)(const cellar_reach *, int64_t, const fmpq_t))
{
    int64_t no = reach->smallest - 1, yes = last + 1, x = start, step = 1;
    if (violates(reach, x, epsilon)) {
        for (yes = x; yes - 1 > no; step *= 2) {
            x = yes - reach->smallest > step ? yes - step : reach->smallest;
            if (!violates(reach, x, epsilon)) {
                no = x;
                break;
            }
            yes = x;
        }
    } else {
        for (no = x; no < last; step *= 2) {
            x = last - no > step ? no + step : last;
            if (violates(reach, x, epsilon)) {
                yes = x;
                break;
            }
            no = x;
        }
    }
    while (yes - no > 1) {
        x = no + (yes - no) / 2;
        if (violates(reach, x, epsilon))
            yes = x;
        else
            no = x;
    }
    return yes;
}

/* Negatives set to zero: all b <= 0 become one number whose loss is ln F(-a)/F(-a-s), F the
 * distribution function of the noise. F is log-concave as q is, so this loss does not decrease in
 * the smaller count a, and there is a first count a0 whose zero violates.
 *   a < a0:  what violates also violated before clamping: at most the noise's own delta_p.
 *   a >= a0: with U the mass that violates on the side away from zero, D on the other, the mass is
 *            min(U, 1 - F) + max(F, D) with F the mass of zero, which falls as a grows: largest
 *            at a0, or U + D.
 * So the supremum is the larger of the noise's own, which is the limit of large counts, and the
 * draws from a0, of which those from a0 + s violate no more often (supremum_weights.c). */
static void violation_of_clamped_noise(const cellar_reach *reach, const fmpq_t epsilon,
                                       cellar_worst *worst)
{
    const int64_t far = INT64_C(1) << 40; /* F is nil there for noise of any use */
    int64_t first = reach->smallest;
    double limit;
    cellar_pair pair;

    cellar_noise_worst(reach, cellar_pair_violation, epsilon, worst);
    first = zero_search(reach, epsilon, first, far - 1, zero_seems_to_violate);
    first = zero_search(reach, epsilon, first < far ? first : far - 1, far - 1, zero_violates);
    limit = worst->bound;
    reach_pair(reach, &pair, first, first + reach->shift);
    worst_measure(&pair, cellar_pair_violation, epsilon, worst);
    if (first >= far) { /* a0 may lie beyond: what zero weighs there */
        arb_t zero;
        arb_init(zero);
        cellar_pair_lower(&pair, 0, 0, CELLAR_PAIR_BITS, zero);
        worst->bound = fmin(1, nextafter(worst->bound + bound_of(zero), 2));
        arb_clear(zero);
    }
    if (worst->bound > limit)
        worst->everywhere = 0;
}

void cellar_noise_violation(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *worst)
{
    if (cellar_normal_is_within(reach, epsilon)) {
        *worst = worst_start(reach);
        worst->everywhere = 1;
        worst->bound = DBL_TRUE_MIN;
        return;
    }
    if (reach->negatives == CELLAR_NEGATIVES_KEEP)
        cellar_noise_worst(reach, cellar_pair_violation, epsilon, worst);
    else
        violation_of_clamped_noise(reach, epsilon, worst);
}
