/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The laws an envelope is made of, as bounds in doubles, and the value of its curve at one point.
 */
#ifndef CELLAR_PRIVACY_ENVELOPE_LAWS_H
#define CELLAR_PRIVACY_ENVELOPE_LAWS_H

#include "privacy/supremum.h"

enum { CELLAR_LAWS_RESTS = CELLAR_CURVE_RESTS };

/* Laws in blocks of numbers, see envelope_blocks.h. */
typedef struct cellar_law_blocks {
    size_t n;
    double *upper, *lower;
    double *least, *most;
    unsigned *n_open;
    size_t *ends;
} cellar_law_blocks;

/* The laws of counts first .. first + n - 1 on released numbers low .. low + width - 1. Where
 * losses are the same on either side of two counts, rows 2k and 2k + 1 are the laws of first + k
 * and of its neighbour, on numbers from the one to the other: the first and the last stand for all
 * beyond them. */
typedef struct cellar_laws {
    const cellar_reach *reach;
    int is_flat;
    int64_t first, low;
    size_t n, width;
    double *upper, *lower; /* bounds on the probabilities, count by count */
    double *outside;       /* mass that is not there, rounded up */
    int is_bounded;        /* these are not all counts, and a bound for the others is known */
    double rest[CELLAR_LAWS_RESTS]; /* that bound, at epsilon 0 and some larger ones: */
    double rest_at[CELLAR_LAWS_RESTS];
    double ordered_from;      /* from this epsilon on the first pair is the worst one */
    cellar_law_blocks blocks; /* none where they do not pay */
} cellar_laws;

/* 1 when all counts are bounded: there are finitely many different pairs, or a bound for large
 * counts is known; *n is how many smaller counts are looked at. */
int cellar_laws_exist(const cellar_reach *reach, int64_t *n);

/* 1 when they are laid out in pairs and nothing is left out. */
int cellar_laws_are_flat(const cellar_reach *reach);

/* `tail` of each law may be left out. The laws are to be cleared on failure too. */
cellar_status cellar_laws_init(cellar_laws *l, const cellar_reach *reach, double tail,
                               cellar_error *err);
void cellar_laws_clear(cellar_laws *l);

/* The k-th pair of counts: 1 and the rows of P and Q, or 0 beyond the last. Where ratios are
 * monotone the largest change dominates the smaller ones. */
int cellar_laws_pair(const cellar_laws *l, size_t k, int larger, size_t *p, size_t *q);
/* Upper bounds on H(g) of all pairs at the nodes' g, which rise. */
cellar_status cellar_laws_curve(const cellar_laws *l, int larger, cellar_curve_node *nodes,
                                size_t n, cellar_error *err);

#endif
