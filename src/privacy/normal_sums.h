/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wide normal noise that is met many times: sums of it are normal again, and need no transform. */
#ifndef CELLAR_PRIVACY_NORMAL_SUMS_H
#define CELLAR_PRIVACY_NORMAL_SUMS_H

#include "privacy/tight.h"

/* 1 when the stake is such noise, wide enough for what follows. */
int cellar_normal_sums_apply(const cellar_stake *stake);

/* As cellar_tight_delta(), cellar_tight_epsilon() and cellar_tight_violation(). */
void cellar_normal_sums_delta(const cellar_stake *stake, double epsilon, cellar_bounds *out);
void cellar_normal_sums_epsilon(const cellar_stake *stake, double delta, cellar_bounds *out);
void cellar_normal_sums_violation(const cellar_stake *stake, double epsilon, cellar_bounds *out);

#endif
