/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of 106 bits as unevaluated sums of two doubles, with proven error bounds, for positive
 * numbers: a fast first bound of what balls prove to any precision.
 *
 * Write u = 2^-53. The relative errors, in units of u^2 = 2^-106, are those of M. Joldes, J.-M.
 * Muller and V. Popescu, "Tight and rigorous error bounds for basic building blocks of
 * double-double arithmetic", ACM TOMS 44(2), 2017, rounded up. They hold while nothing leaves
 * 2^-800..2^800. Every product that is added to something is an explicit fma, so no compiler
 * contracts anything else, and the results are the same everywhere. */
#ifndef CELLAR_MATH_DWORD_H
#define CELLAR_MATH_DWORD_H

#include <math.h>
#include <stdint.h>

#include "math/flint.h"

typedef struct cellar_dword {
    double high, low; /* high is the sum rounded to nearest */
} cellar_dword;

#define CELLAR_DWORD_INLINE static inline __attribute__((always_inline))

/* A ball that does not hold 0 as a double-double. *error, in units of 2^-106 of the number, is at
 * least 2 and includes the ball's radius; it is infinite when the ball is too wide or out of range.
 */
cellar_dword cellar_dword_of_ball(const arb_t ball, double *error);

/* The ball about a double-double, of some radius. */
void cellar_dword_ball(cellar_dword x, double radius, arb_t out);

/* |a| >= |b| or a = 0 */
CELLAR_DWORD_INLINE cellar_dword cellar_dword_fast_sum(double a, double b)
{
    double sum = a + b;
    return (cellar_dword){sum, b - (sum - a)};
}

CELLAR_DWORD_INLINE cellar_dword cellar_dword_two_sum(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (cellar_dword){sum, (a - (sum - part)) + (b - part)};
}

/* Error 4 (algorithm 5), for numbers of the same sign. */
CELLAR_DWORD_INLINE cellar_dword cellar_dword_add(cellar_dword x, cellar_dword y)
{
    cellar_dword s = cellar_dword_two_sum(x.high, y.high);
    return cellar_dword_fast_sum(s.high, s.low + (x.low + y.low));
}

/* Error 2 (algorithm 4). */
CELLAR_DWORD_INLINE cellar_dword cellar_dword_add_double(cellar_dword x, double y)
{
    cellar_dword s = cellar_dword_two_sum(x.high, y);
    return cellar_dword_fast_sum(s.high, x.low + s.low);
}

/* Error 5 (algorithm 12). */
CELLAR_DWORD_INLINE cellar_dword cellar_dword_mul(cellar_dword x, cellar_dword y)
{
    double high = x.high * y.high, low = fma(x.high, y.high, -high);
    double cross = fma(x.low, y.high, fma(x.high, y.low, x.low * y.low));
    return cellar_dword_fast_sum(high, low + cross);
}

/* 1/y for a double, error 2: the remainder of the first quotient is exact. */
CELLAR_DWORD_INLINE cellar_dword cellar_dword_inverse(double y)
{
    double high = 1 / y, low = fma(-high, y, 1) / y;
    return cellar_dword_fast_sum(high, low);
}

/* Error 15 (algorithm 17). */
CELLAR_DWORD_INLINE cellar_dword cellar_dword_div(cellar_dword x, cellar_dword y)
{
    double high = x.high / y.high;
    double r_high = high * y.high, r_error = fma(high, y.high, -r_high);
    cellar_dword r = cellar_dword_fast_sum(r_high, fma(y.low, high, r_error)); /* y times high */
    double rest = (x.high - r.high) + (x.low - r.low);
    return cellar_dword_fast_sum(high, rest / y.high);
}

/* Exact: by a power of two. */
CELLAR_DWORD_INLINE cellar_dword cellar_dword_scale(cellar_dword x, double power)
{
    return (cellar_dword){x.high * power, x.low * power};
}

#endif
