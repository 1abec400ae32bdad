/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/pair.h"

#include <math.h>

#include "math/ball.h"

/* No released number of interest lies beyond; sums of two still fit. */
static const int64_t PAIR_FAR = INT64_C(1) << 60;

/* ---- the two laws ---------------------------------------------------------- */

void cellar_pair_init(cellar_pair *pair, const cellar_mechanism *m, int64_t count,
                      int64_t neighbour, cellar_negatives negatives)
{
    const cellar_facts *facts = m->ops->facts;
    *pair = (cellar_pair){.m = m, .count = {count, neighbour}};
    pair->step = facts != NULL && facts->step != NULL ? facts->step(m) : 1;
    pair->monotone = facts != NULL && facts->is_monotone != NULL && facts->is_monotone(m);
    for (int side = 0; side < 2; side++) {
        m->ops->support(m, pair->count[side], 0, &pair->low[side], &pair->high[side]);
        if (negatives == CELLAR_NEGATIVES_ZERO && pair->low[side] < 0) {
            pair->clamped = 1;
            pair->low[side] = 0;
            if (pair->high[side] < 0)
                pair->high[side] = 0;
        }
    }
}

/* P(B = b) within the support. */
static void raw_pmf(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = pair->m;
    int64_t count = pair->count[side];
    if (cellar_pair_cache_pmf(pair->cache, m, count, b, bits, out) ||
        cellar_pair_cache_get(pair->cache, m, CELLAR_PAIR_PMF, count, b, bits, out))
        return;
    m->ops->pmf_ball(m, count, b, bits, out);
    cellar_pair_cache_put(pair->cache, m, CELLAR_PAIR_PMF, count, b, bits, out);
}

/* P(B > b), by the mechanism's own survival_ball. */
static void raw_survival(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = pair->m;
    int64_t count = pair->count[side];
    if (cellar_pair_cache_upper(pair->cache, m, count, b, bits, out) ||
        cellar_pair_cache_get(pair->cache, m, CELLAR_PAIR_UPPER, count, b, bits, out))
        return;
    m->ops->survival_ball(m, count, b, bits, out);
    cellar_pair_cache_put(pair->cache, m, CELLAR_PAIR_UPPER, count, b, bits, out);
}

/* P(B >= b) of the mechanism itself, negatives kept. */
static void raw_upper(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = pair->m;
    int64_t low, high;
    arb_t term;

    m->ops->support(m, pair->count[side], 0, &low, &high);
    if (b <= low) {
        arb_one(out);
        return;
    }
    if (b > high) {
        arb_zero(out);
        return;
    }
    if (m->ops->survival_ball != NULL) {
        raw_survival(pair, side, b - 1, bits, out);
        return;
    }
    arb_init(term);
    arb_zero(out);
    if (high != INT64_MAX) {
        for (int64_t x = high; x >= b; x -= pair->step) {
            raw_pmf(pair, side, x, bits, term);
            arb_add(out, out, term, bits);
        }
    } else {
        for (int64_t x = low; x < b; x += pair->step) {
            raw_pmf(pair, side, x, bits, term);
            arb_add(out, out, term, bits);
        }
        arb_sub_ui(out, out, 1, bits);
        arb_neg(out, out);
    }
    arb_clear(term);
}

/* P(B <= b), negatives kept. Additive noise is symmetric, so its lower tail is as accurate as its
 * upper one. Elsewhere short tails are summed, and long ones are what the upper tail leaves. */
static void raw_lower(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    enum { SHORT = 64 };
    const cellar_mechanism *m = pair->m;
    int64_t low, high, count = pair->count[side];
    m->ops->support(m, count, 0, &low, &high);
    if (b < low) {
        arb_zero(out);
    } else if (b >= high) {
        arb_one(out);
    } else if (m->ops->is_additive) {
        raw_upper(pair, side, 2 * count - b, bits, out);
    } else if (low != INT64_MIN && (b - low < SHORT || m->ops->survival_ball == NULL)) {
        arb_t term;
        arb_init(term);
        arb_zero(out);
        for (int64_t x = low; x <= b; x += pair->step) {
            raw_pmf(pair, side, x, bits, term);
            arb_add(out, out, term, bits);
        }
        arb_clear(term);
    } else {
        raw_upper(pair, side, b + 1, bits, out);
        arb_sub_ui(out, out, 1, bits);
        arb_neg(out, out);
    }
}

