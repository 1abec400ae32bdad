/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far apart the two laws of a pair are: by the threshold of a monotone likelihood ratio, or
 * term by term. */
#include "privacy/pair.h"

#include <math.h>

#include "math/ball.h"
#include "privacy/pair_rows.h"

/* No released number of interest lies beyond; sums of two still fit. */
static const int64_t PAIR_FAR = INT64_C(1) << 60;

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

/* The same with doubles, which may be wrong: by logarithms alone, and by words where there are. */
static int pair_seems_above_by_log(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    return pair->m->ops->log_pmf(pair->m, pair->count[0], b) -
               pair->m->ops->log_pmf(pair->m, pair->count[1], b) >
           fmpq_get_d(epsilon);
}

static int pair_seems_above(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    const cellar_law_row *p, *q;
    if (!cellar_pair_in_support(pair, 0, b))
        return 0;
    if (!cellar_pair_in_support(pair, 1, b))
        return 1;
    p = b < 1 << 12 && !pair->wide
            ? cellar_pair_cache_words(pair->cache, pair->m, pair->count[0], b)
            : NULL;
    q = p != NULL ? cellar_pair_cache_words(pair->cache, pair->m, pair->count[1], b) : NULL;
    if (q != NULL && p != q && p->p[b - p->first].high > 0 && q->p[b - q->first].high > 0)
        return log(p->p[b - p->first].high / q->p[b - q->first].high) > fmpq_get_d(epsilon);
    return pair_seems_above_by_log(pair, b, epsilon);
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

/* The threshold where the two counts tell of all numbers beyond them. */
static int64_t pair_threshold_flat(const cellar_pair *pair, const fmpq_t epsilon, int64_t low,
                                   int64_t high)
{
    int64_t direction = pair_direction(pair), from = direction * pair->count[1];
    int64_t to = direction * pair->count[0]; /* losses rise in this direction */
    int64_t x = pair_search(pair, epsilon, from, to, to, pair_seems_above_by_log);
    x = pair_search(pair, epsilon, from, to, x < to ? x : to, pair_is_above);
    return x <= from ? low : x > to ? high + 1 : x;
}

/* Found with doubles and proved with balls. */
int64_t cellar_pair_threshold(const cellar_pair *pair, const fmpq_t epsilon, int64_t near)
{
    int64_t low = pair->low[0], high = pair->high[0], x = near;
    low = low < -PAIR_FAR ? -PAIR_FAR : low;
    high = high > PAIR_FAR ? PAIR_FAR : high;
    if (pair_direction(pair) < 0) {
        int64_t swap = low;
        low = -high;
        high = -swap;
    }
    x = x < low ? low : x > high ? high : x;
    if (pair->flat)
        return pair_threshold_flat(pair, epsilon, low, high);
    x = pair_search(pair, epsilon, low, high, x, pair_seems_above);
    x = x > high ? high : x;
    return pair_search(pair, epsilon, low, high, x, pair_is_above);
}

static int64_t pair_threshold(const cellar_pair *pair, const fmpq_t epsilon)
{
    return cellar_pair_threshold(pair, epsilon, pair_direction(pair) * pair->count[0]);
}

/* The mass at direction * b >= x. */
static void beyond(const cellar_pair *pair, int side, int64_t direction, int64_t x, int64_t bits,
                   arb_t out)
{
    if (pair->flat && x > PAIR_FAR) { /* there losses are as at the counts, and not above */
        arb_zero(out);
        return;
    }
    x = x < PAIR_FAR ? x : PAIR_FAR; /* what lies there counts, whatever its loss */
    if (direction > 0)
        cellar_pair_upper(pair, side, x, bits, out);
    else
        cellar_pair_lower(pair, side, -x, bits, out);
}

void cellar_pair_beyond(const cellar_pair *pair, int side, int64_t x, int64_t bits, arb_t out)
{
    beyond(pair, side, pair_direction(pair), x, bits, out);
}

static int ball_is_tiny(const arb_t ball, slong exponent)
{
    return arf_cmpabs_2exp_si(arb_midref(ball), exponent) < 0 &&
           mag_cmp_2exp_si(arb_radref(ball), exponent) < 0;
}

/* Good to some 13 digits, or so small that nobody can tell. */
static int ball_is_settled(const arb_t ball)
{
    return arb_is_exact(ball) || arb_rel_accuracy_bits(ball) >= 44 || ball_is_tiny(ball, -1100);
}

static void exp_of(const fmpq_t epsilon, int64_t bits, arb_t out)
{
    arb_set_fmpq(out, epsilon, bits + 64);
    arb_exp(out, out, bits);
}

static void pair_delta_by_threshold(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    int64_t x = pair_threshold(pair, epsilon);
    arb_t factor, q;
    arb_init(factor);
    arb_init(q);
    for (int64_t bits = CELLAR_PAIR_BITS; bits <= CELLAR_PAIR_BITS_MAX; bits *= 2) {
        exp_of(epsilon, bits, factor);
        cellar_pair_beyond(pair, 0, x, bits, out);
        cellar_pair_beyond(pair, 1, x, bits, q);
        if (x < PAIR_FAR)
            arb_submul(out, q, factor, bits);
        ball_clip(out);
        if (ball_is_settled(out))
            break;
    }
    arb_clear(factor);
    arb_clear(q);
}

void cellar_pair_violation_beyond(const cellar_pair *pair, int64_t above, int64_t below, arb_t out)
{
    int64_t direction = pair_direction(pair);
    arb_t other;

    arb_init(other);
    if (-below >= above - 1) {
        arb_one(out); /* every released number violates */
        arb_clear(other);
        return;
    }
    for (int64_t bits = CELLAR_PAIR_BITS; bits <= CELLAR_PAIR_BITS_MAX; bits *= 2) {
        cellar_pair_beyond(pair, 0, above, bits, out);
        beyond(pair, 0, -direction, below, bits, other);
        arb_add(out, out, other, bits);
        ball_clip(out);
        if (ball_is_settled(out))
            break;
    }
    arb_clear(other);
}

static void pair_violation_by_threshold(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    cellar_pair swapped = pair_swapped(pair);
    cellar_pair_violation_beyond(pair, pair_threshold(pair, epsilon),
                                 pair_threshold(&swapped, epsilon), out);
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

/* Violations of either sign. */
static int pair_violates(const cellar_pair *pair, int64_t b, const fmpq_t epsilon)
{
    cellar_pair swapped = pair_swapped(pair);
    return pair_is_above(pair, b, epsilon) || pair_is_above(&swapped, b, epsilon);
}

void cellar_pair_violation_by_sum(const cellar_pair *pair, const fmpq_t epsilon, double tail,
                                  int64_t bits, arb_t out)
{
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
        if (!within && pair_violates(pair, b, epsilon))
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

/* In double-words, as far as it takes. */
static int pair_by_words(const cellar_pair *pair, const fmpq_t epsilon, int is_delta, arb_t out)
{
    for (int i = 0; i < CELLAR_PAIR_LENGTHS; i++) {
        if (!(is_delta ? cellar_pair_delta_by_words(pair, epsilon, cellar_pair_lengths[i], out)
                       : cellar_pair_violation_by_words(pair, epsilon, cellar_pair_lengths[i],
                                                        pair_violates, out)))
            return 0;
        ball_clip(out);
        if (arb_rel_accuracy_bits(out) >= CELLAR_PAIR_ACCURACY || ball_is_tiny(out, -600))
            return 1;
    }
    return 0;
}

static int pair_has_quick(const cellar_pair *pair)
{
    const cellar_facts *facts = pair->m->ops->facts;
    return facts != NULL && facts->quick != NULL && !pair->clamped;
}

/* By how much that delta may be too large. */
static double error_of_quick(const cellar_quick *quick, int larger)
{
    const double rounding = 1e-8;
    return (quick->delta[larger] + quick->violation[larger]) * rounding + quick->rest;
}

/* Encloses delta where rows are held for it, and answers how many numbers they have; 0 where there
 * are none. */
static double pair_by_rows(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    const double visible = 1e-6;
    const int larger = pair->count[0] > pair->count[1];
    const int64_t smaller = pair->count[larger], shift = pair->count[!larger] - smaller;
    const double about = nextafter(fmpq_get_d(epsilon), 0);
    cellar_quick quick;
    double error;
    if (!cellar_pair_rows_quick(pair->cache, pair->m, smaller, shift, about, 0, 0, &quick) ||
        quick.rest > visible * quick.delta[larger])
        return 0;
    error = error_of_quick(&quick, larger);
    arb_set_d(out, fmin(1, quick.delta[larger]) - error);
    mag_set_d(arb_radref(out), error);
    return quick.numbers;
}

/* Encloses delta by the fact `quick`, to some six digits at least, or from above only where it has
 * too many numbers; and bounds delta_p, where a number that is close to epsilon may count or not.
 * Answers how many numbers it took. */
static double pair_by_quick(const cellar_pair *pair, const fmpq_t epsilon, int is_delta, arb_t out)
{
    static const double sizes[] = {0, 1e-60, 1e-20, 1e-6, 1};
    const double most = 1e5, each = 0.008; /* us */
    const cellar_facts *facts = pair->m->ops->facts;
    const int larger = pair->count[0] > pair->count[1];
    const int64_t smaller = pair->count[larger], shift = pair->count[!larger] - smaller;
    double about = nextafter(fmpq_get_d(epsilon), 0), value = 1, error = 0.5, numbers = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        cellar_quick quick;
        const double *both = is_delta ? quick.delta : quick.violation;
        if (!facts->quick(pair->m, smaller, shift, about, sizes[i], most, &quick)) {
            numbers += quick.numbers;
            continue;
        }
        numbers += quick.numbers;
        if (i == 0 && both[larger] < both[!larger]) { /* it was the other order that mattered */
            facts->quick(pair->m, smaller, shift, about, both[larger], most, &quick);
            numbers += quick.numbers;
        }
        value = fmin(1, both[larger]);
        error = value / 2;
        if (is_delta && i == 0)
            error = fmin(error, error_of_quick(&quick, larger));
        break;
    }
    arb_set_d(out, value - error);
    mag_set_d(arb_radref(out), error);
    cellar_work_add(cellar_pair_cache_work(pair->cache), each * numbers);
    return numbers;
}

/* 1: double-words for a sum of that size are too many for what may be done, of which half is left
 * to others. They go further than the numbers that were looked at in doubles. */
static int words_are_many(const cellar_pair *pair, double numbers, double size)
{
    const double each = 0.17, share = 0.4, left = 0.5; /* us, and of the limit */
    const double reached = log(1e6) - log(size), needed = CELLAR_PAIR_ACCURACY - log2(size);
    const cellar_work *work = cellar_pair_cache_work(pair->cache);
    const double limit = cellar_work_limit(work);
    int bits = cellar_pair_lengths[0];
    for (int i = 0; i < CELLAR_PAIR_LENGTHS && bits < needed; i++)
        bits = cellar_pair_lengths[i];
    return isfinite(limit) && each * numbers * fmax(1, bits * M_LN2 / reached) >
                                  fmin(share * limit, cellar_work_left(work) - left * limit);
}

/* Of a pair that is quickly bounded: to 40 bits by double-words, where these reach so far and are
 * not too many. Balls take very long. */
static void pair_by_quick_or_words(const cellar_pair *pair, const fmpq_t epsilon, int is_delta,
                                   arb_t out)
{
    const double too_far = 400;
    double numbers = is_delta ? pair_by_rows(pair, epsilon, out) : 0, size;
    arb_t words;
    if (numbers <= 0)
        numbers = pair_by_quick(pair, epsilon, is_delta, out);
    size = cellar_ball_upper(out);
    if (fmpq_get_d(epsilon) > too_far || words_are_many(pair, numbers, size))
        return;
    arb_init(words);
    if (pair_by_words(pair, epsilon, is_delta, words) &&
        arb_rel_accuracy_bits(words) >= CELLAR_PAIR_ACCURACY)
        arb_set(out, words);
    arb_clear(words);
}

/* Term by term, leaving out so little that it does not show in the result. */
static void pair_by_sum(const cellar_pair *pair, const fmpq_t epsilon, int is_delta, arb_t out)
{
    static const double tails[] = {1e-18, 1e-38, 1e-78, 1e-300};
    if (pair_has_quick(pair)) {
        pair_by_quick_or_words(pair, epsilon, is_delta, out);
        return;
    }
    if (pair_by_words(pair, epsilon, is_delta, out))
        return;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        if (is_delta)
            cellar_pair_delta_by_sum(pair, epsilon, tails[i], CELLAR_PAIR_BITS, out);
        else
            cellar_pair_violation_by_sum(pair, epsilon, tails[i], CELLAR_PAIR_BITS, out);
        if (arb_rel_accuracy_bits(out) >= 40)
            break;
    }
}

void cellar_pair_delta(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    if (pair->monotone)
        pair_delta_by_threshold(pair, epsilon, out);
    else
        pair_by_sum(pair, epsilon, 1, out);
}

void cellar_pair_violation(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    if (pair->monotone)
        pair_violation_by_threshold(pair, epsilon, out);
    else
        pair_by_sum(pair, epsilon, 0, out);
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
