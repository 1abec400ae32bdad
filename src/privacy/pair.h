/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two neighbouring counts and the laws of what is released for each: how far apart they are, as
 * enclosures. P is the law of the first count, Q of the second; the other order is another pair. */
#ifndef CELLAR_PRIVACY_PAIR_H
#define CELLAR_PRIVACY_PAIR_H

#include <arb.h>
#include <flint/fmpq.h>

#include "mechanism/mechanism.h"
#include "privacy/pair_cache.h"

/* Precision at which a comparison that is still open counts as a violation. */
enum { CELLAR_PAIR_BITS = 128, CELLAR_PAIR_BITS_MAX = 4096 };
/* Bits that a sum term by term is right to, unless it is too small, or its numbers are too many. */
enum { CELLAR_PAIR_ACCURACY = 40 };

typedef struct cellar_pair {
    const cellar_mechanism *m;
    int64_t count[2];
    int clamped;              /* released numbers below zero are released as zero */
    int64_t step;             /* released numbers are multiples of it */
    int monotone;             /* the likelihood ratio is monotone in the released number */
    int wide;                 /* upper tails take some time (pair_cache.h) */
    int flat;                 /* and the same up to the smaller count, and from the larger one on */
    int64_t low[2], high[2];  /* supports; INT64_MIN and INT64_MAX are unbounded */
    cellar_pair_cache *cache; /* of the caller, or NULL */
} cellar_pair;

void cellar_pair_init(cellar_pair *pair, const cellar_mechanism *m, int64_t count,
                      int64_t neighbour, cellar_negatives negatives);

/* 1 when that number lies between the ends of a side's support. */
int cellar_pair_in_support(const cellar_pair *pair, int side, int64_t b);

/* Enclosures of P(B = b), P(B >= b), P(B <= b); side 0 is P, side 1 is Q. */
void cellar_pair_pmf(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out);
void cellar_pair_upper(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out);
void cellar_pair_lower(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out);

typedef enum cellar_order {
    CELLAR_ORDER_BELOW = -1, /* the loss is smaller than epsilon */
    CELLAR_ORDER_TIE = 0,    /* equal, proved */
    CELLAR_ORDER_ABOVE = 1,
    CELLAR_ORDER_OPEN = 2 /* CELLAR_PAIR_BITS_MAX bits do not tell */
} cellar_order;

/* Compares the loss ln P(b)/Q(b) with epsilon. Infinite loss is above everything; where P(b) = 0
 * it is below. */
cellar_order cellar_pair_compare(const cellar_pair *pair, int64_t b, const fmpq_t epsilon);

/* Encloses sum_b max(0, P(b) - e^epsilon Q(b)), epsilon >= 0: by the likelihood ratio's threshold
 * when the pair is monotone, term by term when it is not. */
void cellar_pair_delta(const cellar_pair *pair, const fmpq_t epsilon, arb_t out);
/* The same term by term over all but `tail` of the mass of P, whatever is known of the pair. */
void cellar_pair_delta_by_sum(const cellar_pair *pair, const fmpq_t epsilon, double tail,
                              int64_t bits, arb_t out);

/* Encloses P(|ln P(b)/Q(b)| > epsilon), b drawn from P; open comparisons count. */
void cellar_pair_violation(const cellar_pair *pair, const fmpq_t epsilon, arb_t out);
void cellar_pair_violation_by_sum(const cellar_pair *pair, const fmpq_t epsilon, double tail,
                                  int64_t bits, arb_t out);

/* Of a monotone pair: the smallest x such that losses at b exceed epsilon for all b >= x where the
 * first count is the larger one, and for all -b >= x where it is the smaller; beyond the support,
 * or very large, when they never do. Open comparisons count as violations. It is looked for near a
 * number. */
int64_t cellar_pair_threshold(const cellar_pair *pair, const fmpq_t epsilon, int64_t near);
/* What a side has from that x on: P(B >= x), or P(B <= -x) where losses fall. */
void cellar_pair_beyond(const cellar_pair *pair, int side, int64_t x, int64_t bits, arb_t out);
/* cellar_pair_violation() from that x of the pair, and that of the pair with its laws exchanged. */
void cellar_pair_violation_beyond(const cellar_pair *pair, int64_t above, int64_t below, arb_t out);

/* Of a monotone pair: epsilon for a delta > 0, between two numbers that hardly differ. delta is
 * exceeded below the first, and not at the second. It is looked for near `about`. 0: not found. */
int cellar_pair_epsilon(const cellar_pair *pair, double delta, double about, double *lower,
                        double *upper);

/* Both by double-words, leaving out numbers of P less likely than 2^-bits; 0 where there are none.
 * `violates` decides what they leave open. */
int cellar_pair_delta_by_words(const cellar_pair *pair, const fmpq_t epsilon, int bits, arb_t out);
int cellar_pair_violation_by_words(const cellar_pair *pair, const fmpq_t epsilon, int bits,
                                   int (*violates)(const cellar_pair *, int64_t, const fmpq_t),
                                   arb_t out);

/* Encloses P(Q(b) = 0), b drawn from P. */
void cellar_pair_infinite(const cellar_pair *pair, int64_t bits, arb_t out);

/* An upper bound on |loss| over a finite support, 0 when some loss is infinite. Both supports must
 * be finite. */
int cellar_pair_largest_loss(const cellar_pair *pair, int64_t bits, arb_t out);

#endif