/* Removes what a probability cannot be from a ball. */
static void ball_clip(arb_t ball)
{
    arb_t unit;
    arb_init(unit);
    arb_one(unit);
    if (arb_is_nonnegative(ball) && arb_le(ball, unit)) {
        arb_clear(unit);
        return;
    }
    arb_set_d(unit, 0.5);
    mag_set_d(arb_radref(unit), 0.5);
    if (!arb_intersection(ball, ball, unit, CELLAR_PAIR_BITS_MAX))
        arb_indeterminate(ball);
    arb_clear(unit);
}

void cellar_pair_pmf(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    if (pair->clamped && b == 0)
        raw_lower(pair, side, 0, bits, out);
    else if (b < pair->low[side] || b > pair->high[side])
        arb_zero(out);
    else
        raw_pmf(pair, side, b, bits, out);
}

void cellar_pair_upper(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    if (pair->clamped && b <= 0)
        arb_one(out);
    else
        raw_upper(pair, side, b, bits, out);
}

void cellar_pair_lower(const cellar_pair *pair, int side, int64_t b, int64_t bits, arb_t out)
{
    if (pair->clamped && b < 0)
        arb_zero(out);
    else
        raw_lower(pair, side, b, bits, out);
}

/* ---- comparing a loss with epsilon ----------------------------------------- */

static int pair_in_support(const cellar_pair *pair, int side, int64_t b)
{
    return b >= pair->low[side] && b <= pair->high[side];
}

/* Order by an exactly known loss; OPEN when it is not known. */
static cellar_order pair_compare_exactly(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    const cellar_facts *facts = pair->m->ops->facts;
    int64_t k = b - pair->count[0], k_other = b - pair->count[1];
    cellar_order order = CELLAR_ORDER_OPEN;
    fmpq_t loss;
    int sign;

    if (pair->clamped && b == 0)
        return CELLAR_ORDER_OPEN;
    fmpq_init(loss);
    if ((pair->m->ops->is_additive && (k == k_other || k == -k_other)) ||
        (facts != NULL && facts->log_ratio != NULL &&
         facts->log_ratio(pair->m, pair->count[0], pair->count[1], b, loss))) {
        sign = fmpq_cmp(loss, epsilon); /* loss is 0 for equal |k| */
        order = sign < 0 ? CELLAR_ORDER_BELOW : sign > 0 ? CELLAR_ORDER_ABOVE : CELLAR_ORDER_TIE;
    }
    fmpq_clear(loss);
    return order;
}

cellar_order cellar_pair_compare(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    cellar_order order;
    arb_t p, q;

    if (!pair_in_support(pair, 0, b))
        return CELLAR_ORDER_BELOW;
    if (!pair_in_support(pair, 1, b)) {
        order = CELLAR_ORDER_ABOVE;
        if (pair->monotone)
            return order;
    } else {
        order = pair_compare_exactly(pair, b, epsilon);
        if (order != CELLAR_ORDER_OPEN)
            return order;
    }
    arb_init(p);
    arb_init(q);
    order = CELLAR_ORDER_OPEN;
    for (int64_t bits = CELLAR_PAIR_BITS;
         bits <= CELLAR_PAIR_BITS_MAX && order == CELLAR_ORDER_OPEN; bits *= 2) {
        arb_t factor;
        arb_init(factor);
        cellar_pair_pmf(pair, 0, b, bits, p);
        cellar_pair_pmf(pair, 1, b, bits, q);
        arb_set_fmpq(factor, epsilon, bits + 64);
        arb_exp(factor, factor, bits);
        arb_mul(q, q, factor, bits);
        if (arb_is_zero(p) || arb_lt(p, q)) /* a hole in the support of P counts for nothing */
            order = CELLAR_ORDER_BELOW;
        else if (arb_gt(p, q))
            order = CELLAR_ORDER_ABOVE;
        arb_clear(factor);
    }
    arb_clear(p);
    arb_clear(q);
    return order;
}

/* ---- thresholds of monotone pairs ------------------------------------------- */

