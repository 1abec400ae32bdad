/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From balls (proven enclosures) to the integers and doubles the rest of Cellar works with. */
#ifndef CELLAR_MATH_BALL_H
#define CELLAR_MATH_BALL_H

#include "math/flint.h"

/* The largest double not above, and the smallest not below, every number in the ball. */
double cellar_ball_lower(const arb_t ball);
double cellar_ball_upper(const arb_t ball);

/* All that a probability can be: from 0 to 1. */
void cellar_ball_set_probability(arb_t ball);
/* Removes what a probability cannot be. */
void cellar_ball_clip(arb_t ball);
/* From 0 to the upper end of this one, which is positive. */
void cellar_ball_from_zero(arb_t ball);

/* 1 when `value` lies within the ball widened by the relative `slack` on both sides. */
int cellar_ball_contains_near(const arb_t ball, double value, double slack);

/* The cell of the grid of width 2^-bits that holds a probability: the integer T with
 * T < 2^bits x <= T + 1 for every x <= 1 in the ball. 0 when the ball is too wide to tell. */
int cellar_ball_cell(const arb_t ball, long bits, fmpz_t cell);

#endif
