/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of d^k e^{-rate |d|}, d = sqrt b - sqrt a, over the integers, by the Euler-Maclaurin
 * formula: in long doubles for the distribution, in balls for proofs. */
#ifndef CELLAR_MECHANISM_KERNELS_HELLINGER_SUMS_H
#define CELLAR_MECHANISM_KERNELS_HELLINGER_SUMS_H

#include "math/flint.h"

enum { CELLAR_HELLINGER_POWERS = 5 };

/* sums[k] = sum_{b >= n} d^k e^{-rate d}, d = sqrt b - root >= 0, k < n_sums; root is the square
 * root of a whole number. */
void cellar_hellinger_above(long double rate, long double root, int64_t n, int n_sums,
                            long double *sums);
/* sums[k] = sum_{b = 0}^{n} d^k e^{rate d}, d <= 0; 0 for n < 0. */
void cellar_hellinger_below(long double rate, long double root, int64_t n, int n_sums,
                            long double *sums);

/* Both sides of a count, sum_{b < count} e^{-rate (sqrt count - sqrt b)} and sum_{b >= count}
 * e^{-rate (sqrt b - sqrt count)}, quickly, where count >= 2^16 (1 + rate^2) and rate sqrt(count)
 * is no less than 1/8. `low` is cellar_hellinger_low(rate): what does not depend on the count. */
long double cellar_hellinger_low(long double rate);
void cellar_hellinger_far(long double rate, long double low, int64_t count, long double *below,
                          long double *above);

/* Enclosures of sum_{b >= n} e^{-rate sqrt b} and of sum_{b = 0}^{n} e^{rate sqrt b}. */
void cellar_hellinger_above_ball(const arb_t rate, int64_t n, int64_t bits, arb_t out);
void cellar_hellinger_below_ball(const arb_t rate, int64_t n, int64_t bits, arb_t out);

/* What does not depend on n in these, remembered from one n to the next. */
typedef struct cellar_hellinger_start {
    int64_t bits, sum_bits; /* 0: nothing */
    arb_ptr bernoulli;      /* B_2j / (2j), 1 <= j <= n_terms + 1 */
    size_t n_terms;
    arb_t sum, remainder; /* of the second at its lower end */
} cellar_hellinger_start;

void cellar_hellinger_start_init(cellar_hellinger_start *start);
void cellar_hellinger_start_clear(cellar_hellinger_start *start);
/* The same as above, always with the same rate. */
void cellar_hellinger_above_from(cellar_hellinger_start *start, const arb_t rate, int64_t n,
                                 int64_t bits, arb_t out);
void cellar_hellinger_below_from(cellar_hellinger_start *start, const arb_t rate, int64_t n,
                                 int64_t bits, arb_t out);

#endif
