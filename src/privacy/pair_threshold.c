/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs with monotone likelihood ratios: the released values whose loss exceeds epsilon are those
 * beyond a threshold, and delta is a difference of two tails. */
#include <math.h>

#include "math/ball.h"
#include "math/rational.h"
#include "privacy/pair_measures.h"

/* +1: losses rise with b, -1: they fall. */
static int64_t direction_of(const cellar_pair *pair)
{
    return pair->p->count > pair->q->count ? 1 : -1;
}

/* cellar_pair_is_above() by doubles, which may be wrong: where to begin with balls. */
static int seems_above(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    const cellar_mechanism *m = pair->p->m;
    double p, q;
    if (!cellar_distribution_holds(pair->p, b))
        return 0;
    if (!cellar_distribution_holds(pair->q, b))
        return 1;
    if (pair->p->has_row && cellar_distribution_near(pair->p, b, &p) &&
        cellar_distribution_near(pair->q, b, &q) && p > 0 && q > 0)
        return log(p / q) > fmpq_get_d(epsilon);
    return m->ops->log_pmf(m, pair->p->count, b) - m->ops->log_pmf(m, pair->q->count, b) >
           fmpq_get_d(epsilon);
}

/* The smallest x in low..high + 1 from which on `above` says yes at b = direction * x, by doubling
 * steps from `start` and bisection. */
static int64_t search(const cellar_pair *pair, const fmpq_t epsilon, int64_t low, int64_t high,
                      int64_t start, int (*above)(const cellar_pair *, int64_t, const fmpq_t))
{
    const int64_t direction = direction_of(pair);
    int64_t yes = high + 1, no = low - 1, x = start, step = 1;
    if (above(pair, direction * x, epsilon)) {
        for (yes = x; yes > low; step *= 2) {
            x = yes - low > step ? yes - step : low;
            if (!above(pair, direction * x, epsilon)) {
                no = x;
                break;
            }
            yes = x;
        }
    } else {
        for (no = x; no < high; step *= 2) {
            x = high - no > step ? no + step : high;
            if (above(pair, direction * x, epsilon)) {
                yes = x;
                break;
            }
            no = x;
        }
    }
    while (yes - no > 1) {
        x = no + (yes - no) / 2;
        if (above(pair, direction * x, epsilon))
            yes = x;
        else
            no = x;
    }
    return yes;
}

/* Found with doubles and proved with balls. */
static int64_t search_proved(const cellar_pair *pair, const fmpq_t epsilon, int64_t low,
                             int64_t high, int64_t near)
{
    int64_t x = near < low ? low : near > high ? high : near;
    x = search(pair, epsilon, low, high, x, seems_above);
    return search(pair, epsilon, low, high, x > high ? high : x, cellar_pair_is_above);
}

int64_t cellar_pair_end(const cellar_pair *pair)
{
    return direction_of(pair) > 0 ? pair->high : -pair->low;
}

int64_t cellar_pair_threshold(const cellar_pair *pair, const fmpq_t epsilon, int64_t near)
{
    const int64_t direction = direction_of(pair), high = cellar_pair_end(pair);
    const int64_t low = direction > 0 ? pair->low : -pair->high;
    if (pair->is_flat) { /* two values stand for all beyond them */
        int64_t from = direction * pair->q->count - pair->flat_margin;
        int64_t to = direction * pair->p->count + pair->flat_margin;
        int64_t x = search_proved(pair, epsilon, from, to, to);
        return x <= from ? low : x > to ? high + 1 : x;
    }
    return search_proved(pair, epsilon, low, high, near);
}

/* What a distribution has at direction * b >= x. */
static void beyond(cellar_distribution *side, int64_t direction, int64_t x, int64_t bits, arb_t out)
{
    if (direction > 0)
        cellar_distribution_upper(side, x, bits, out);
    else
        cellar_distribution_lower(side, -x, bits, out);
}

void cellar_pair_beyond(const cellar_pair *pair, cellar_distribution *side, int64_t x, int64_t bits,
                        arb_t out)
{
    beyond(side, direction_of(pair), x, bits, out);
}

static int64_t threshold_of(const cellar_pair *pair, const fmpq_t epsilon)
{
    return cellar_pair_threshold(pair, epsilon, direction_of(pair) * pair->p->count);
}

/* What P may have beyond all values looked at. Losses of flat pairs are nowhere above those at the
 * counts. */
static void beyond_end(const cellar_pair *pair, int64_t direction, arb_t out)
{
    double mass = direction > 0 ? cellar_distribution_above(pair->p, pair->high)
                                : cellar_distribution_below(pair->p, pair->low);
    arb_set_d(out, pair->is_flat ? 0 : mass);
    cellar_ball_from_zero(out);
}

/* What lies outside the values looked at counts for P and not for Q. */
void cellar_pair_delta_by_threshold(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    const int64_t x = threshold_of(pair, epsilon), end = cellar_pair_end(pair);
    const int64_t low = direction_of(pair) > 0 ? pair->low : -pair->high;
    arb_t factor, q;
    if (x > end) {
        beyond_end(pair, direction_of(pair), out);
        return;
    }
    arb_init(factor);
    arb_init(q);
    for (int64_t bits = CELLAR_PAIR_BITS; bits <= CELLAR_PAIR_BITS_MAX; bits *= 2) {
        if (x <= low)
            arb_one(out);
        else
            cellar_pair_beyond(pair, pair->p, x, bits, out);
        cellar_pair_exp(epsilon, bits, factor);
        cellar_pair_beyond(pair, pair->q, x, bits, q);
        arb_submul(out, q, factor, bits);
        cellar_ball_clip(out);
        if (cellar_pair_is_settled(pair, out, 44))
            break;
    }
    arb_clear(factor);
    arb_clear(q);
}

void cellar_pair_violation_by_threshold(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    const int64_t direction = direction_of(pair);
    const cellar_pair swapped = cellar_pair_swapped(pair);
    const int64_t above = threshold_of(pair, epsilon), below = threshold_of(&swapped, epsilon);
    const int has_above = above <= cellar_pair_end(pair);
    const int has_below = below <= cellar_pair_end(&swapped);
    arb_t other;
    if (-below >= above - 1) {
        arb_one(out); /* every released value violates */
        return;
    }
    arb_init(other);
    for (int64_t bits = CELLAR_PAIR_BITS; bits <= CELLAR_PAIR_BITS_MAX; bits *= 2) {
        if (has_above)
            beyond(pair->p, direction, above, bits, out);
        else
            beyond_end(pair, direction, out);
        if (has_below)
            beyond(pair->p, -direction, below, bits, other);
        else
            beyond_end(pair, -direction, other);
        arb_add(out, out, other, bits);
        cellar_ball_clip(out);
        if (cellar_pair_is_settled(pair, out, 44))
            break;
    }
    arb_clear(other);
}
