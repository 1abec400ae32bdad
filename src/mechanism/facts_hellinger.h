/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about Hellinger counts: the parts of cellar_hellinger_facts. */
#ifndef CELLAR_MECHANISM_FACTS_HELLINGER_H
#define CELLAR_MECHANISM_FACTS_HELLINGER_H

#include "mechanism/facts.h"

/* The slot `spans`. */
int cellar_hellinger_spans(const cellar_mechanism *m, int is_delta, int64_t first, int64_t last,
                           int64_t shift, double epsilon, double enough, double both[2]);

/* The slot `shares`. */
int cellar_hellinger_shares(const cellar_mechanism *m, int64_t first, size_t n, int64_t shift,
                            double *out);

/* No less than the largest |loss| of the pairs (a, a + shift), first <= a <= last; last may be
 * INT64_MAX. */
double cellar_hellinger_largest_loss(const cellar_mechanism *m, int64_t first, int64_t last,
                                     int64_t shift);

#endif
