/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tails of the generalised inverse Gaussian law, enclosed. In the form used here the logarithm of
 * the variable has a density proportional to e^{order x - rate cosh x}, which is log-concave. */
#ifndef CELLAR_MATH_GIG_H
#define CELLAR_MATH_GIG_H

#include "math/flint.h"

/* Encloses the integral over low .. high of
 *
 *   f(v) = v^{order - 1} e^{-(rate / 2)(v + 1/v - 2)},   rate > 0, 0 < low <= high,
 *
 * to a relative error of about 2^-bits; high = +inf is fine, and f integrates to 2 e^rate
 * K_order(rate) from 0 on. Answers 0, and nothing, where that would take too long. */
int cellar_gig_integral(const arb_t order, const arb_t rate, const arf_t low, const arf_t high,
                        int64_t bits, arb_t out);

#endif