/* A pair with the two laws exchanged. */
static cellar_pair pair_swapped(const cellar_pair *pair)
{
    cellar_pair other = *pair;
    for (int side = 0; side < 2; side++) {
        other.count[side] = pair->count[1 - side];
        other.low[side] = pair->low[1 - side];
        other.high[side] = pair->high[1 - side];
    }
    return other;
}

/* +1: losses rise with b, -1: they fall. */
static int64_t pair_direction(const cellar_pair *pair)
{
    return pair->count[0] > pair->count[1] ? 1 : -1;
}

static int pair_is_above(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    cellar_order order = cellar_pair_compare(pair, b, epsilon);
    return order == CELLAR_ORDER_ABOVE || order == CELLAR_ORDER_OPEN;
}

/* The same with doubles, which may be wrong. */
static int pair_seems_above(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    if (!pair_in_support(pair, 0, b))
        return 0;
    if (!pair_in_support(pair, 1, b))
        return 1;
    return pair->m->ops->log_pmf(pair->m, pair->count[0], b) -
               pair->m->ops->log_pmf(pair->m, pair->count[1], b) >
           fmpq_get_d(epsilon);
}

/* The smallest x in low..high + 1 from which on `above` says yes at b = direction * x, by doubling
 * steps from `start` and bisection. */
