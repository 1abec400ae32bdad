/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/pair.h"

#include <math.h>

#include "math/ball.h"
#include "math/rational.h"

/* Removes what a probability cannot be from a ball. */
static void ball_clip(arb_t ball)
{
    arb_t unit;
    arb_init(unit);
    arb_set_d(unit, 0.5);
    mag_set_d(arb_radref(unit), 0.5);
    if (!arb_contains(unit, ball) && !arb_intersection(ball, ball, unit, CELLAR_PAIR_BITS_MAX))
        arb_indeterminate(ball);
    arb_clear(unit);
}

static void exp_of(const fmpq_t epsilon, int64_t bits, arb_t out)
{
    arb_set_fmpq(out, epsilon, bits + 64);
    arb_exp(out, out, bits);
}

void cellar_pair_init(cellar_pair *pair, cellar_distribution *p, cellar_distribution *q)
{
    const cellar_mechanism *m = p->m;
    const cellar_facts *facts = m->ops->facts;
    *pair = (cellar_pair){.p = p, .q = q};
    pair->step = facts != NULL && facts->step != NULL ? facts->step(m) : 1;
    cellar_distribution_far(p, &pair->low, &pair->high);
    pair->is_monotone = cellar_facts_monotone(m);
    pair->is_flat = pair->is_monotone && !p->is_clamped && !q->is_clamped && facts != NULL &&
                    facts->flat_ends != NULL && facts->flat_ends(m, &pair->flat_margin);
}

cellar_pair cellar_pair_swapped(const cellar_pair *pair)
{
    cellar_pair other = *pair;
    cellar_pair_init(&other, pair->q, pair->p);
    other.enough = pair->enough;
    return other;
}

/* ---- comparing a loss with epsilon ----------------------------------------------------- */

/* Symmetric noise has a loss of 0 where both counts are equally far away. */
int cellar_pair_log_ratio(const cellar_pair *pair, int64_t b, fmpq_t out)
{
    const cellar_mechanism *m = pair->p->m;
    const cellar_facts *facts = m->ops->facts;
    const int is_lump = (pair->p->is_clamped || pair->q->is_clamped) && b == 0;
    if (is_lump)
        return 0;
    if (m->ops->is_additive && b - pair->p->count == pair->q->count - b) {
        fmpq_zero(out);
        return 1;
    }
    return facts != NULL && facts->log_ratio != NULL &&
           facts->log_ratio(m, pair->p->count, pair->q->count, b, out);
}

static cellar_order compare_exactly(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    cellar_order order = CELLAR_ORDER_OPEN;
    fmpq_t loss;
    fmpq_init(loss);
    if (cellar_pair_log_ratio(pair, b, loss)) {
        int sign = fmpq_cmp(loss, epsilon);
        order = sign < 0 ? CELLAR_ORDER_BELOW : sign > 0 ? CELLAR_ORDER_ABOVE : CELLAR_ORDER_TIE;
    }
    fmpq_clear(loss);
    return order;
}

static cellar_order compare_balls(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    cellar_order order = CELLAR_ORDER_OPEN;
    arb_t p, q, factor;
    arb_init(p);
    arb_init(q);
    arb_init(factor);
    for (int64_t bits = CELLAR_PAIR_BITS;
         bits <= CELLAR_PAIR_BITS_MAX && order == CELLAR_ORDER_OPEN; bits *= 2) {
        cellar_distribution_pmf(pair->p, b, bits, p);
        cellar_distribution_pmf(pair->q, b, bits, q);
        exp_of(epsilon, bits, factor);
        arb_mul(q, q, factor, bits);
        if (arb_is_zero(p) || arb_lt(p, q)) /* a hole in the support of P counts for nothing */
            order = CELLAR_ORDER_BELOW;
        else if (arb_gt(p, q))
            order = CELLAR_ORDER_ABOVE;
    }
    arb_clear(p);
    arb_clear(q);
    arb_clear(factor);
    return order;
}

cellar_order cellar_pair_compare(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    cellar_order order = CELLAR_ORDER_OPEN;
    if (!cellar_distribution_holds(pair->p, b))
        return CELLAR_ORDER_BELOW;
    if (cellar_distribution_holds(pair->q, b))
        order = compare_exactly(pair, b, epsilon);
    else if (pair->is_monotone)
        return CELLAR_ORDER_ABOVE; /* its support has no holes */
    return order == CELLAR_ORDER_OPEN ? compare_balls(pair, b, epsilon) : order;
}

static int is_above(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    cellar_order order = cellar_pair_compare(pair, b, epsilon);
    return order == CELLAR_ORDER_ABOVE || order == CELLAR_ORDER_OPEN;
}

