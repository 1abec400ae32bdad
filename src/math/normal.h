/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The standard normal law far into its tails, as doubles and as balls. */
#ifndef CELLAR_MATH_NORMAL_H
#define CELLAR_MATH_NORMAL_H

#include "math/flint.h"

/* ln P(Z >= x), for every x. */
double cellar_normal_log_tail(double x);

/* ln P(middle - half <= Z <= middle + half), middle >= half > 0, without cancellation. */
double cellar_normal_log_interval(double middle, double half);

/* P(Z >= x); out may be x. */
void cellar_normal_tail_ball(arb_t out, const arb_t x, int64_t bits);

#endif
