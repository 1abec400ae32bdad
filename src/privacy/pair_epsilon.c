/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The epsilon of a pair whose likelihood ratios are monotone, for a given delta.
 *
 * Let P(x) and Q(x) be what the two distributions have beyond x, in the direction in which losses
 * rise. Then delta(epsilon) is the largest of P(x) - e^epsilon Q(x) over all x: a convex function
 * of e^epsilon made of straight lines, where the line of x is the largest for the epsilon whose
 * threshold is x. Each line is a bound from below: where it meets delta, at ln((P(x) - delta) /
 * Q(x)), epsilon is not yet enough, or just so. And it is enough if x is the threshold there too.
 * So one line, found near the answer, gives it as closely as its two tails are known, and nothing
 * is left to be bisected. */
#include <math.h>

#include "math/ball.h"
#include "math/rational.h"
#include "math/work.h"
#include "privacy/pair.h"

/* A line, and what it says. */
typedef struct line {
    int64_t x;
    double value;        /* at the epsilon whose threshold is x, about */
    double most;         /* no less than delta at that epsilon */
    double fall;         /* by which it falls there when epsilon grows, about */
    int meets;           /* it meets delta at an epsilon of at least 0, which lies within */
    double lower, upper; /* these two */
} line;

/* What is known so far: epsilon lies between low and high. `off` is the logarithm of delta there
 * over the one wanted, NAN where it was not asked; the last two asked are by how far they were off.
 */
typedef struct bracket {
    double low, high;
    double off_low, off_high;
    double last, before;
} bracket;

static double middle_of(const arb_t ball)
{
    return arf_get_d(arb_midref(ball), ARF_RND_NEAR);
}

static int64_t threshold_at(const cellar_pair *pair, double epsilon, int64_t near)
{
    int64_t x;
    fmpq_t exact;
    fmpq_init(exact);
    cellar_rational_set_double(exact, epsilon);
    x = cellar_pair_threshold(pair, exact, near);
    fmpq_clear(exact);
    return x;
}

/* Where the line meets delta, given its two tails. */
static void line_meet(line *l, const arb_t p, const arb_t q, double delta, int64_t bits)
{
    arb_t rest, goal;
    arb_init(rest);
    arb_init(goal);
    arb_set_d(goal, delta);
    arb_sub(rest, p, goal, bits);
    if (arb_is_positive(rest) && arb_is_positive(q)) {
        arb_div(rest, rest, q, bits);
        arb_log(rest, rest, bits);
        l->upper = cellar_ball_upper(rest);
        l->lower = fmax(cellar_ball_lower(rest), 0);
        l->meets = isfinite(l->upper) && l->upper > 0;
    }
    arb_clear(rest);
    arb_clear(goal);
}

/* The line whose threshold is that of epsilon; more bits while it meets delta nowhere clearly. */
static line line_at(const cellar_pair *pair, double epsilon, int64_t near, double delta)
{
    const double close = 1e-11;
    line l = {.x = threshold_at(pair, epsilon, near)};
    arb_t p, q, factor;
    arb_init(p);
    arb_init(q);
    arb_init(factor);
    for (int64_t bits = CELLAR_PAIR_BITS; bits <= (int64_t) 4 * CELLAR_PAIR_BITS; bits *= 2) {
        cellar_pair_beyond(pair, pair->p, l.x, bits, p);
        cellar_pair_beyond(pair, pair->q, l.x, bits, q);
        line_meet(&l, p, q, delta, bits);
        if (!l.meets || l.upper - l.lower <= close * l.upper)
            break;
    }
    arb_set_d(factor, epsilon);
    arb_exp(factor, factor, CELLAR_PAIR_BITS);
    arb_mul(q, q, factor, CELLAR_PAIR_BITS);
    arb_sub(p, p, q, CELLAR_PAIR_BITS);
    l.fall = middle_of(q);
    l.value = middle_of(p);
    l.most = arb_is_finite(p) ? cellar_ball_upper(p) : 1;
    arb_clear(p);
    arb_clear(q);
    arb_clear(factor);
    return l;
}

static void bracket_narrow(bracket *b, const line *l, double epsilon, double delta)
{
    const double off = log(fmax(l->value, 0) / delta);
    if (off > 0 && epsilon >= b->low) {
        b->low = epsilon;
        b->off_low = off;
    } else if (off <= 0 && epsilon <= b->high) {
        b->high = epsilon;
        b->off_high = off;
    }
    b->before = b->last;
    b->last = off;
}

static double bracket_middle(const bracket *b)
{
    return b->low + (b->high - b->low) / 2;
}

/* Where to look next: by Newton's step for the logarithm of delta, by a straight line between the
 * ends where steps have become slow, and in the middle where neither lies between them. */
static double bracket_next(const bracket *b, const line *l, double epsilon)
{
    const double most = 4 * epsilon + 1, slow = 0.25;
    double next = epsilon + b->last * l->value / l->fall;
    if (!(next > b->low) && b->low <= 0 && epsilon > 0)
        return 0; /* which may do */
    if (fabs(b->last) > slow * fabs(b->before))
        next = b->low + (b->high - b->low) * b->off_low / (b->off_low - b->off_high);
    if (next > b->low && next < b->high)
        return fmin(next, most);
    return isfinite(b->high) ? bracket_middle(b) : most;
}

/* 1 when epsilon where the line meets delta is enough: no other line is larger there, or losses end
 * just below it, and what lies beyond the last of them is no more than delta. */
static int line_is_enough(const cellar_pair *pair, const line *l, double delta)
{
    int64_t x = l->meets ? threshold_at(pair, l->upper, l->x) : 0;
    int is_enough = l->meets && x == l->x;
    if (l->meets && x > cellar_pair_end(pair)) {
        arb_t p;
        arb_init(p);
        cellar_pair_beyond(pair, pair->p, x, CELLAR_PAIR_BITS, p);
        is_enough = cellar_ball_upper(p) <= delta;
        arb_clear(p);
    }
    return is_enough;
}

int cellar_pair_epsilon(const cellar_pair *pair, double delta, double about, double *lower,
                        double *upper)
{
    enum { STEPS_MAX = 60, HALVE = 6 };
    const double largest = 1e9;
    bracket b = {.high = INFINITY, .off_low = NAN, .off_high = NAN, .last = INFINITY};
    double epsilon = about;
    int64_t near = pair->p->count > pair->q->count ? pair->p->count : -pair->p->count;
    for (int k = 1; k <= STEPS_MAX && epsilon < largest && b.low < b.high; k++) {
        line l = line_at(pair, epsilon, near, delta);
        int is_enough = line_is_enough(pair, &l, delta);
        if (cellar_work_is_over())
            return 0; /* comparisons were left open */
        if (is_enough || (epsilon <= 0 && l.most <= delta)) {
            *lower = is_enough ? l.lower : 0;
            *upper = is_enough ? l.upper : 0;
            return 1;
        }
        bracket_narrow(&b, &l, epsilon, delta);
        near = l.x;
        epsilon =
            k % HALVE == 0 && isfinite(b.high) ? bracket_middle(&b) : bracket_next(&b, &l, epsilon);
    }
    return 0;
}
