/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/calibration.h"

#include <math.h>

#include <arb.h>

#include "math/ball.h"
#include "math/normal.h"

enum { BITS = 192 };

/* The smallest double that does, up to the width of the balls, between bounds no calibration of
 * use leaves. INFINITY when none does. */
double cellar_sigma_bisect(cellar_sigma_does *does, const fmpq_t epsilon, const fmpq_t delta)
{
    double low = 1e-9, high = 1e12;
    if (!does(high, epsilon, delta))
        return INFINITY;
    while (nextafter(low, high) < high) {
        /* first in the exponent, then in the digits */
        double middle = high > 2 * low ? sqrt(low) * sqrt(high) : low + (high - low) / 2;
        if (does(middle, epsilon, delta))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* 1 when every number of the ball is at most `bound`. */
static int ball_at_most(const arb_t ball, const fmpq_t bound)
{
    arb_t limit;
    int yes;
    arb_init(limit);
    arb_set_fmpq(limit, bound, BITS);
    yes = arb_le(ball, limit);
    arb_clear(limit);
    return yes;
}

/* near = P(Z >= epsilon sigma - 1/2sigma), far = P(Z >= epsilon sigma + 1/2sigma). */
static void normal_pair(double sigma, const fmpq_t epsilon, arb_t near, arb_t far)
{
    arb_t middle, half;
    arb_init(middle);
    arb_init(half);
    arb_set_d(half, 2 * sigma);
    arb_inv(half, half, BITS);
    arb_set_d(middle, sigma);
    arb_set_fmpq(near, epsilon, BITS);
    arb_mul(middle, middle, near, BITS);
    arb_sub(near, middle, half, BITS);
    arb_add(far, middle, half, BITS);
    cellar_normal_tail_ball(near, near, BITS);
    cellar_normal_tail_ball(far, far, BITS);
    arb_clear(half);
    arb_clear(middle);
}

void cellar_gaussian_delta(double sigma, const fmpq_t epsilon, arb_t out)
{
    arb_t far, factor;
    arb_init(far);
    arb_init(factor);
    normal_pair(sigma, epsilon, out, far);
    arb_set_fmpq(factor, epsilon, BITS);
    arb_exp(factor, factor, BITS);
    arb_submul(out, factor, far, BITS);
    arb_clear(far);
    arb_clear(factor);
}

static int analytic_does(double sigma, const fmpq_t epsilon, const fmpq_t delta)
{
    arb_t x;
    int yes;
    arb_init(x);
    cellar_gaussian_delta(sigma, epsilon, x);
    yes = ball_at_most(x, delta);
    arb_clear(x);
    return yes;
}

double cellar_calibrate_analytic(const fmpq_t epsilon, const fmpq_t delta)
{
    return cellar_sigma_bisect(analytic_does, epsilon, delta);
}

/* P(Z >= x - y) + P(Z >= x + y). Its derivative in sigma is
 * -phi(x-y)(epsilon + 1/2sigma^2) - phi(x+y)(epsilon - 1/2sigma^2) < 0: it is monotone. */
static int pdp_does(double sigma, const fmpq_t epsilon, const fmpq_t delta)
{
    arb_t near, far;
    int yes;
    arb_init(near);
    arb_init(far);
    normal_pair(sigma, epsilon, near, far);
    arb_add(near, near, far, BITS);
    yes = ball_at_most(near, delta);
    arb_clear(near);
    arb_clear(far);
    return yes;
}

double cellar_calibrate_pdp(const fmpq_t epsilon, const fmpq_t delta)
{
    return cellar_sigma_bisect(pdp_does, epsilon, delta);
}

double cellar_calibrate_classic(const fmpq_t epsilon, const fmpq_t delta)
{
    arb_t x, e;
    double sigma;
    arb_init(x);
    arb_init(e);
    arb_set_fmpq(x, delta, BITS);
    arb_mul_ui(x, x, 4, BITS);
    arb_ui_div(x, 5, x, BITS);
    arb_log(x, x, BITS);
    arb_mul_2exp_si(x, x, 1);
    arb_sqrt(x, x, BITS);
    arb_set_fmpq(e, epsilon, BITS);
    arb_div(x, x, e, BITS);
    sigma = cellar_ball_upper(x);
    arb_clear(x);
    arb_clear(e);
    return sigma;
}

/* P(Z >= x) <= delta / 2. */
static int quantile_does(double x, const fmpq_t epsilon, const fmpq_t delta)
{
    arb_t tail;
    int yes;
    (void) epsilon;
    arb_init(tail);
    arb_set_d(tail, x);
    cellar_normal_tail_ball(tail, tail, BITS);
    arb_mul_2exp_si(tail, tail, 1);
    yes = ball_at_most(tail, delta);
    arb_clear(tail);
    return yes;
}

double cellar_calibrate_pdp_liu(const fmpq_t epsilon, const fmpq_t delta)
{
    double minus_z = cellar_sigma_bisect(quantile_does, epsilon, delta), sigma;
    arb_t z, e, root;
    arb_init(z);
    arb_init(e);
    arb_init(root);
    arb_set_d(z, minus_z);
    arb_set_fmpq(e, epsilon, BITS);
    arb_mul(root, z, z, BITS);
    arb_addmul_ui(root, e, 2, BITS);
    arb_sqrt(root, root, BITS);
    arb_add(root, root, z, BITS);
    arb_div(root, root, e, BITS);
    arb_mul_2exp_si(root, root, -1);
    sigma = cellar_ball_upper(root);
    arb_clear(z);
    arb_clear(e);
    arb_clear(root);
    return sigma;
}