static int64_t pair_search(const cellar_pair *pair, const fmpq_t epsilon, int64_t low, int64_t high,
                           int64_t start, int (*above)(const cellar_pair *, int64_t, const fmpq_t))
{
    int64_t direction = pair_direction(pair), step = 1;
    int64_t yes = high + 1, no = low - 1, x = start;
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

/* The x from which on losses at b = direction * x exceed epsilon, found with doubles and proved
 * with balls. Beyond the support (or PAIR_FAR) when they never do. */
static int64_t pair_threshold(const cellar_pair *pair, const fmpq_t epsilon)
{
    int64_t low = pair->low[0], high = pair->high[0], x = pair->count[0];
    low = low < -PAIR_FAR ? -PAIR_FAR : low;
    high = high > PAIR_FAR ? PAIR_FAR : high;
    if (pair_direction(pair) < 0) {
        int64_t swap = low;
        low = -high;
        high = -swap;
        x = -x;
    }
    x = x < low ? low : x > high ? high : x;
    x = pair_search(pair, epsilon, low, high, x, pair_seems_above);
    x = x > high ? high : x;
    return pair_search(pair, epsilon, low, high, x, pair_is_above);
}

/* The mass at direction * b >= x. */
static void pair_beyond(const cellar_pair *pair, int side, int64_t direction, int64_t x,
                        int64_t bits, arb_t out)
{
    x = x < PAIR_FAR ? x : PAIR_FAR; /* what lies there counts, whatever its loss */
    if (direction > 0)
        cellar_pair_upper(pair, side, x, bits, out);
    else
        cellar_pair_lower(pair, side, -x, bits, out);
}

/* Good to about 16 digits, or so small that nobody can tell. */
static int ball_is_settled(const arb_t ball)
{
    return arb_is_exact(ball) || arb_rel_accuracy_bits(ball) >= 56 ||
           (arf_cmpabs_2exp_si(arb_midref(ball), -1100) < 0 &&
            mag_cmp_2exp_si(arb_radref(ball), -1100) < 0);
}

static void exp_of(const fmpq_t epsilon, int64_t bits, arb_t out)
{
    arb_set_fmpq(out, epsilon, bits + 64);
    arb_exp(out, out, bits);
}

static void pair_delta_by_threshold(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    int64_t direction = pair_direction(pair), x = pair_threshold(pair, epsilon);
    arb_t factor, q;
    arb_init(factor);
    arb_init(q);
    for (int64_t bits = CELLAR_PAIR_BITS; bits <= CELLAR_PAIR_BITS_MAX; bits *= 2) {
        exp_of(epsilon, bits, factor);
        pair_beyond(pair, 0, direction, x, bits, out);
        pair_beyond(pair, 1, direction, x, bits, q);
        if (x < PAIR_FAR)
            arb_submul(out, q, factor, bits);
        ball_clip(out);
        if (ball_is_settled(out))
            break;
    }
    arb_clear(factor);
    arb_clear(q);
}

static void pair_violation_by_threshold(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    cellar_pair swapped = pair_swapped(pair);
    int64_t direction = pair_direction(pair);
    int64_t above = pair_threshold(pair, epsilon), below = pair_threshold(&swapped, epsilon);
    arb_t other;

    arb_init(other);
    if (-below >= above - 1) {
        arb_one(out); /* every released number violates */
        arb_clear(other);
        return;
    }
    for (int64_t bits = CELLAR_PAIR_BITS; bits <= CELLAR_PAIR_BITS_MAX; bits *= 2) {
        pair_beyond(pair, 0, direction, above, bits, out);
        pair_beyond(pair, 0, -direction, below, bits, other);
        arb_add(out, out, other, bits);
        ball_clip(out);
        if (ball_is_settled(out))
            break;
    }
    arb_clear(other);
}

/* ---- term by term ------------------------------------------------------------ */

/* The window of P outside which its mass is small, and that mass (from balls, not from the
 * doubles that chose the window) as a ball that starts at zero. */
static void pair_window(const cellar_pair *pair, double tail, int64_t bits, int64_t *low,
                        int64_t *high, arb_t rest)
{
    arb_t above;
    pair->m->ops->support(pair->m, pair->count[0], tail, low, high);
    *low = *low < pair->low[0] ? pair->low[0] : *low;
    *high = *high > pair->high[0] ? pair->high[0] : *high;
    *high = *high < *low ? *low : *high;
    arb_init(above);
    cellar_pair_lower(pair, 0, *low - 1, bits, rest);
    cellar_pair_upper(pair, 0, *high + 1, bits, above);
    arb_add(rest, rest, above, bits);
    ball_clip(rest);
    arb_set_d(above, 0.5);
    mag_set_d(arb_radref(above), 0.5);
    arb_mul(rest, rest, above, bits);
    arb_clear(above);
}

/* P(b) and Q(b) over a window, enclosed in runs where the mechanism offers that. */
typedef struct pair_run {
    const cellar_pair *pair;
    int64_t bits, first, last; /* of the run held, and of the window */
    size_t n;
    arb_ptr side[2];
} pair_run;

enum { RUN = 512 };

static void pair_run_init(pair_run *run, const cellar_pair *pair, int64_t last, int64_t bits)
{
    *run = (pair_run){.pair = pair, .bits = bits, .last = last};
    if (pair->m->ops->pmf_balls == NULL || pair->clamped)
        return;
    for (int side = 0; side < 2; side++)
        run->side[side] = _arb_vec_init(RUN);
}

static void pair_run_clear(pair_run *run)
{
    for (int side = 0; side < 2 && run->side[0] != NULL; side++)
        _arb_vec_clear(run->side[side], RUN);
}

/* b must not fall from call to call. */
static void pair_run_at(pair_run *run, int64_t b, arb_t p, arb_t q)
{
    const cellar_pair *pair = run->pair;
    if (run->side[0] == NULL) {
        cellar_pair_pmf(pair, 0, b, run->bits, p);
        cellar_pair_pmf(pair, 1, b, run->bits, q);
        return;
    }
    if (run->n == 0 || b >= run->first + (int64_t) run->n) {
        run->first = b;
        run->n = run->last - b + 1 < RUN ? (size_t) (run->last - b + 1) : RUN;
        for (int side = 0; side < 2; side++)
            pair->m->ops->pmf_balls(pair->m, pair->count[side], b, run->n, run->bits,
                                    run->side[side]);
    }
    arb_set(p, run->side[0] + (b - run->first));
    arb_set(q, run->side[1] + (b - run->first));
}

void cellar_pair_delta_by_sum(const cellar_pair *pair, const fmpq_t epsilon, double tail,
                              int64_t bits, arb_t out)
{
    arb_t factor, p, q, zero;
    int64_t low, high;
    pair_run run;
    arb_init(factor);
    arb_init(p);
    arb_init(q);
    arb_init(zero);
    exp_of(epsilon, bits, factor);
    pair_window(pair, tail, bits, &low, &high, out);
    pair_run_init(&run, pair, high, bits);
    for (int64_t b = low; b <= high; b += pair->step) {
        pair_run_at(&run, b, p, q);
        arb_submul(p, q, factor, bits);
        arb_max(p, p, zero, bits);
        arb_add(out, out, p, bits);
    }
    pair_run_clear(&run);
    ball_clip(out);
    arb_clear(factor);
    arb_clear(p);
    arb_clear(q);
    arb_clear(zero);
}

void cellar_pair_violation_by_sum(const cellar_pair *pair, const fmpq_t epsilon, double tail,
                                  int64_t bits, arb_t out)
{
    cellar_pair swapped = pair_swapped(pair);
    arb_t factor, p, q, scaled;
    int64_t low, high;
    pair_run run;
    arb_init(factor);
    arb_init(p);
    arb_init(q);
    arb_init(scaled);
    exp_of(epsilon, bits, factor);
    pair_window(pair, tail, bits, &low, &high, out);
    pair_run_init(&run, pair, high, bits);
    for (int64_t b = low; b <= high; b += pair->step) {
        int within; /* e^-epsilon Q < P < e^epsilon Q: no exact comparison needed */
        pair_run_at(&run, b, p, q);
        arb_mul(scaled, q, factor, bits);
        within = arb_lt(p, scaled);
        arb_mul(scaled, p, factor, bits);
        within = within && arb_lt(q, scaled);
        if (!within && (pair_is_above(pair, b, epsilon) || pair_is_above(&swapped, b, epsilon)))
            arb_add(out, out, p, bits);
    }
    pair_run_clear(&run);
    ball_clip(out);
    arb_clear(factor);
    arb_clear(p);
    arb_clear(q);
    arb_clear(scaled);
}

/* ---- either way --------------------------------------------------------------- */

/* Term by term, leaving out so little that it does not show in the result. */
static void pair_by_sum(const cellar_pair *pair, const fmpq_t epsilon,
                        void (*measure)(const cellar_pair *, const fmpq_t, double, int64_t, arb_t),
                        arb_t out)
{
    static const double tails[] = {1e-18, 1e-38, 1e-78, 1e-300};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        measure(pair, epsilon, tails[i], CELLAR_PAIR_BITS, out);
        if (arb_rel_accuracy_bits(out) >= 40)
            break;
    }
}

