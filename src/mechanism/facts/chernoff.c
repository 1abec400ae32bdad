/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/facts/chernoff.h"

#include <math.h>

#include "math/ball.h"

void cellar_large_pair_init(cellar_large_pair *pair, const cellar_mechanism *m, int64_t from,
                            int64_t shift, int64_t bits)
{
    *pair = (cellar_large_pair){.k = (const cellar_kernel *) m, .from = from, .shift = shift};
    arb_init(pair->mean);
    arb_init(pair->tau);
    cellar_kernel_mean_ball(pair->k, from, bits, pair->mean);
    arb_ui_div(pair->tau, (ulong) shift, pair->mean, bits);
    arb_log1p(pair->tau, pair->tau, bits);
}

void cellar_large_pair_clear(cellar_large_pair *pair)
{
    arb_clear(pair->mean);
    arb_clear(pair->tau);
}

/* ln c_t = t ln t - (1+t) ln(1+t). */
static void chernoff_constant(const arb_t t, int64_t bits, arb_t out)
{
    arb_t more;
    arb_init(more);
    arb_log(out, t, bits);
    arb_mul(out, out, t, bits);
    arb_log1p(more, t, bits);
    arb_sub(out, out, more, bits);
    arb_submul(out, t, more, bits);
    arb_clear(more);
}

/* The logarithm of the bound at one t. */
static void chernoff_at(const cellar_large_pair *pair, cellar_log_moment moment, double t_double,
                        int larger, const arb_t epsilon, int64_t bits, arb_t out)
{
    arb_t t, constant;
    arb_init(t);
    arb_init(constant);
    arb_set_d(t, t_double);
    moment(pair, t, larger, bits, out);
    chernoff_constant(t, bits, constant);
    arb_add(out, out, constant, bits);
    arb_submul(out, t, epsilon, bits);
    arb_clear(t);
    arb_clear(constant);
}

/* One order of a pair, and what is asked about it. */
typedef struct chernoff {
    const cellar_large_pair *pair;
    cellar_log_moment moment;
    int larger;
    int64_t bits;
    arb_srcptr epsilon;
} chernoff;

/* The bound at one t, into *least where it is smaller, and as a double that tells the way: INFINITY
 * where there is none. */
static double chernoff_try(const chernoff *c, double t, arb_t least)
{
    double seen = INFINITY;
    arb_t value;
    arb_init(value);
    chernoff_at(c->pair, c->moment, t, c->larger, c->epsilon, c->bits, value);
    if (arb_is_finite(value)) {
        arb_min(least, least, value, c->bits);
        seen = arf_get_d(arb_midref(value), ARF_RND_NEAR);
    }
    arb_clear(value);
    return seen;
}

/* Golden section between two t, of which a third between them is better than both. */
static void chernoff_refine(const chernoff *c, double low, double high, arb_t least)
{
    enum { STEPS = 8 };
    static const double golden = 0.6180339887498949;
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = chernoff_try(c, left, least), at_right = chernoff_try(c, right, least);
    for (int i = 0; i < STEPS; i++) {
        if (at_left <= at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = chernoff_try(c, left, least);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = chernoff_try(c, right, least);
        }
    }
}

/* The least over some t, at most 0: any t gives a bound. The logarithm is convex in t, so that the
 * best lies next to the best of a few that are far apart. It is looked for where t is large, for
 * there a bound e^{-t epsilon} that is a little off is off by many digits. */
static void chernoff_least(const chernoff *c, arb_t out)
{
    static const double tried[] = {0,   0.5, 1,   2,   4,   8,   16,  32,  64,  150,
                                   400, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7};
    enum { TRIED = sizeof tried / sizeof *tried, FAR = 32 };
    double before = 0;
    size_t i = 1;
    arb_zero(out);
    for (; i < TRIED; i++) {
        double seen = chernoff_try(c, tried[i], out);
        if (!(seen < before))
            break;
        before = seen;
    }
    if (i < TRIED && tried[i] >= FAR)
        chernoff_refine(c, i > 1 ? tried[i - 2] : 0, tried[i], out);
}

void cellar_chernoff(const cellar_large_pair *pair, const cellar_log_moments *moments,
                     const arb_t epsilon, int64_t bits, arb_t out)
{
    chernoff c;
    arb_t best, value;
    arb_init(best);
    arb_init(value);
    arb_zero(out);
    for (int larger = 0; larger < 2; larger++) {
        arb_zero(best);
        for (size_t i = 0; i < CELLAR_LOG_MOMENTS_MAX; i++) {
            if (moments->of[i] == NULL)
                continue;
            c = (chernoff){pair, moments->of[i], larger, bits, epsilon};
            chernoff_least(&c, value);
            arb_min(best, best, value, bits);
        }
        arb_exp(best, best, bits);
        arb_max(out, out, best, bits);
    }
    arb_clear(best);
    arb_clear(value);
}

void cellar_poisson_moment(const cellar_large_pair *pair, const arb_t t, int larger, int64_t bits,
                           arb_t out)
{
    arb_t power;
    arb_init(power);
    arb_mul(power, t, pair->tau, bits);
    if (!larger)
        arb_neg(power, power);
    arb_expm1(power, power, bits);
    arb_mul(out, power, pair->mean, bits);
    arb_mul_si(power, larger ? power : t, pair->shift, bits);
    arb_add(out, out, power, bits);
    if (larger) {
        arb_mul_si(power, t, pair->shift, bits);
        arb_sub(out, out, power, bits);
    }
    arb_clear(power);
}

double cellar_chernoff_bound(const cellar_mechanism *m, int64_t from, int64_t shift, double epsilon,
                             const cellar_log_moments *moments)
{
    enum { BITS = 64 };
    cellar_large_pair pair;
    arb_t level, out;
    double bound;
    arb_init(level);
    arb_init(out);
    arb_set_d(level, epsilon);
    cellar_large_pair_init(&pair, m, from, shift, BITS);
    cellar_chernoff(&pair, moments, level, BITS, out);
    bound = cellar_ball_upper(out);
    cellar_large_pair_clear(&pair);
    arb_clear(level);
    arb_clear(out);
    return fmin(bound, 1);
}