/* ---- thresholds of monotone pairs ------------------------------------------------------ */

/* +1: losses rise with b, -1: they fall. */
static int64_t direction_of(const cellar_pair *pair)
{
    return pair->p->count > pair->q->count ? 1 : -1;
}

/* is_above() by doubles, which may be wrong: where to begin with balls. */
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
    return search(pair, epsilon, low, high, x > high ? high : x, is_above);
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

static int ball_is_tiny(const arb_t ball, slong exponent)
{
    return arf_cmpabs_2exp_si(arb_midref(ball), exponent) < 0 &&
           mag_cmp_2exp_si(arb_radref(ball), exponent) < 0;
}

/* Good to so many bits, or below what a double can hold, or no more than is asked for. */
static int is_settled(const cellar_pair *pair, const arb_t ball, slong bits)
{
    return arb_is_exact(ball) || arb_rel_accuracy_bits(ball) >= bits || ball_is_tiny(ball, -1100) ||
           (pair->enough > 0 && arb_is_finite(ball) && cellar_ball_upper(ball) <= pair->enough);
}

static int64_t threshold_of(const cellar_pair *pair, const fmpq_t epsilon)
{
    return cellar_pair_threshold(pair, epsilon, direction_of(pair) * pair->p->count);
}

/* A ball from 0 to the upper end of this one. */
static void ball_from_zero(arb_t ball)
{
    arb_t half;
    arb_init(half);
    arb_set_d(half, 0.5);
    mag_set_d(arb_radref(half), 0.5);
    arb_mul(ball, ball, half, CELLAR_PAIR_BITS);
    arb_clear(half);
}

/* What P may have beyond all values looked at. Losses of flat pairs are nowhere above those at the
 * counts. */
static void beyond_end(const cellar_pair *pair, int64_t direction, arb_t out)
{
    double mass = direction > 0 ? cellar_distribution_above(pair->p, pair->high)
                                : cellar_distribution_below(pair->p, pair->low);
    arb_set_d(out, pair->is_flat ? 0 : mass);
    ball_from_zero(out);
}

/* What lies outside the values looked at counts for P and not for Q. */
static void delta_by_threshold(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
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
        exp_of(epsilon, bits, factor);
        cellar_pair_beyond(pair, pair->q, x, bits, q);
        arb_submul(out, q, factor, bits);
        ball_clip(out);
        if (is_settled(pair, out, 44))
            break;
    }
    arb_clear(factor);
    arb_clear(q);
}

static void violation_by_threshold(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
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
        ball_clip(out);
        if (is_settled(pair, out, 44))
            break;
    }
    arb_clear(other);
}

/* ---- value by value --------------------------------------------------------------------- */

/* The window of P outside which its mass is small, and that mass as a ball that starts at zero. */
static void window_of(const cellar_pair *pair, double tail, int64_t *low, int64_t *high, arb_t rest)
{
    double outside;
    cellar_distribution_window(pair->p, tail, low, high);
    cellar_distribution_cut(pair->p, high);
    outside = cellar_distribution_below(pair->p, *low) + cellar_distribution_above(pair->p, *high);
    arb_set_d(rest, outside > 0 ? nextafter(outside, 2) : 0);
    ball_from_zero(rest);
}

/* The same in doubles, where rows hold all values. With u = CELLAR_NEAR_ERROR, P lies within (1 +-
 * u) p and e^epsilon within (1 +- v) factor, v = (2 + epsilon) 2^-52 (exp is right to an ulp, and
 * epsilon to half of one), so that every term lies between the two that are added up; n additions
 * of positive numbers and the products in a term are right to (n + 8) 2^-53. 0: doubles do not hold
 * all values. */
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
    rounding = (double) (high - low + 9) * 0x1p-52;
    upper *= 1 + rounding;
    lower *= level < most ? 1 - rounding : 0; /* delta at `most` bounds that of all larger ones */
    arb_init(middle);
    arb_set_d(middle, lower + (upper - lower) / 2);
    mag_set_d(arb_radref(middle), (upper - lower) * 0.51 + upper * 0x1p-52);
    arb_add(out, out, middle, CELLAR_PAIR_BITS);
    ball_clip(out);
    arb_clear(middle);
    return 1;
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
    exp_of(epsilon, bits, factor);
    window_of(pair, tail, &low, &high, out);
    for (int64_t b = low; b <= high; b += pair->step) {
        cellar_distribution_pmf(pair->p, b, bits, p);
        cellar_distribution_pmf(pair->q, b, bits, q);
        arb_submul(p, q, factor, bits);
        arb_max(p, p, zero, bits);
        arb_add(out, out, p, bits);
    }
    ball_clip(out);
    arb_clear(factor);
    arb_clear(p);
    arb_clear(q);
    arb_clear(zero);
}

