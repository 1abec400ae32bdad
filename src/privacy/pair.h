/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two neighbouring counts and the distributions of what is released for each: how far apart they
 * are, as enclosures. The other order of the two is another pair. */
#ifndef CELLAR_PRIVACY_PAIR_H
#define CELLAR_PRIVACY_PAIR_H

#include "math/flint.h"
#include "privacy/distribution.h"

/* The first precision, and the one at which a comparison that is still open counts as a violation.
 */
enum { CELLAR_PAIR_BITS = 128, CELLAR_PAIR_BITS_MAX = 4096 };

typedef struct cellar_pair {
    cellar_distribution *p, *q; /* of the caller; of the same mechanism and different counts */
    int64_t step;               /* released values are multiples of it */
    int64_t low, high;          /* P of a kernel has about 1e-320 outside: not looked at */
    int is_monotone;            /* the likelihood ratio is monotone in the released value, */
    int is_flat;                /* and constant up to the smaller count less flat_margin, */
    int64_t flat_margin;        /* and from the larger count plus flat_margin on */
    double enough;              /* a measure that is no larger need not be enclosed closely [0] */
} cellar_pair;

void cellar_pair_init(cellar_pair *pair, cellar_distribution *p, cellar_distribution *q);
/* The pair with P and Q exchanged. */
cellar_pair cellar_pair_swapped(const cellar_pair *pair);

typedef enum cellar_order {
    CELLAR_ORDER_BELOW = -1, /* the loss is smaller than epsilon */
    CELLAR_ORDER_TIE = 0,    /* equal, proved */
    CELLAR_ORDER_ABOVE = 1,
    CELLAR_ORDER_OPEN = 2 /* CELLAR_PAIR_BITS_MAX bits do not decide, or the work is used up */
} cellar_order;

/* Compares the loss ln P(b)/Q(b) with epsilon. Infinite loss is above everything; where P(b) = 0
 * it is below. */
cellar_order cellar_pair_compare(const cellar_pair *pair, int64_t b, const fmpq_t epsilon);
/* 1 and ln P(b)/Q(b) when it is known to be rational. */
int cellar_pair_log_ratio(const cellar_pair *pair, int64_t b, fmpq_t out);

/* Encloses sum_b max(0, P(b) - e^epsilon Q(b)), epsilon >= 0: by the likelihood ratio's threshold
 * when the pair is monotone, value by value when it is not. */
void cellar_pair_delta(const cellar_pair *pair, const fmpq_t epsilon, arb_t out);
/* The same value by value over all but `tail` of the mass of P, whatever is known of the pair: with
 * more than CELLAR_PAIR_BITS it reads balls only, the second computation that certificates are
 * checked with. */
void cellar_pair_delta_by_sum(const cellar_pair *pair, const fmpq_t epsilon, double tail,
                              int64_t bits, arb_t out);

/* Encloses P(|ln P(b)/Q(b)| > epsilon), b drawn from P; open comparisons count. */
void cellar_pair_violation(const cellar_pair *pair, const fmpq_t epsilon, arb_t out);

/* Encloses P(Q(b) = 0), b drawn from P. */
void cellar_pair_infinite(const cellar_pair *pair, arb_t out);

/* 1 and the largest |loss| over a finite support; 0 when some loss is infinite, or the support. */
int cellar_pair_largest_loss(const cellar_pair *pair, arb_t out);

/* Of a monotone pair: the smallest x such that losses at b exceed epsilon for all b >= x where the
 * first count is the larger one, and for all -b >= x where it is the smaller; one beyond
 * cellar_pair_end() when none does that is looked at. Open comparisons count as violations. The
 * search begins at `near`. */
int64_t cellar_pair_threshold(const cellar_pair *pair, const fmpq_t epsilon, int64_t near);
int64_t cellar_pair_end(const cellar_pair *pair);
/* What a distribution has from that x on: P(B >= x), or P(B <= -x) where losses fall. */
void cellar_pair_beyond(const cellar_pair *pair, cellar_distribution *side, int64_t x, int64_t bits,
                        arb_t out);

/* Of a monotone pair: epsilon for a delta > 0, between two numbers that hardly differ. delta is
 * exceeded below the first, and not at the second. The search begins at `about`. 0: not found. */
int cellar_pair_epsilon(const cellar_pair *pair, double delta, double about, double *lower,
                        double *upper);

#endif
