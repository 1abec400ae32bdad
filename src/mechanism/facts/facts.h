/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about a mechanism beyond its distribution: where likelihood ratios are rational,
 * that they are monotone, and what bounds them for all large counts. Certificates rest on these
 * facts, so each definition carries its proof. A mechanism without facts is still certified as far
 * as a finite enumeration goes, and its verdict is otherwise `unknown`. */
#ifndef CELLAR_MECHANISM_FACTS_FACTS_H
#define CELLAR_MECHANISM_FACTS_FACTS_H

#include <cellar/mechanism.h>

#include "math/flint.h"

/* All slots are optional: NULL says that nothing is known. */
typedef struct cellar_facts {
    /* 1: all P(. | count) live on intervals, and P(b | a+s) / P(b | a) does not decrease in b over
     * the two supports taken together, for every a >= 0 and s > 0. */
    int (*is_monotone)(const cellar_mechanism *m);

    /* 1: the pair of counts (from, from + shift) dominates every pair of larger counts, in both
     * orders: each is a post-processing of it. */
    int (*is_ordered)(const cellar_mechanism *m);

    /* 1: the pair (from, from + s_1 + ... + s_n) dominates n independent cells that change by s_1,
     * ..., s_n from counts of at least `from`: spreading a change hides it better. */
    int (*is_spread)(const cellar_mechanism *m);

    /* ln P(released | count) / P(released | neighbour), both positive, when it is known to be the
     * rational `out`; 0 when it is not. Ties with a rational epsilon are then decided. */
    int (*log_ratio)(const cellar_mechanism *m, int64_t count, int64_t neighbour, int64_t released,
                     fmpq_t out);

    /* 1: that logarithm is the same for all b up to the smaller of the two counts less *margin, and
     * for all b from the larger one plus *margin on. */
    int (*flat_ends)(const cellar_mechanism *m, int64_t *margin);

    /* Encloses the supremum of |ln P(b | a) / P(b | a')| over all b and all counts with
     * |a - a'| <= shift and answers 1, or answers 0: there is none. */
    int (*pure)(const cellar_mechanism *m, int64_t shift, int64_t bits, arb_t out);
    /* The same number when it is rational. */
    int (*pure_rational)(const cellar_mechanism *m, int64_t shift, fmpq_t out);

    /* No less than sum_b max(0, P(b | a) - e^epsilon P(b | a')), epsilon >= 0, for both orders of
     * all pairs with |a - a'| <= shift and both counts at least `from`. Must not increase in `from`
     * nor in epsilon. */
    double (*bound)(const cellar_mechanism *m, int64_t from, int64_t shift, double epsilon);

    /* P(b + *period | a + *period) = P(b | a) for every a >= *from. */
    int (*period)(const cellar_mechanism *m, int64_t *from, int64_t *period);

    /* All released values are multiples of it [1]. */
    int64_t (*step)(const cellar_mechanism *m);

    /* A rho for which the mechanism is rho-zero-concentrated differentially private when one cell
     * changes by at most `shift`. */
    int (*rho)(const cellar_mechanism *m, int64_t shift, fmpq_t out);

    /* The delta that was published for this mechanism, one cell and one record; NAN: none. */
    double (*published)(const cellar_mechanism *m, const fmpq_t epsilon, uint64_t min_count);
} cellar_facts;

/* 1 where that is proved of the mechanism; of one without facts nothing is. */
int cellar_facts_monotone(const cellar_mechanism *m);
int cellar_facts_ordered(const cellar_mechanism *m);

/* Answers 1: the slot of what always holds. */
int cellar_facts_yes(const cellar_mechanism *m);

/* Additive noise with a log-concave distribution: the ratio q(k - s) / q(k) is then monotone, which
 * is what log-concavity says, and nothing depends on the count. All registered noise is
 * log-concave: rounding is the convolution with a uniform distribution, read on the integers, and
 * keeps it so (Prekopa 1973). */
extern const cellar_facts cellar_additive_facts;
/* Continuous Gaussian noise, rounded. */
extern const cellar_facts cellar_gaussian_facts;
/* Noise where q(k) is proportional to e^{-rate |k|}: for all k, and for k != 0 at least. */
extern const cellar_facts cellar_geometric_facts;
extern const cellar_facts cellar_rounded_geometric_facts;
/* The same where q(k) is proportional to e^{-rate |k|^power} on its support, and where it ends. */
extern const cellar_facts cellar_weighted_facts;
extern const cellar_facts cellar_truncated_facts;

/* Synthetic counts: see facts_kernels.c, facts_delaporte.c, facts_gamma.c and
 * facts_hellinger.c. */
extern const cellar_facts cellar_poisson_facts;
extern const cellar_facts cellar_poisson_zeros_facts; /* alpha for zeros only */
extern const cellar_facts cellar_negbin_facts;
extern const cellar_facts cellar_sichel_facts; /* and Poisson-inverse Gaussian */
extern const cellar_facts cellar_delaporte_facts;
extern const cellar_facts cellar_gamma_facts;
extern const cellar_facts cellar_hellinger_facts;

#endif
