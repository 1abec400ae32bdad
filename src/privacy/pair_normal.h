/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What doubles prove about normal noise, rounded or discrete, without a ball. */
#ifndef CELLAR_PRIVACY_PAIR_NORMAL_H
#define CELLAR_PRIVACY_PAIR_NORMAL_H

#include "privacy/supremum.h"

/* Compares the loss at b, not clamped, with epsilon as cellar_pair_compare() does, or leaves it
 * open: rounded normal noise of some width. */
cellar_order cellar_pair_compare_normal(const cellar_pair *pair, int64_t b, const fmpq_t epsilon);

/* 1 when losses of wide normal noise exceed epsilon, or fall below -epsilon, with less than the
 * smallest double, negatives set to zero or not. */
int cellar_normal_is_within(const cellar_reach *reach, const fmpq_t epsilon);

#endif
