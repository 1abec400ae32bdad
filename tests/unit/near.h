/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers that agree but for rounding. */
#ifndef CELLAR_TESTS_NEAR_H
#define CELLAR_TESTS_NEAR_H

#include <math.h>

#include "check.h"

/* Relative to what is wanted, or so small that both are nothing. */
static inline void near(double got, double want, double tolerance, const char *what)
{
    double error = fabs(got - want);
    if (!(error <= tolerance * fabs(want) || error <= 1e-17))
        fail_msg("%s: got %.17g, want %.17g", what, got, want);
}

#endif
