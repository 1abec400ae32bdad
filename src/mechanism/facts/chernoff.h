/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds for all pairs of large counts, from moments of their likelihood ratios. */
#ifndef CELLAR_MECHANISM_FACTS_CHERNOFF_H
#define CELLAR_MECHANISM_FACTS_CHERNOFF_H

#include "mechanism/kernels/kernel.h"

/* The pair of counts (from, from + shift). */
typedef struct cellar_large_pair {
    const cellar_kernel *k;
    int64_t from, shift;
    arb_t mean; /* of the smaller count: from + alpha */
    arb_t tau;  /* ln(1 + shift / mean) */
} cellar_large_pair;

/* Bounds ln E e^{tL} from above, L = ln P/Q under P, with P that of the smaller count, or of the
 * larger one; not finite where it has nothing to say. Must not increase in `from`. */
typedef void (*cellar_log_moment)(const cellar_large_pair *pair, const arb_t t, int larger,
                                  int64_t bits, arb_t out);

enum { CELLAR_LOG_MOMENTS_MAX = 2 };
typedef struct cellar_log_moments {
    cellar_log_moment of[CELLAR_LOG_MOMENTS_MAX]; /* the best one counts */
} cellar_log_moments;

/* The larger of the two orders' best bound over some t, at most 1: of
 *   delta(epsilon) = E max(0, 1 - e^{epsilon - L}) <= c_t e^{-t epsilon} E e^{tL},
 * where c_t = t^t / (1+t)^{1+t} is the maximum of (1 - e^-x) e^{-tx}. */
void cellar_chernoff(const cellar_large_pair *pair, const cellar_log_moments *moments,
                     const arb_t epsilon, int64_t bits, arb_t out);

/* The slot `bound` (facts.h) by that: the bound at a pair of counts. */
double cellar_chernoff_bound(const cellar_mechanism *m, int64_t from, int64_t shift, double epsilon,
                             const cellar_log_moments *moments);

void cellar_large_pair_init(cellar_large_pair *pair, const cellar_mechanism *m, int64_t from,
                            int64_t shift, int64_t bits);
void cellar_large_pair_clear(cellar_large_pair *pair);

/* ln E e^{tL} of Poisson counts of means g mean and g (mean + shift) is g times this:
 * L = b tau - g shift when P is that of the larger mean, and g shift - b tau of the smaller, so
 * that it is (mean + shift)(e^{t tau} - 1) - t shift and mean (e^{-t tau} - 1) + t shift. */
void cellar_poisson_moment(const cellar_large_pair *pair, const arb_t t, int larger, int64_t bits,
                           arb_t out);

#endif
