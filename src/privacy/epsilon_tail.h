/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What logarithms of the probabilities of a kernel say at once about the epsilon of a pair of
 * counts whose losses rise with the number. */
#ifndef CELLAR_PRIVACY_EPSILON_TAIL_H
#define CELLAR_PRIVACY_EPSILON_TAIL_H

#include "mechanism/mechanism.h"

/* About the epsilon of `larger` against `smaller` at a small delta, to begin a search with; 1 where
 * that is not seen. */
double cellar_epsilon_tail_about(const cellar_mechanism *m, int64_t larger, int64_t smaller,
                                 double delta);

/* An epsilon that is enough for these two in both orders, if not the smallest: the loss at a number
 * beyond which the larger count has no more than delta, or that of the smaller one at 0, its
 * largest. Logarithms are long doubles, and there is room for their errors. INFINITY: none. */
double cellar_epsilon_tail_enough(const cellar_mechanism *m, int64_t larger, int64_t smaller,
                                  double delta);

/* A delta that is enough in both orders: what the larger count has from the first number on whose
 * loss is above epsilon; 1 where the smaller one exceeds epsilon at 0. */
double cellar_epsilon_tail_delta(const cellar_mechanism *m, int64_t larger, int64_t smaller,
                                 double epsilon);

#endif
