/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about Delaporte counts with sigma > 1, whose likelihood ratios are not monotone.
 */
#ifndef CELLAR_MECHANISM_FACTS_DELAPORTE_H
#define CELLAR_MECHANISM_FACTS_DELAPORTE_H

#include "mechanism/facts.h"

/* 1: of all pairs of counts from `from` on that differ by `least` .. shift the first has the
 * largest delta(epsilon), in both orders. 0: that is not proved. *steps is the work that may be
 * done, some 10 ns each, and what is left of it. */
int cellar_delaporte_is_ordered_at(const cellar_mechanism *m, int64_t from, int64_t least,
                                   int64_t shift, double epsilon, double *steps);

/* No less than delta(epsilon) of all pairs of counts from `from` on that differ by up to the shift,
 * in both orders: that of the first, if the Poisson and the negative binomial part were told one by
 * one. 1 where that is more work than it is worth. */
double cellar_delaporte_told_apart(const cellar_mechanism *m, int64_t from, int64_t shift,
                                   double epsilon);

/* The slot `quick`. */
int cellar_delaporte_quick(const cellar_mechanism *m, int64_t count, int64_t shift, double epsilon,
                           double enough, double numbers, cellar_quick *out);

#endif