void cellar_pair_delta(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    if (pair->monotone)
        pair_delta_by_threshold(pair, epsilon, out);
    else
        pair_by_sum(pair, epsilon, cellar_pair_delta_by_sum, out);
}

void cellar_pair_violation(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    if (pair->monotone)
        pair_violation_by_threshold(pair, epsilon, out);
    else
        pair_by_sum(pair, epsilon, cellar_pair_violation_by_sum, out);
}

static int pair_is_finite(const cellar_pair *pair, int side)
{
    return pair->low[side] != INT64_MIN && pair->high[side] != INT64_MAX;
}

void cellar_pair_infinite(const cellar_pair *pair, int64_t bits, arb_t out)
{
    arb_t p, q;
    arb_init(p);
    arb_init(q);
    arb_zero(out);
    if (pair->low[0] < pair->low[1])
        cellar_pair_lower(pair, 0, pair->low[1] - 1, bits, out);
    if (pair->high[0] > pair->high[1]) {
        cellar_pair_upper(pair, 0, pair->high[1] + 1, bits, p);
        arb_add(out, out, p, bits);
    }
    if (!pair->monotone && pair_is_finite(pair, 0)) { /* holes */
        arb_zero(out);
        for (int64_t b = pair->low[0]; b <= pair->high[0]; b += pair->step) {
            cellar_pair_pmf(pair, 1, b, bits, q);
            if (!arb_is_zero(q))
                continue;
            cellar_pair_pmf(pair, 0, b, bits, p);
            arb_add(out, out, p, bits);
        }
    }
    ball_clip(out);
    arb_clear(p);
    arb_clear(q);
}

int cellar_pair_largest_loss(const cellar_pair *pair, int64_t bits, arb_t out)
{
    arb_t p, q;
    int finite = pair_is_finite(pair, 0) && pair_is_finite(pair, 1);
    arb_init(p);
    arb_init(q);
    arb_zero(out);
    for (int64_t b = pair->low[0]; finite && b <= pair->high[0]; b += pair->step) {
        cellar_pair_pmf(pair, 0, b, bits, p);
        if (arb_is_zero(p))
            continue;
        cellar_pair_pmf(pair, 1, b, bits, q);
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
