/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels whose pairs are bounded quickly, in doubles: only what may be worse than what was found
 * is measured. Counts are looked at one by one until all larger ones are bounded. */
#include <math.h>

#include "privacy/supremum_part.h"

enum { REST_BITS = 64, TRIED = 4 };
/* Numbers that are summed in doubles: of one pair, and in all for delta and for delta_p. A million
 * takes some 10 ms. */
static const double PAIR_NUMBERS = 1e5, DELTA_NUMBERS = 2.5e6, VIOLATION_NUMBERS = 1e6;

typedef struct scan {
    const cellar_reach *reach;
    const cellar_facts *facts;
    int is_delta;
    double epsilon;     /* not above the one asked */
    double numbers;     /* left */
    int best, turn;     /* which smaller epsilon bounded delta_p best, and which is tried next */
    int64_t order_next; /* no order is looked for at smaller counts */
    double order_above; /* an epsilon from which on all counts from order_from on are ordered */
    int64_t order_from;
} scan;

static double quick_value(const scan *s, const cellar_quick *quick)
{
    const double *both = s->is_delta ? quick->delta : quick->violation;
    return fmin(1, fmax(both[0], both[1]));
}

/* 1 when it is proved that no later pair has a larger delta than that of `from`. It costs about as
 * much as some pairs, so it is not asked in vain at each count. */
static int scan_is_ordered(scan *s, int64_t from, double epsilon)
{
    const double each = 5e4; /* numbers it takes the time of */
    if (from >= s->order_from && epsilon >= s->order_above)
        return 1;
    if (from < s->order_next)
        return 0;
    s->numbers -= each;
    if (s->facts->is_ordered_at(s->reach->m, from, s->reach->shift, epsilon)) {
        s->order_above = epsilon;
        s->order_from = from;
        return 1;
    }
    s->order_next = from + 1 + (from - s->reach->smallest);
    return 0;
}

/* The pair at `from`, where it is not known how small its numbers are: 0 when it has too many. */
static int scan_quick(scan *s, int64_t from, double epsilon, double enough, cellar_quick *quick)
{
    for (int k = 0; k < 20; k++) {
        double value;
        if (!s->facts->quick(s->reach->m, from, s->reach->shift, epsilon, enough, PAIR_NUMBERS,
                             quick))
            return 0;
        s->numbers -= quick->numbers;
        value = quick_value(s, quick);
        if (value > enough / 100)
            break;
        enough = value;
    }
    return 1;
}

/* Bounds delta of all pairs from `from` on, in each order. */
static void rest_deltas(scan *s, int64_t from, double epsilon, double enough, double *deltas)
{
    cellar_quick quick;
    arb_t ball, factor;
    int is_ordered = scan_is_ordered(s, from, epsilon);
    if (is_ordered && scan_quick(s, from, epsilon, enough > 0 ? enough : 1, &quick)) {
        deltas[0] = quick.delta[0];
        deltas[1] = quick.delta[1];
        return;
    }
    s->numbers -= 1e4;
    arb_init(ball);
    arb_init(factor);
    arb_set_d(factor, epsilon);
    s->facts->tail(s->reach->m, from, s->reach->shift, factor, REST_BITS, ball);
    deltas[0] = deltas[1] = bound_of(ball);
    arb_clear(factor);
    arb_clear(ball);
}

/* As cellar_rest_violation(), with the two orders kept apart, and with an epsilon' that is closer:
 * losses of large counts are about the released number over the mean, times the shift. */
static double rest_violation(scan *s, int64_t from, double enough)
{
    double mean, variance, least = 1, back = exp(-s->epsilon), tried[TRIED];
    int best = s->best;
    cellar_mechanism_mean_variance(s->reach->m, from, &mean, &variance);
    tried[0] = s->epsilon * 0.75;
    tried[1] = s->epsilon - (double) s->reach->shift / mean;
    tried[2] = s->epsilon * 0.5;
    tried[3] = s->epsilon - 3 * (double) s->reach->shift / mean;
    for (int k = 0; k < 2 && least > enough; k++) { /* the last best one, and another in turn */
        int i = k == 0 ? s->best : s->turn++ % TRIED;
        double deltas[2], share, bound;
        if (!(tried[i] > 0 && tried[i] < s->epsilon) || (k == 1 && i == s->best))
            continue;
        share = -expm1((tried[i] - s->epsilon) * (1 - 1e-12)) * (1 - 1e-12);
        rest_deltas(s, from, tried[i], enough * share, deltas);
        bound = fmax(deltas[0] + back * deltas[1], deltas[1] + back * deltas[0]) / share;
        best = bound < least ? i : best;
        least = fmin(least, bound * (1 + 1e-12));
    }
    s->best = best;
    return least;
}

