/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of positive numbers P(b), P(b + 1), ... in double-doubles, each with a proven bound of its
 * relative error: the probabilities of a distribution from its first ones, proven by balls, on.
 *
 *   (b + 1) P(b + 1) = (constant + slope (b + shift)) P(b) + S(b)
 *
 * where S is 0, or S(b) = feed P(b) + fade S(b - 1), or S(b) = pair P(b - 1) / b. All coefficients
 * are non-negative but shift, and b + shift >= max(1, |shift|/2) where that is negative, so that a
 * step adds to the relative error and never amplifies it. With 4 units for a coefficient (and for b
 * + shift) and those of dword.h for each operation, no way from P(b), P(b - 1) or S(b - 1) to P(b +
 * 1) or S(b) adds more than 35; CELLAR_RUN_STEP covers the products of errors too. */
#ifndef CELLAR_MATH_RUN_H
#define CELLAR_MATH_RUN_H

#include <stddef.h>

#include "math/dword.h"

enum { CELLAR_RUN_HEAD = 32, CELLAR_RUN_STEP = 48, CELLAR_RUN_LAG_BITS = 400 };

typedef enum cellar_run_kind {
    CELLAR_RUN_SIMPLE,  /* S = 0 */
    CELLAR_RUN_FADING,  /* S(b) = feed P(b) + fade S(b - 1) */
    CELLAR_RUN_PAIRED,  /* S(b) = pair P(b - 1) / b */
    CELLAR_RUN_WEIGHTS, /* no recurrence: P(b) = scale weight(b), see cellar_run_weights */
} cellar_run_kind;

/* P(b) = rising[b] scale_rising before `turn`, falling[b] scale_falling from there on. */
typedef struct cellar_run_weights {
    const cellar_dword *rising, *falling;
    cellar_dword scale_rising, scale_falling;
    int64_t turn, n;
} cellar_run_weights;

typedef struct cellar_run {
    cellar_run_kind kind;
    cellar_dword constant, slope, shift, feed, fade, pair;
    cellar_run_weights weights;

    int64_t b;              /* of the next number */
    double error;           /* of all numbers so far, in units of 2^-106; infinite: no good */
    cellar_dword p, before; /* P(b) and P(b - 1), times 2^(400 lag) */
    cellar_dword s;         /* S(b - 1), likewise */
    cellar_dword inverse;   /* 1/b */
    int64_t lag;
    cellar_dword head[CELLAR_RUN_HEAD]; /* numbers given at the start and not yet handed out */
    size_t n_head, n_used;
} cellar_run;

/* Takes a coefficient from a ball, 0 included. */
void cellar_run_set(cellar_run *run, cellar_dword *coefficient, const arb_t ball);

/* Starts with the balls of P(first).., n <= CELLAR_RUN_HEAD of them; a paired run needs two. The
 * recurrence takes over from the last of them. */
void cellar_run_start(cellar_run *run, int64_t first, arb_srcptr p, size_t n);

/* Of a run that starts with numbers too small to be told: multiplies all by a power of two, so that
 * they are told, and answers its exponent; 0 where there was no need. All numbers that follow must
 * fall. The error is infinite when that cannot be done. */
int64_t cellar_run_raise(cellar_run *run);

/* The next n numbers; those below 2^-400 may come as 0. A run of weights ends with infinite error
 * beyond them. */
void cellar_run_next(cellar_run *run, size_t n, cellar_dword *out);

#endif
