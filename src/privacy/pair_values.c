/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any pair: delta and delta_p are added up released value by released value. */
#include <math.h>

#include "math/ball.h"
#include "math/rational.h"
#include "math/work.h"
#include "privacy/pair_measures.h"

/* The window of P outside which its mass is small, and that mass as a ball that starts at zero. */
static void window_of(const cellar_pair *pair, double tail, int64_t *low, int64_t *high, arb_t rest)
{
    double outside;
    cellar_distribution_window(pair->p, tail, low, high);
    cellar_distribution_cut(pair->p, high);
    outside = cellar_distribution_below(pair->p, *low) + cellar_distribution_above(pair->p, *high);
    arb_set_d(rest, outside > 0 ? nextafter(outside, 2) : 0);
    cellar_ball_from_zero(rest);
}

/* cellar_pair_delta_by_sum() in doubles, where rows or a table of noise hold all values. With u =
 * CELLAR_NEAR_ERROR, P lies within (1 +- u) p and e^epsilon Q within (1 +- v) factor q, v = u + (2
 * + epsilon) 2^-52 (Q; exp is right to an ulp, and epsilon to half of one), so that every term lies
 * between the two that are added up; n additions of positive numbers and the products in a term are
 * right to (n + 8) 2^-53. 0: doubles do not hold all values. */
static int delta_by_near(const cellar_pair *pair, const fmpq_t epsilon, double tail, arb_t out)
{
    const double u = CELLAR_NEAR_ERROR, most = 700; /* e^most is a double */
    const double level = fmin(cellar_rational_double(epsilon), most);
    const double factor = exp(level), v = u + (2 + level) * 0x1p-52;
    double upper = 0, lower = 0, p, q, rounding;
    int64_t low, high;
    arb_t middle;
    if (pair->step != 1)
        return 0;
    window_of(pair, tail, &low, &high, out);
    for (int64_t b = low; b <= high; b++) {
        if (!cellar_distribution_near(pair->p, b, &p) || !cellar_distribution_near(pair->q, b, &q))
            return 0;
        upper += fmax(0, fmax(p * (1 + u), CELLAR_NEAR_LEAST) - factor * q * (1 - v));
        lower += fmax(0, p * (1 - u) - factor * fmax(q * (1 + v), CELLAR_NEAR_LEAST));
    }
    cellar_work_add((double) (high - low) / 2);
    rounding = (double) (high - low + 9) * 0x1p-52;
    upper *= 1 + rounding;
    lower *= level < most ? 1 - rounding : 0; /* delta at `most` bounds that of all larger ones */
    arb_init(middle);
    arb_set_d(middle, lower + (upper - lower) / 2);
    mag_set_d(arb_radref(middle), (upper - lower) * 0.51 + upper * 0x1p-52);
    arb_add(out, out, middle, CELLAR_PAIR_BITS);
    cellar_ball_clip(out);
    arb_clear(middle);
    return 1;
}

/* A sum that ended early encloses nothing. */
static void finish_sum(arb_t sum)
{
    if (cellar_work_is_over())
        cellar_ball_set_probability(sum);
    else
        cellar_ball_clip(sum);
}

void cellar_pair_delta_by_sum(const cellar_pair *pair, const fmpq_t epsilon, double tail,
                              int64_t bits, arb_t out)
{
    int64_t low, high;
    arb_t factor, p, q, zero;
    arb_init(factor);
    arb_init(p);
    arb_init(q);
    arb_init(zero);
    cellar_pair_exp(epsilon, bits, factor);
    window_of(pair, tail, &low, &high, out);
    for (int64_t b = low; b <= high && !cellar_work_is_over(); b += pair->step) {
        cellar_distribution_pmf(pair->p, b, bits, p);
        cellar_distribution_pmf(pair->q, b, bits, q);
        arb_submul(p, q, factor, bits);
        arb_max(p, p, zero, bits);
        arb_add(out, out, p, bits);
        cellar_work_add_balls(1, bits);
    }
    finish_sum(out);
    arb_clear(factor);
    arb_clear(p);
    arb_clear(q);
    arb_clear(zero);
}

/* 1 when |loss| at b exceeds epsilon, with an open comparison counted: by doubles where these show
 * it, which is nearly always. */
static int is_violation(const cellar_pair *pair, const cellar_pair *swapped, int64_t b,
                        const fmpq_t epsilon, double factor)
{
    const double slack = 1e-12; /* covers CELLAR_NEAR_ERROR, and the error of factor */
    double p, q;
    cellar_work_add(1);
    if (cellar_distribution_near(pair->p, b, &p) && cellar_distribution_near(pair->q, b, &q) &&
        p > 0 && q > 0) {
        if (fmax(p, q) < factor * fmin(p, q) * (1 - slack))
            return 0;
        if (fmax(p, q) > factor * fmin(p, q) * (1 + slack) && isfinite(factor))
            return 1;
    }
    return cellar_pair_is_above(pair, b, epsilon) || cellar_pair_is_above(swapped, b, epsilon);
}

static void violation_by_sum(const cellar_pair *pair, const fmpq_t epsilon, double tail, arb_t out)
{
    const double factor = exp(cellar_rational_double(epsilon));
    const cellar_pair swapped = cellar_pair_swapped(pair);
    int64_t low, high;
    arb_t p;
    arb_init(p);
    window_of(pair, tail, &low, &high, out);
    for (int64_t b = low; b <= high && !cellar_work_is_over(); b += pair->step)
        if (is_violation(pair, &swapped, b, epsilon, factor)) {
            cellar_distribution_pmf(pair->p, b, CELLAR_PAIR_BITS, p);
            arb_add(out, out, p, CELLAR_PAIR_BITS);
            cellar_work_add_balls(1, CELLAR_PAIR_BITS);
        }
    finish_sum(out);
    arb_clear(p);
}

/* Leaving out so little that it does not show in the result. */
static const double TAILS[] = {1e-18, 1e-38, 1e-78, 1e-300};
enum { N_TAILS = sizeof TAILS / sizeof *TAILS };

void cellar_pair_delta_by_values(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    for (int i = 0, is_near = 1; i < N_TAILS; i++) {
        is_near = is_near && delta_by_near(pair, epsilon, TAILS[i], out);
        if (!is_near)
            cellar_pair_delta_by_sum(pair, epsilon, TAILS[i], CELLAR_PAIR_BITS, out);
        if (cellar_pair_is_settled(pair, out, is_near ? 24 : 40))
            break;
    }
}

void cellar_pair_violation_by_values(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    for (int i = 0; i < N_TAILS; i++) {
        violation_by_sum(pair, epsilon, TAILS[i], out);
        if (cellar_pair_is_settled(pair, out, 40))
            break;
    }
}
