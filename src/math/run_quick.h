/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run (math/run.h) that goes on in doubles: ten times as quick, and right to some 2^-50 times the
 * number of steps. Numbers may be as small as they like: they are held times a power of two.
 *
 * With u = 2^-53, the coefficients are off by u each (b + shift by 3 u, where shift < 0 because b +
 * shift >= |shift|/2), and no way from P(b), P(b - 1) or S(b - 1) to P(b + 1) or S(b) has more than
 * 10 roundings, those included. All terms are positive, so relative errors add up. */
#ifndef CELLAR_MATH_RUN_QUICK_H
#define CELLAR_MATH_RUN_QUICK_H

#include "math/run.h"

enum { CELLAR_RUN_QUICK_STEP = 16, CELLAR_RUN_QUICK_BITS = 512 };

typedef struct cellar_run_quick {
    cellar_run_kind kind;
    double constant, slope, shift, feed, fade, pair;
    double b, first;              /* of p, and where it started */
    double p, before, s, inverse; /* as of a run, times 2^(BITS exponent) */
    int exponent;
} cellar_run_quick;

/* From where the run stands: 0 when it has numbers to hand out first, or none that are told. */
int cellar_run_quick_start(cellar_run_quick *quick, const cellar_run *run);

/* How far all numbers so far are off at most, relative. */
CELLAR_DWORD_INLINE double cellar_run_quick_error(const cellar_run_quick *run)
{
    return CELLAR_RUN_QUICK_STEP * 0x1p-53 * (run->b - run->first + 1);
}

CELLAR_DWORD_INLINE void cellar_run_quick_scale(cellar_run_quick *run)
{
    if (run->p < 0x1p-512) {
        run->p *= 0x1p512;
        run->before *= 0x1p512;
        run->s *= 0x1p512;
        run->exponent++;
    }
}

/* To the next number; the compiler sees which kind it is. */
CELLAR_DWORD_INLINE void cellar_run_quick_step(cellar_run_quick *run, cellar_run_kind kind)
{
    double inverse = 1 / (run->b + 1), next;
    double factor = (run->constant + run->slope * (run->b + run->shift)) * inverse;
    if (kind == CELLAR_RUN_FADING) {
        run->s = run->feed * run->p + run->fade * run->s;
        next = factor * run->p + run->s * inverse;
    } else if (kind == CELLAR_RUN_PAIRED) {
        next = factor * run->p + run->pair * run->inverse * inverse * run->before;
    } else {
        next = factor * run->p;
    }
    run->before = run->p;
    run->p = next;
    run->inverse = inverse;
    run->b++;
    cellar_run_quick_scale(run);
}

#endif
