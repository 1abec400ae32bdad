/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by pair.c and the two ways to measure a pair: by a threshold where likelihood ratios are
 * monotone (pair_threshold.c), value by value elsewhere (pair_values.c). */
#ifndef CELLAR_PRIVACY_PAIR_MEASURES_H
#define CELLAR_PRIVACY_PAIR_MEASURES_H

#include "privacy/pair.h"

void cellar_pair_delta_by_threshold(const cellar_pair *pair, const fmpq_t epsilon, arb_t out);
void cellar_pair_violation_by_threshold(const cellar_pair *pair, const fmpq_t epsilon, arb_t out);
void cellar_pair_delta_by_values(const cellar_pair *pair, const fmpq_t epsilon, arb_t out);
void cellar_pair_violation_by_values(const cellar_pair *pair, const fmpq_t epsilon, arb_t out);

/* e^epsilon. */
void cellar_pair_exp(const fmpq_t epsilon, int64_t bits, arb_t out);
/* 1 when the loss at b exceeds epsilon; an open comparison counts. */
int cellar_pair_is_above(const cellar_pair *pair, int64_t b, const fmpq_t epsilon);
/* 1 when a measure needs no more bits: it is good to so many, or below what a double can hold, or
 * no more than pair->enough. */
int cellar_pair_is_settled(const cellar_pair *pair, const arb_t ball, slong bits);

#endif
