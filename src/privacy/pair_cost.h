/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What it takes to know a law, in about microseconds (work.h), and when that is too much. */
#ifndef CELLAR_PRIVACY_PAIR_COST_H
#define CELLAR_PRIVACY_PAIR_COST_H

#include "mechanism/mechanism.h"

/* Laws that take more numbers than this to fall by a factor e are wide, and sums over those that
 * take more still too long. */
enum { CELLAR_PAIR_FALL_WIDE = 500, CELLAR_PAIR_FALL_LONG = 12000 };
/* Of one number of a law in double-words, kept or only summed, and of one of a row of balls. */
#define CELLAR_PAIR_WORD_COST 0.05
#define CELLAR_PAIR_SUM_COST 0.035
#define CELLAR_PAIR_ROW_COST 0.5

/* Rows of double-words go on to numbers less likely than 2 to minus these, one after another. */
enum { CELLAR_PAIR_LENGTHS = 3 };
extern const int cellar_pair_lengths[CELLAR_PAIR_LENGTHS];

/* How many numbers it takes P to fall by a factor e far out; 0 where that is few or not known. */
double cellar_pair_fall(const cellar_mechanism *m, int64_t count);

/* About what it takes to enclose P(B = b | count), and P(B > b | count), anew. */
double cellar_pair_pmf_cost(const cellar_mechanism *m);
double cellar_pair_upper_cost(const cellar_mechanism *m, int64_t count);

/* 1 when P(> b | count) is too small for any double. */
int cellar_pair_tail_is_nothing(const cellar_mechanism *m, int64_t count, int64_t b);
/* 1 when P(>= b | count) takes too long: the law falls so slowly that its tail cannot be summed,
 * and what lies below b does not tell it either. */
int cellar_pair_tail_is_long(const cellar_mechanism *m, int64_t count, int64_t b);
/* 1 when that may be; and when tails take some time at least. */
int cellar_pair_law_is_long(const cellar_mechanism *m, int64_t count);
int cellar_pair_law_is_wide(const cellar_mechanism *m, int64_t count);

/* 1 when a tail is what double-words leave below it, and there are not too many of these; and when
 * they are few. */
int cellar_pair_below_tells(const cellar_mechanism *m, int64_t count, int64_t b);
int cellar_pair_tail_is_told(const cellar_mechanism *m, int64_t count, int64_t b);

/* 1 when a tail of about e^log_size of the law of a count, and one of its neighbour that is less by
 * e^-epsilon, are too small for double-words and too far out for balls, or would
 * take more double-words than there is time for: of kernels with the fact `length` (facts.h). */
int cellar_pair_tail_is_far(const cellar_mechanism *m, int64_t count, double log_size,
                            double epsilon, double limit);

/* 1 when numbers of the law of a count cannot be told one by one, and there are so many below them
 * that balls take too long: of kernels with the fact `quick` (facts.h). */
int cellar_pair_is_slow(const cellar_mechanism *m, int64_t count);

#endif
