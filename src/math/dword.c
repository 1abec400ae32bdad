/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/dword.h"

cellar_dword cellar_dword_of_ball(const arb_t ball, double *error)
{
    cellar_dword x = {0};
    arf_t rest;
    mag_t relative;

    *error = INFINITY;
    if (!arb_is_nonzero(ball) || arf_cmpabs_2exp_si(arb_midref(ball), -800) < 0 ||
        arf_cmpabs_2exp_si(arb_midref(ball), 800) > 0)
        return x;
    arf_init(rest);
    mag_init(relative);
    x.high = arf_get_d(arb_midref(ball), ARF_RND_NEAR);
    arf_set_d(rest, x.high);
    arf_sub(rest, arb_midref(ball), rest, ARF_PREC_EXACT, ARF_RND_NEAR);
    x.low = arf_get_d(rest, ARF_RND_NEAR); /* off by at most u^2 of the number */
    arf_get_mag_lower(relative, arb_midref(ball));
    mag_div(relative, arb_radref(ball), relative);
    mag_mul_2exp_si(relative, relative, 106);
    *error = 2 + mag_get_d(relative);
    mag_clear(relative);
    arf_clear(rest);
    return x;
}

void cellar_dword_ball(cellar_dword x, double radius, arb_t out)
{
    arf_t low;
    arf_init(low);
    arf_set_d(low, x.low);
    arb_set_d(out, x.high);
    arf_add(arb_midref(out), arb_midref(out), low, ARF_PREC_EXACT, ARF_RND_NEAR);
    mag_set_d(arb_radref(out), radius * (1 + 0x1p-50));
    arf_clear(low);
}
