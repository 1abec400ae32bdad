/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worst of all neighbouring counts of one cell: a proven supremum over infinitely many. */
#ifndef CELLAR_PRIVACY_WORST_H
#define CELLAR_PRIVACY_WORST_H

#include "privacy/pair.h"

/* A true value lies between the two. */
typedef struct cellar_bounds {
    double lower, upper;
} cellar_bounds;

/* One cell whose count a unit changes by 1 .. shift. */
typedef struct cellar_one_cell {
    const cellar_mechanism *m;
    int64_t shift;
    int64_t smallest; /* no count is below; 0 unless the data are known */
    cellar_negatives negatives;
    double work_max; /* of one question, in steps (math/work.h), before a bound stands for all
                      * counts that were not measured */
    cellar_distribution at[2]; /* of the pair measured last: the smaller and the larger count */
    int has_pair;
    cellar_noise_table noise; /* of additive noise */
} cellar_one_cell;

/* Keeps `m`. `effort` multiplies the usual work; 0: no limit. */
void cellar_one_cell_init(cellar_one_cell *cell, const cellar_mechanism *m, int64_t shift,
                          int64_t smallest, cellar_negatives negatives, double effort);
void cellar_one_cell_clear(cellar_one_cell *cell); /* {0} is fine */

/* The pair of counts (smaller, smaller + shift), P that of the larger count or of the smaller one.
 * Valid until the next call that takes this cell. */
cellar_pair cellar_one_cell_pair(cellar_one_cell *cell, int64_t smaller, int64_t shift,
                                 int larger_is_p, cellar_negatives negatives);

/* 1: noise that depends on no count, the same in both orders. */
int cellar_one_cell_is_noise(const cellar_one_cell *cell);
/* 1: the pair (smallest, smallest + shift) dominates all others, in both orders. */
int cellar_one_cell_has_first(const cellar_one_cell *cell);

/* A supremum between two numbers, and where it is taken. They are equal but for rounding when all
 * counts are settled, and `upper` is a bound for the counts that were not looked at when not. */
typedef struct cellar_worst {
    double upper, lower;
    int64_t count, neighbour; /* P is that of `count` */
    int everywhere;           /* 1: the same for every count */
    int is_proved;            /* 0: nothing is known of large counts, and `upper` is trivial */
} cellar_worst;

/* Of delta(epsilon), of P(|loss| > epsilon), and of the mass of infinite loss. */
void cellar_worst_delta(cellar_one_cell *cell, const fmpq_t epsilon, cellar_worst *out);
void cellar_worst_violation(cellar_one_cell *cell, const fmpq_t epsilon, cellar_worst *out);
void cellar_worst_infinite(cellar_one_cell *cell, cellar_worst *out);

/* The smallest epsilon with delta(epsilon) <= delta, delta > 0; upper is INFINITY when none has. */
cellar_bounds cellar_worst_epsilon(cellar_one_cell *cell, double delta);

/* The smallest epsilon with delta(epsilon) = 0, rounded up, or INFINITY; `exact` gets it and
 * *is_exact is 1 when it is known to be rational. */
double cellar_worst_pure(cellar_one_cell *cell, int *is_exact, fmpq_t exact);

/* A bound on P(|loss| > epsilon) from one on delta at epsilon' < epsilon, which holds for any
 * distributions: where the loss exceeds epsilon, P - e^epsilon' Q >= (1 - e^{epsilon' - epsilon})
 * P; and P(loss < -epsilon) <= e^-epsilon Q(-loss > epsilon), bounded likewise. */
double cellar_violation_from_delta(double delta, double smaller, double epsilon);

/* delta_p of additive noise (worst_noise.c). */
void cellar_worst_noise_violation(cellar_one_cell *cell, const fmpq_t epsilon, cellar_worst *out);

/* ---- shared by worst*.c and envelope.c ---- */

/* The smallest shift that must be measured for delta: where ratios are monotone the largest one is
 * worse than all others. */
int64_t cellar_one_cell_least_shift(const cellar_one_cell *cell);
/* 1: the mechanism bounds delta for all counts from one on; and that bound. */
int cellar_one_cell_has_bound(const cellar_one_cell *cell);
double cellar_one_cell_bound(const cellar_one_cell *cell, int64_t from, double epsilon);
/* Rows that repeat, shifted: every pair is like one of the first, and *end is the first count whose
 * pair is like another. Clamping breaks the repetition where negative values are possible, so as
 * many more rows are looked at. 0 when there are no such rows, or more than may be measured. */
int cellar_one_cell_repeats(const cellar_one_cell *cell, int64_t *end);

/* Counts that are measured one by one, from the smallest on. */
typedef struct cellar_count_search {
    const cellar_one_cell *cell;
    int64_t count, end, next;
    int is_finite;     /* rows repeat: all counts before `end` are measured */
    double work_start; /* done before it began */
} cellar_count_search;

cellar_count_search cellar_count_search_start(const cellar_one_cell *cell);
/* 1 when all counts that differ were measured. */
int cellar_count_search_is_done(const cellar_count_search *search);
/* 1 after 1, 2, 4, ... counts, and when the work is used up: time to look at the large-count bound.
 */
int cellar_count_search_is_due(cellar_count_search *search);
int cellar_count_search_is_used_up(const cellar_count_search *search);

typedef void (*cellar_pair_measure)(const cellar_pair *pair, const fmpq_t epsilon, arb_t out);
void cellar_pair_measure_infinite(const cellar_pair *pair, const fmpq_t epsilon, arb_t out);
/* Measures a pair and keeps it when it is the worst so far. */
void cellar_worst_measure(const cellar_pair *pair, cellar_pair_measure measure,
                          const fmpq_t epsilon, cellar_worst *worst);

#endif
