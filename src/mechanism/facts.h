/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about a mechanism beyond its law: where likelihood ratios are rational, that they
 * are monotone, and what bounds them for all large counts. Certificates rest on these facts, so
 * each definition carries its proof. A mechanism without facts is still certified as far as a
 * finite enumeration goes, and its verdict is otherwise `unknown`. */
#ifndef CELLAR_MECHANISM_FACTS_H
#define CELLAR_MECHANISM_FACTS_H

#include <arb.h>
#include <flint/fmpq.h>

#include <cellar/mechanism.h>

/* Of one pair of counts, [0] with P that of the smaller one and [1] of the larger. */
typedef struct cellar_quick {
    double delta[2], violation[2];
    double rest;    /* no less than the part of these that is for numbers not looked at */
    double numbers; /* how many it took */
} cellar_quick;

#define CELLAR_FILL_LEAST 1e-285

typedef struct cellar_facts {
    /* Optional. 1: all P(. | count) live on intervals, and P(b | a+s) / P(b | a) does not decrease
     * in b over the two supports taken together, for every a >= 0 and s > 0. */
    int (*is_monotone)(const cellar_mechanism *m);

    /* Optional. ln P(released | count) / P(released | neighbour), both positive, when it is known
     * to be the rational `out`; 0 when it is not. Ties with a rational epsilon are then decided. */
    int (*log_ratio)(const cellar_mechanism *m, int64_t count, int64_t neighbour, int64_t released,
                     fmpq_t out);

    /* Optional. 1: that logarithm is the same for all b up to the smaller of the two counts, and
     * for all b from the larger one on. */
    int (*has_flat_ends)(const cellar_mechanism *m);

    /* Optional. Encloses the supremum of |ln P(b | a) / P(b | a')| over all b and all counts with
     * |a - a'| <= shift and answers 1, or answers 0: there is none. */
    int (*pure)(const cellar_mechanism *m, int64_t shift, int64_t bits, arb_t out);
    /* Optional. The same number when it is rational. */
    int (*pure_rational)(const cellar_mechanism *m, int64_t shift, fmpq_t out);

    /* Optional. A bound on sum_b max(0, P(b | a) - e^epsilon P(b | a')), epsilon >= 0, that holds
     * for both orders of all pairs with |a - a'| = shift and both counts at least `from`. Must
     * not increase in `from`. Its upper end is what counts. */
    void (*tail)(const cellar_mechanism *m, int64_t from, int64_t shift, const arb_t epsilon,
                 int64_t bits, arb_t out);

    /* Optional. The same for P(ln P(b | a) / P(b | a') > epsilon), b drawn from the law of a. */
    void (*exceeds)(const cellar_mechanism *m, int64_t from, int64_t shift, const arb_t epsilon,
                    int64_t bits, arb_t out);

    /* Optional. P(b + *period | a + *period) = P(b | a) for every a >= *from. */
    int (*period)(const cellar_mechanism *m, int64_t *from, int64_t *period);

    /* Optional. All released numbers are multiples of it [1]. */
    int64_t (*step)(const cellar_mechanism *m);

    /* Optional. A rho for which the mechanism is rho-zero-concentrated differentially private when
     * one cell changes by at most `shift`. */
    int (*rho)(const cellar_mechanism *m, int64_t shift, fmpq_t out);

    /* Optional. 1: the pair of counts (from, from + shift) dominates every pair of larger counts,
     * in both orders: each is a post-processing of it. */
    int (*is_ordered)(const cellar_mechanism *m);

    /* Optional. 1: ratios are monotone, the mean of P(. | count) is count plus something fixed, and
     * for every b >= 0 ln P(b | count) is a concave function of the logarithm of the mean, of all
     * means there could be and not only those of counts. Then P(b | a + s) / P(b | a) does not
     * increase in a where it is at least 1, and its logarithm divided by ln(1 + s/mean) does not
     * increase in a either (facts_mixed.c): delta_p is then bounded for many counts at once. */
    int (*is_concave)(const cellar_mechanism *m);

    /* Optional, of ordered kernels. Bounds sum_b max(0, P(b) - e^epsilon Q(b)), epsilon >= 0, of
     * the pair (from, from + shift), P that of the larger count or of the smaller one: close where
     * the numbers of which it is made are large and spread widely. It does not increase in `from`.
     * Answers 0 where it would take too long. */
    int (*mixing)(const cellar_mechanism *m, int64_t from, int64_t shift, int larger,
                  const arb_t epsilon, arb_t out);

    /* Optional, of concave kernels. The sign of b - mean(count), exactly. One that says it has the
     * properties "along the diagonal" of facts_kernels.c. */
    int (*side)(const cellar_mechanism *m, int64_t count, int64_t b);

    /* Optional, where is_ordered() is not said: 1 when delta(epsilon) of no pair of counts at least
     * `from` that differ by `least` .. shift exceeds that of (from, from + shift), in both orders;
     * and then for all larger epsilon. *steps is the work that may be done, some 10 ns each, and
     * what is left of it. */
    int (*is_ordered_at)(const cellar_mechanism *m, int64_t from, int64_t least, int64_t shift,
                         double epsilon, double *steps);

    /* Optional, with is_ordered_at() and tail(). Bounds delta and delta_p of the pair
     * (count, count + shift) from above, in doubles and closely; `enough` tells of which size they
     * matter, and 0 that the largest of them does whatever it is. Answers 0 where that takes more
     * than `numbers` released numbers. */
    int (*quick)(const cellar_mechanism *m, int64_t count, int64_t shift, double epsilon,
                 double enough, double numbers, cellar_quick *out);

    /* Optional, of monotone kernels that give all of 0, 1, ... to every count. Bounds delta, or
     * delta_p, of all pairs (count, count + shift), first <= count <= last, from above, in doubles:
     * both[0] where P is that of the smaller count and both[1] of the larger. Closely when first =
     * last, unless `enough` is more than both; last = INT64_MAX bounds all from the first on, and
     * no more the later that is. Answers how much work it was, in about 0.4 us, however many there
     * are. */
    int (*spans)(const cellar_mechanism *m, int is_delta, int64_t first, int64_t last,
                 int64_t shift, double epsilon, double enough, double both[2]);

    /* Optional, of kernels with flat ends. Of the n pairs of counts from (first, first + shift) on,
     * shift + 1 numbers for each of the two laws, the pairs in turn: P of all up to the smaller
     * count, of each number between, and of all from the larger one on; within 2^-49 of the truth.
     * Answers 0 where that is too much for doubles. */
    int (*shares)(const cellar_mechanism *m, int64_t first, size_t n, int64_t shift, double *out);

    /* Optional, of concave kernels. Bounds delta_p of all pairs whose smaller count is one of first
     * .. last as supremum_blocks.c does, in doubles, and closely where there is one of them, if it
     * is not far below `enough`. Answers 0 where that takes more than `numbers` released numbers.
     */
    int (*block)(const cellar_mechanism *m, int64_t first, int64_t last, int64_t shift,
                 double epsilon, double enough, double numbers, cellar_quick *out);

    /* Optional. P(b | count) of b = first .. first + n - 1 in doubles, each right to *error of
     * itself, but 0 where it is below CELLAR_FILL_LEAST; answers no less than P of all others. */
    double (*fill)(const cellar_mechanism *m, int64_t count, int64_t first, size_t n, double *out,
                   double *error);

    /* Optional, with fill(). A number beyond which P(. | count) has no more than `tail`, or not
     * much more: what fill() says of it is proved. */
    double (*length)(const cellar_mechanism *m, int64_t count, double tail);

    /* Optional, where balls take long. ln P(b | count) / P(b | neighbour) in doubles, off by no
     * more than *error; some 10 ns for each number up to b. */
    double (*loss)(const cellar_mechanism *m, int64_t count, int64_t neighbour, int64_t b,
                   double *error);

    /* Optional. 1: the pair (from, from + s_1 + ... + s_n) dominates n independent cells that
     * change by s_1, ..., s_n from counts of at least `from`: spreading a change hides it better.
     */
    int (*is_spread)(const cellar_mechanism *m);
} cellar_facts;

