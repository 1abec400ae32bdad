/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/ball.h"

#include <math.h>

double cellar_ball_lower(const arb_t ball)
{
    arf_t bound;
    double value;
    arf_init(bound);
    arb_get_lbound_arf(bound, ball, 64);
    value = arf_get_d(bound, ARF_RND_FLOOR);
    arf_clear(bound);
    return value;
}

double cellar_ball_upper(const arb_t ball)
{
    arf_t bound;
    double value;
    arf_init(bound);
    arb_get_ubound_arf(bound, ball, 64);
    value = arf_get_d(bound, ARF_RND_CEIL);
    arf_clear(bound);
    return value;
}

void cellar_ball_set_probability(arb_t ball)
{
    arb_set_d(ball, 0.5);
    mag_set_d(arb_radref(ball), 0.5);
}

void cellar_ball_clip(arb_t ball)
{
    enum { BITS = 4096 };
    arb_t unit;
    arb_init(unit);
    cellar_ball_set_probability(unit);
    if (!arb_contains(unit, ball) && !arb_intersection(ball, ball, unit, BITS))
        arb_indeterminate(ball);
    arb_clear(unit);
}

void cellar_ball_from_zero(arb_t ball)
{
    enum { BITS = 128 };
    arb_t unit;
    arb_init(unit);
    cellar_ball_set_probability(unit);
    arb_mul(ball, ball, unit, BITS);
    arb_clear(unit);
}

int cellar_ball_contains_near(const arb_t ball, double value, double slack)
{
    return value >= cellar_ball_lower(ball) - fabs(value) * slack &&
           value <= cellar_ball_upper(ball) + fabs(value) * slack;
}

int cellar_ball_cell(const arb_t ball, long bits, fmpz_t cell)
{
    arb_t scaled;
    arf_t low, high;
    fmpz_t other;
    int same;

    arb_init(scaled);
    arf_init(low);
    arf_init(high);
    fmpz_init(other);
    arb_mul_2exp_si(scaled, ball, bits);
    arb_get_interval_arf(low, high, scaled, bits + 64);
    arf_get_fmpz(cell, low, ARF_RND_CEIL);
    if (arf_cmp_2exp_si(high, bits) > 0) /* the ball ends beyond one, the probability does not */
        arf_set_ui_2exp_si(high, 1, bits);
    arf_get_fmpz(other, high, ARF_RND_CEIL);
    same = fmpz_equal(cell, other);
    fmpz_sub_ui(cell, cell, 1);
    fmpz_clear(other);
    arf_clear(high);
    arf_clear(low);
    arb_clear(scaled);
    return same;
}
