/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is proved about Delaporte counts, most of it with sigma > 1, where likelihood ratios are not
 * monotone. */
#ifndef CELLAR_MECHANISM_FACTS_DELAPORTE_H
#define CELLAR_MECHANISM_FACTS_DELAPORTE_H

#include "mechanism/facts.h"

/* The parts of one law, and of its neighbours by shifts from `least` to s. */
typedef struct cellar_delaporte_setting {
    double r, nu, k, s, least;
    double mean;      /* of the smaller count */
    double a[2], tau; /* Poisson means for s, and ln of their ratio */
    double a_least;   /* the second of them for `least` */
} cellar_delaporte_setting;

cellar_delaporte_setting cellar_delaporte_setting_of(const cellar_mechanism *m, int64_t from,
                                                     int64_t shift);

/* q and q' where 1/beta = t. */
static inline double cellar_delaporte_share(double t)
{
    return 1 / (1 + t);
}

static inline double cellar_delaporte_next(const cellar_delaporte_setting *d, double t,
                                           double shift)
{
    return 1 / (1 + t / (1 + d->k * shift * t));
}

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

/* The slot `fill`. */
double cellar_delaporte_fill(const cellar_mechanism *m, int64_t count, int64_t first, size_t n,
                             double *out, double *error);

/* The slot `length`. */
double cellar_delaporte_length(const cellar_mechanism *m, int64_t count, double tail);

/* The slot `loss`. */
double cellar_delaporte_loss(const cellar_mechanism *m, int64_t count, int64_t neighbour, int64_t b,
                             double *error);

/* The slot `block`. */
int cellar_delaporte_block(const cellar_mechanism *m, int64_t first, int64_t last, int64_t shift,
                           double epsilon, double enough, double numbers, cellar_quick *out);

/* The slot `quick`. */
int cellar_delaporte_quick(const cellar_mechanism *m, int64_t count, int64_t shift, double epsilon,
                           double enough, double numbers, cellar_quick *out);

#endif
