/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the searches for a worst pair of counts share. Included by supremum*.c and nothing else. */
#ifndef CELLAR_PRIVACY_SUPREMUM_PART_H
#define CELLAR_PRIVACY_SUPREMUM_PART_H

#include "math/ball.h"
#include "privacy/supremum.h"

/* What is maximised. */
typedef void (*pair_measure)(const cellar_pair *pair, const fmpq_t epsilon, arb_t out);

/* A probability rounded up to a double, at most 1; 1 when nothing is known. */
static inline double bound_of(const arb_t ball)
{
    double upper = arb_is_finite(ball) ? cellar_ball_upper(ball) : 1;
    return upper < 1 ? upper < 0 ? 0 : upper : 1;
}

static inline void reach_pair(const cellar_reach *reach, cellar_pair *pair, int64_t count,
                              int64_t neighbour)
{
    cellar_pair_init(pair, reach->m, count, neighbour, reach->negatives);
    pair->cache = reach->cache;
}

static inline cellar_worst worst_start(const cellar_reach *reach)
{
    return (cellar_worst){.bound = reach->enough > 0 ? reach->enough : -1,
                          .count = reach->smallest + reach->shift,
                          .neighbour = reach->smallest,
                          .is_proved = 1,
                          .is_attained = 1};
}

/* Measures a pair and keeps it when it is the worst so far. */
static inline void worst_measure(const cellar_pair *pair, pair_measure measure,
                                 const fmpq_t epsilon, cellar_worst *worst)
{
    double bound;
    arb_t value;
    arb_init(value);
    measure(pair, epsilon, value);
    bound = bound_of(value);
    if (bound > worst->bound) {
        worst->bound = bound;
        worst->count = pair->count[0];
        worst->neighbour = pair->count[1];
    }
    arb_clear(value);
}

/* 1 when epsilon is at least the pure one: there is then nothing beyond it. */
int cellar_reach_is_pure_at(const cellar_reach *reach, const fmpq_t epsilon);

/* 1: it is known what counts are drawn from (facts.h, `mixing`), and the first pair dominates. */
int cellar_reach_has_mixing(const cellar_reach *reach);
/* Bounds delta of all pairs of counts >= from by that; attained where few numbers tell the worst
 * order of the first. 0 where it is not known, or takes too long. */
int cellar_mixing_worst(const cellar_reach *reach, int64_t from, const fmpq_t epsilon,
                        cellar_worst *worst);

/* Kernels whose first pair dominates all others. 1: so many numbers matter that double-words take
 * long, and there are doubles. */
int cellar_first_is_wide(const cellar_reach *reach);
/* 1 and its delta by doubles, where its laws are wide, far, or it is too small for double-words. */
int cellar_first_by_doubles(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *out);
/* Its delta, measured. */
void cellar_first_worst(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *worst);

/* Additive noise: the worst of all pairs for a measure that clamping does not increase, and
 * delta_p, which needs monotone ratios where negatives are set to zero. */
void cellar_noise_worst(const cellar_reach *reach, pair_measure measure, const fmpq_t epsilon,
                        cellar_worst *worst);
void cellar_noise_violation(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *worst);

/* Bounds delta_p of all pairs of counts from one on; no better than `enough` is needed. */
double cellar_rest_violation(const cellar_reach *reach, int64_t from, const fmpq_t epsilon,
                             double enough);
/* delta_p of kernels that are concave (facts.h), by blocks of counts. */
void cellar_blocks_violation(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *worst);

/* delta or delta_p of kernels with the fact `quick` (facts.h). */
void cellar_quick_worst(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                        cellar_worst *worst);
/* The same over all shifts from 1 to this one. */
void cellar_quick_worst_to(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                           cellar_worst *worst);
/* A bound of delta that looks at no pair in particular, of all these shifts too. */
double cellar_quick_bound(const cellar_reach *reach, const fmpq_t epsilon);

/* delta or delta_p of kernels with the fact `spans` (facts.h), and whether none exceeds `bound`. */
int cellar_spans_exist(const cellar_mechanism *m);
void cellar_spans_worst(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                        cellar_worst *worst);
int cellar_spans_are_covered(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                             double bound);

#endif