/* 1 when doubles show that the loss at b is within epsilon, which is most values. */
static int is_clearly_within(const cellar_pair *pair, int64_t b, double factor)
{
    double p, q;
    return cellar_distribution_near(pair->p, b, &p) && cellar_distribution_near(pair->q, b, &q) &&
           p < factor * q && q < factor * p;
}

static void violation_by_sum(const cellar_pair *pair, const fmpq_t epsilon, double tail, arb_t out)
{
    const double factor = exp(cellar_rational_double(epsilon)) * (1 - 1e-12);
    const cellar_pair swapped = cellar_pair_swapped(pair);
    int64_t low, high;
    arb_t p;
    arb_init(p);
    window_of(pair, tail, &low, &high, out);
    for (int64_t b = low; b <= high; b += pair->step)
        if (!is_clearly_within(pair, b, factor) &&
            (is_above(pair, b, epsilon) || is_above(&swapped, b, epsilon))) {
            cellar_distribution_pmf(pair->p, b, CELLAR_PAIR_BITS, p);
            arb_add(out, out, p, CELLAR_PAIR_BITS);
        }
    ball_clip(out);
    arb_clear(p);
}

/* Leaving out so little that it does not show in the result. */
static const double TAILS[] = {1e-18, 1e-38, 1e-78, 1e-300};
enum { N_TAILS = sizeof TAILS / sizeof *TAILS };

static void delta_by_values(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    for (int i = 0, is_near = 1; i < N_TAILS; i++) {
        is_near = is_near && delta_by_near(pair, epsilon, TAILS[i], out);
        if (!is_near)
            cellar_pair_delta_by_sum(pair, epsilon, TAILS[i], CELLAR_PAIR_BITS, out);
        if (is_settled(pair, out, is_near ? 24 : 40))
            break;
    }
}

static void violation_by_values(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    for (int i = 0; i < N_TAILS; i++) {
        violation_by_sum(pair, epsilon, TAILS[i], out);
        if (is_settled(pair, out, 40))
            break;
    }
}

/* ---- either way -------------------------------------------------------------------------- */

void cellar_pair_delta(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    if (pair->is_monotone)
        delta_by_threshold(pair, epsilon, out);
    else
        delta_by_values(pair, epsilon, out);
}

void cellar_pair_violation(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    if (pair->is_monotone)
        violation_by_threshold(pair, epsilon, out);
    else
        violation_by_values(pair, epsilon, out);
}

static int is_finite(const cellar_distribution *d)
{
    return d->low != INT64_MIN && d->high != INT64_MAX;
}

/* Supports of monotone pairs are intervals; others may have holes. */
void cellar_pair_infinite(const cellar_pair *pair, arb_t out)
{
    const int64_t bits = CELLAR_PAIR_BITS;
    cellar_distribution *p = pair->p, *q = pair->q;
    arb_t mass, other;
    arb_init(mass);
    arb_init(other);
    arb_zero(out);
    if (pair->is_monotone || !is_finite(p)) {
        if (p->low < q->low)
            cellar_distribution_lower(p, q->low - 1, bits, out);
        if (p->high > q->high) {
            cellar_distribution_upper(p, q->high + 1, bits, mass);
            arb_add(out, out, mass, bits);
        }
    } else {
        for (int64_t b = p->low; b <= p->high; b += pair->step) {
            cellar_distribution_pmf(q, b, bits, other);
            if (!arb_is_zero(other))
                continue;
            cellar_distribution_pmf(p, b, bits, mass);
            arb_add(out, out, mass, bits);
        }
    }
    ball_clip(out);
    arb_clear(mass);
    arb_clear(other);
}

int cellar_pair_largest_loss(const cellar_pair *pair, arb_t out)
{
    const int64_t bits = CELLAR_PAIR_BITS;
    int finite = is_finite(pair->p) && is_finite(pair->q);
    arb_t p, q;
    arb_init(p);
    arb_init(q);
    arb_zero(out);
    for (int64_t b = pair->p->low; finite && b <= pair->p->high; b += pair->step) {
        cellar_distribution_pmf(pair->p, b, bits, p);
        if (arb_is_zero(p))
            continue;
        cellar_distribution_pmf(pair->q, b, bits, q);
        finite = arb_is_positive(q) && arb_is_positive(p);
        arb_div(p, p, q, bits);
        arb_log(p, p, bits);
        arb_abs(p, p);
        arb_max(out, out, p, bits);
    }
    arb_clear(p);
    arb_clear(q);
    return finite;
}
