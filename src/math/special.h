/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Special functions of count laws in extended precision, so that a probability as small as 1e-300
 * has twelve right digits even when its mean is a million. For risks and reports: proven numbers
 * come from balls. */
#ifndef CELLAR_MATH_SPECIAL_H
#define CELLAR_MATH_SPECIAL_H

#include "math/flint.h"

/* The midpoint of a ball, and a rational, to the precision of long double. */
long double cellar_long_double_of_ball(const arb_t ball);
long double cellar_long_double_of_rational(const fmpq_t value);

/* ln Gamma(x+1) - [(x + 1/2) ln x - x + ln(2 pi)/2], x > 0: what Stirling's formula lacks. */
long double cellar_stirling_error(long double x);

/* x ln(x/mean) + mean - x >= 0, without cancellation where x is near the mean (C. Loader, "Fast and
 * accurate computation of binomial probabilities", 2000). */
long double cellar_deviance(long double x, long double mean);

/* ln P(value) of Poisson(mean), and of the negative binomial law of that mean and size. */
long double cellar_log_poisson(int64_t value, long double mean);
long double cellar_log_negbin(int64_t value, long double mean, long double size);

/* ln[e^x K_order(x)] for x > 0 and any real order of at most 10^9. */
long double cellar_log_bessel_k_scaled(long double order, long double x);

/* The part of Debye's expansion that stays bounded: with w = sqrt(order^2 + x^2) >= 40,
 * ln K_order(x) = ln(pi/2w)/2 - w + order ln((order + w)/x) + this, order >= 0. */
long double cellar_log_debye_series(long double order, long double w);
enum { CELLAR_DEBYE_FROM = 40 };

/* K_{order+1}(x) / K_order(x). */
long double cellar_bessel_k_ratio(long double order, long double x);

#endif