/* 1 where that is proved of the mechanism; of one without facts nothing is. */
int cellar_facts_monotone(const cellar_mechanism *m);
int cellar_facts_ordered(const cellar_mechanism *m);
int cellar_facts_flat(const cellar_mechanism *m); /* has_flat_ends */

/* Additive noise with a log-concave law: the ratio q(k - s) / q(k) is then monotone, which is what
 * log-concavity says, and nothing depends on the count. All registered noise is log-concave:
 * rounding is the convolution with a uniform law, read on the integers, and keeps it so
 * (Prekopa 1973). */
extern const cellar_facts cellar_additive_facts;
/* Continuous Gaussian noise, rounded. */
extern const cellar_facts cellar_gaussian_facts;
/* The same where q(k) is proportional to e^{-rate |k|}, for k != 0 at least. */
extern const cellar_facts cellar_geometric_facts;
/* The same where q(k) is proportional to e^{-rate |k|^power} on its support. */
extern const cellar_facts cellar_weighted_facts;

/* Synthetic counts: see facts_kernels.c and facts_mixed.c. */
extern const cellar_facts cellar_poisson_facts;
extern const cellar_facts cellar_negbin_facts;
extern const cellar_facts cellar_sichel_facts; /* and Poisson-inverse Gaussian */
extern const cellar_facts cellar_delaporte_facts;
extern const cellar_facts cellar_hellinger_facts;

#endif