static double rest_of(scan *s, int64_t from, double enough)
{
    double deltas[2];
    if (!s->is_delta)
        return rest_violation(s, from, enough);
    rest_deltas(s, from, s->epsilon, enough, deltas);
    return fmax(deltas[0], deltas[1]);
}

/* Both orders of a pair, but for what is known to be no worse. */
static void scan_measure(scan *s, int64_t smaller, const cellar_quick *quick, const fmpq_t epsilon,
                         cellar_worst *worst)
{
    const double *both = s->is_delta ? quick->delta : quick->violation;
    const int first = both[1] >= both[0]; /* which order is the worse one */
    for (int i = 0; i < 2; i++) {
        int larger = i == 0 ? first : !first;
        int64_t other = smaller + s->reach->shift;
        cellar_pair pair;
        if (both[larger] <= worst->bound)
            continue;
        reach_pair(s->reach, &pair, larger ? other : smaller, larger ? smaller : other);
        worst_measure(&pair, s->is_delta ? cellar_pair_delta : cellar_pair_violation, epsilon,
                      worst);
    }
}

static scan scan_of(const cellar_reach *reach, int is_delta, const fmpq_t epsilon)
{
    return (scan){.reach = reach,
                  .facts = reach->m->ops->facts,
                  .is_delta = is_delta,
                  .epsilon = nextafter(fmpq_get_d(epsilon), 0),
                  .numbers = is_delta ? DELTA_NUMBERS : VIOLATION_NUMBERS,
                  .order_above = INFINITY};
}

double cellar_quick_bound(const cellar_reach *reach, const fmpq_t epsilon)
{
    scan s = scan_of(reach, 1, epsilon);
    return rest_of(&s, reach->smallest, 0);
}

/* All pairs from `from` on are bounded as they are. */
static void scan_give_up(scan *s, int64_t from, cellar_worst *worst)
{
    double rest = rest_of(s, from, fmax(worst->bound, 0));
    if (rest <= worst->bound)
        return;
    worst->bound = rest;
    worst->is_attained = 0;
}

int cellar_quick_worst(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                       cellar_worst *worst)
{
    const double exactly = 10; /* a pair in double-words takes so much longer */
    scan s = scan_of(reach, is_delta, epsilon);
    int64_t next_check = 1;
    cellar_quick quick = {.delta = {1, 1}, .violation = {1, 1}};
    int is_quick = scan_quick(&s, reach->smallest, s.epsilon, 1, &quick);
    *worst = worst_start(reach);
    if (is_quick && cellar_reach_is_wide(reach, quick_value(&s, &quick))) {
        scan_give_up(&s, reach->smallest, worst);
        return 1;
    }
    if (!is_quick && !(is_delta && !cellar_reach_is_wide(reach, 0) &&
                       scan_is_ordered(&s, reach->smallest, s.epsilon)))
        return 0;
    scan_measure(&s, reach->smallest, &quick, epsilon, worst);
    if (is_delta && scan_is_ordered(&s, reach->smallest, s.epsilon))
        return 1;
    for (int64_t i = 1; worst->bound < 1; i++) {
        int64_t from = reach->smallest + i;
        if (s.numbers < 0 || (i >= next_check && rest_of(&s, from, worst->bound) <= worst->bound))
            break;
        next_check += i >= next_check ? next_check / 3 + 1 : 0;
        is_quick = s.facts->quick(reach->m, from, reach->shift, s.epsilon, worst->bound,
                                  PAIR_NUMBERS, &quick);
        if (!is_quick)
            s.numbers = -1;
        s.numbers -= quick.numbers;
        if (is_quick && quick_value(&s, &quick) > worst->bound) {
            scan_measure(&s, from, &quick, epsilon, worst);
            s.numbers -= exactly * quick.numbers;
        }
        if (s.numbers < 0)
            scan_give_up(&s, is_quick ? from + 1 : from, worst);
    }
    return 1;
}
