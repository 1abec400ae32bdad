/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worst of all neighbouring counts: a proven supremum over infinitely many. */
#ifndef CELLAR_PRIVACY_SUPREMUM_H
#define CELLAR_PRIVACY_SUPREMUM_H

#include "privacy/pair.h"

/* Which pairs of counts are neighbours, and what is released of them. */
typedef struct cellar_reach {
    const cellar_mechanism *m;
    int64_t shift;    /* by how much a unit changes one cell */
    int64_t smallest; /* no count is below; 0 unless the data are known */
    cellar_negatives negatives;
    double enough; /* what is no larger need not be found: it is answered in its place [0] */
    double size;   /* of which size bounds matter, of a search that asks for many [0: any] */
    cellar_pair_cache *cache; /* of the caller, or NULL */
} cellar_reach;

/* A proven upper bound and where it is taken. */
typedef struct cellar_worst {
    double bound;  /* rounded up; at most 1 for probabilities */
    int64_t count; /* of the law drawn from */
    int64_t neighbour;
    int everywhere;  /* 1: the same for every count */
    int is_proved;   /* 0: nothing is known of large counts, and the bound is trivial */
    int is_attained; /* 0: the bound for large counts exceeds all counts looked at, or the
                      * worst case is a limit */
    double least;    /* then: no more than what some pair has, or 0 where none is known */
} cellar_worst;

/* 1 when every pair of counts is like one of the first *n_counts smaller counts'. */
int cellar_reach_period(const cellar_reach *reach, int64_t *n_counts);

/* The supremum of sum_b max(0, P(b) - e^epsilon Q(b)) over both orders of all neighbours. */
void cellar_supremum_delta(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *out);
/* A bound of it that looks at no pair: of mechanisms with a bound for large counts that is good
 * from the first count on, which cellar_reach_is_wide() implies. It covers all smaller shifts. */
double cellar_supremum_bound(const cellar_reach *reach, const fmpq_t epsilon);
/* The same by moments alone, of mechanisms with the fact `tail` (facts.h). */
double cellar_supremum_tail(const cellar_reach *reach, const fmpq_t epsilon);
/* 1 when it is proved that no pair of counts, of this shift and smaller ones, has a larger delta at
 * epsilon, and at larger ones, than the first: of mechanisms with the fact `is_ordered_at`. */
int cellar_supremum_is_ordered(const cellar_reach *reach, double epsilon);
/* 1 when it is quickly known that delta, or delta_p, exceeds `bound` for no pair of counts. */
int cellar_supremum_is_covered(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                               double bound);
/* 1 and delta or delta_p over all shifts from 1 to this one, where shifts tell of each other; 0
 * where they are to be asked one by one. */
int cellar_supremum_to(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                       cellar_worst *worst);
/* 1 when a pair of which so small a delta is asked takes too long, for its sums go over very many
 * numbers, and that bound is the answer. */
int cellar_reach_is_wide(const cellar_reach *reach, double delta);
/* About where delta(epsilon) of the worst pair is `delta`, and that pair, as far as doubles tell; 0
 * where they do not, or where it is so at every epsilon. */
double cellar_supremum_about(const cellar_reach *reach, double delta, cellar_worst *at);
/* The supremum of P(|ln P(b)/Q(b)| > epsilon). */
void cellar_supremum_violation(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *out);
/* The same over all shifts from 1 to this one, of additive noise with monotone ratios. */
void cellar_supremum_violation_to(const cellar_reach *reach, const fmpq_t epsilon,
                                  cellar_worst *worst);
/* The supremum of P(Q(b) = 0). */
void cellar_supremum_infinite(const cellar_reach *reach, cellar_worst *out);

/* The smallest epsilon with delta 0, rounded up: 1, or 0 when there is none (or none is known).
 * *exact tells whether `rational` holds it exactly. */
int cellar_supremum_pure(const cellar_reach *reach, double *epsilon, int *exact, fmpq_t rational);

#endif
