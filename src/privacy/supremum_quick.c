/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels whose pairs are bounded quickly, in doubles: only what may be worse than what was found
 * is measured. Counts are looked at one by one until all larger ones are bounded, the largest shift
 * first. */
#include <math.h>

#include "privacy/supremum_part.h"

enum { REST_BITS = 64, TRIED = 4 };
/* What a number that is summed in doubles takes (work.h), and how many of one pair, and in all for
 * delta and for delta_p where nothing else is said. */
static const double NUMBER_COST = 0.008;
static const double PAIR_NUMBERS = 1e5, DELTA_NUMBERS = 2e6, VIOLATION_NUMBERS = 2.5e6;

typedef struct scan {
    cellar_reach reach; /* its shift is the one looked at */
    const cellar_facts *facts;
    int is_delta;
    int64_t least;      /* what is said of all pairs from one on is said of these shifts */
    double epsilon;     /* not above the one asked */
    double numbers;     /* left */
    double done;        /* numbers so far */
    int best, turn;     /* which smaller epsilon bounded delta_p best, and which is tried next */
    int64_t order_next; /* no order is looked for at smaller counts */
    double order_above; /* an epsilon from which on all counts from order_from on are ordered */
    int64_t order_from;
} scan;

static void scan_spend(scan *s, double numbers)
{
    s->numbers -= numbers;
    s->done += numbers;
}

static double quick_value(const scan *s, const cellar_quick *quick)
{
    const double *both = s->is_delta ? quick->delta : quick->violation;
    return fmin(1, fmax(both[0], both[1]));
}

/* 1 when it is proved that no pair of counts from `from` on, of this shift and smaller ones down to
 * `least`, has a larger delta than the first; *numbers is what that took. */
static int reach_is_ordered(const cellar_reach *reach, int64_t from, int64_t least, double epsilon,
                            double *numbers)
{
    const double most = 1e5;
    double steps = most;
    int is_ordered =
        reach->m->ops->facts->is_ordered_at(reach->m, from, least, reach->shift, epsilon, &steps);
    *numbers = 2 * (most - steps);
    return is_ordered;
}

int cellar_supremum_is_ordered(const cellar_reach *reach, double epsilon)
{
    double numbers;
    int is_ordered = reach_is_ordered(reach, reach->smallest, 0, epsilon, &numbers);
    cellar_work_add(cellar_pair_cache_work(reach->cache), numbers * NUMBER_COST);
    return is_ordered;
}

/* That may cost as much as some pairs, so it is not asked in vain at each count. */
static int scan_is_ordered(scan *s, int64_t from, double epsilon)
{
    double numbers;
    int is_ordered;
    if (from >= s->order_from && epsilon >= s->order_above)
        return 1;
    if (from < s->order_next)
        return 0;
    is_ordered = reach_is_ordered(&s->reach, from, s->least, epsilon, &numbers);
    scan_spend(s, numbers);
    if (is_ordered) {
        s->order_above = epsilon;
        s->order_from = from;
        return 1;
    }
    s->order_next = from + 1 + (from - s->reach.smallest);
    return 0;
}

/* The pair at `from`, where it is not known how small its numbers are: 0 when it has too many. */
static int scan_quick(scan *s, int64_t from, double epsilon, double enough, cellar_quick *quick)
{
    int is_quick =
        s->facts->quick(s->reach.m, from, s->reach.shift, epsilon, enough, PAIR_NUMBERS, quick);
    scan_spend(s, quick->numbers);
    return is_quick;
}

/* Bounds delta of all pairs from `from` on, in each order. The bound `tail` does not increase when
 * the shift falls (facts_mixed.c, facts_delaporte.c). */
static void rest_deltas(scan *s, int64_t from, double epsilon, double enough, double *deltas)
{
    cellar_quick quick;
    arb_t ball, factor;
    double mean, variance;
    int is_ordered = scan_is_ordered(s, from, epsilon);
    if (is_ordered && scan_quick(s, from, epsilon, enough, &quick)) {
        deltas[0] = quick.delta[0];
        deltas[1] = quick.delta[1];
        return;
    }
    cellar_mechanism_mean_variance(s->reach.m, from + s->reach.shift, &mean, &variance);
    scan_spend(s, 4e4 + 8 * sqrt(variance)); /* about what it takes */
    arb_init(ball);
    arb_init(factor);
    arb_set_d(factor, epsilon);
    s->facts->tail(s->reach.m, from, s->reach.shift, factor, REST_BITS, ball);
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
    cellar_mechanism_mean_variance(s->reach.m, from, &mean, &variance);
    tried[0] = s->epsilon * 0.75;
    tried[1] = s->epsilon - (double) s->reach.shift / mean;
    tried[2] = s->epsilon * 0.5;
    tried[3] = s->epsilon - 3 * (double) s->reach.shift / mean;
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
    arb_t value;
    arb_init(value);
    for (int i = 0; i < 2; i++) {
        int larger = i == 0 ? first : !first;
        int64_t other = smaller + s->reach.shift;
        cellar_pair pair;
        if (both[larger] <= worst->bound)
            continue;
        reach_pair(&s->reach, &pair, larger ? other : smaller, larger ? smaller : other);
        (s->is_delta ? cellar_pair_delta : cellar_pair_violation)(&pair, epsilon, value);
        if (bound_of(value) <= worst->bound)
            continue;
        worst->bound = bound_of(value);
        worst->count = pair.count[0];
        worst->neighbour = pair.count[1];
        worst->is_attained = arb_rel_accuracy_bits(value) >= CELLAR_PAIR_ACCURACY;
    }
    arb_clear(value);
}

/* A part of what may be done is for delta and one for delta_p, as far as it is not done already;
 * and something always is. */
static scan scan_of(const cellar_reach *reach, int is_delta, const fmpq_t epsilon)
{
    const double least = 1e5, share = 0.35;
    const cellar_work *work = cellar_pair_cache_work(reach->cache);
    double most = is_delta ? DELTA_NUMBERS : VIOLATION_NUMBERS, left;
    if (work != NULL) {
        left = work->limit > 0 ? fmin(cellar_work_left(work), share * work->limit) : INFINITY;
        most = fmax(least, left / NUMBER_COST);
    }
    return (scan){.reach = *reach,
                  .least = reach->shift,
                  .facts = reach->m->ops->facts,
                  .is_delta = is_delta,
                  .epsilon = nextafter(fmpq_get_d(epsilon), 0),
                  .numbers = most,
                  .order_above = INFINITY};
}

static void scan_end(const scan *s)
{
    cellar_work_add(cellar_pair_cache_work(s->reach.cache), s->done * NUMBER_COST);
}

double cellar_quick_bound(const cellar_reach *reach, const fmpq_t epsilon)
{
    scan s = scan_of(reach, 1, epsilon);
    double bound;
    s.least = 0;
    bound = rest_of(&s, reach->smallest, 0);
    scan_end(&s);
    return bound;
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

/* Counts from `i` on are looked at. */
static void scan_counts(scan *s, int64_t i, const fmpq_t epsilon, cellar_worst *worst)
{
    /* a pair in double-words takes so much longer, unless that is counted elsewhere */
    const double exactly = cellar_pair_cache_work(s->reach.cache) != NULL ? 2 : 25;
    int64_t next_check = i;
    for (; worst->bound < 1; i++) {
        int64_t from = s->reach.smallest + i;
        cellar_quick quick;
        int is_quick;
        if (s->numbers < 0 || (i >= next_check && rest_of(s, from, worst->bound) <= worst->bound))
            break;
        next_check += i >= next_check ? next_check / 3 + 1 : 0;
        is_quick = scan_quick(s, from, s->epsilon, worst->bound, &quick);
        if (!is_quick)
            s->numbers = -1;
        if (is_quick && quick_value(s, &quick) > worst->bound) {
            scan_measure(s, from, &quick, epsilon, worst);
            scan_spend(s, exactly * quick.numbers);
        }
        if (s->numbers < 0)
            scan_give_up(s, is_quick ? from + 1 : from, worst);
    }
}

/* All counts at the largest shift. */
static void scan_first(scan *s, const fmpq_t epsilon, cellar_worst *worst)
{
    const int64_t first = s->reach.smallest;
    cellar_quick quick;
    int is_quick = scan_quick(s, first, s->epsilon, 0, &quick);
    *worst = worst_start(&s->reach);
    if (!is_quick || cellar_reach_is_wide(&s->reach, quick_value(s, &quick))) {
        scan_give_up(s, first, worst);
        return;
    }
    scan_measure(s, first, &quick, epsilon, worst);
    if (!s->is_delta || !scan_is_ordered(s, first, s->epsilon))
        scan_counts(s, 1, epsilon, worst);
}

void cellar_quick_worst(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                        cellar_worst *worst)
{
    scan s = scan_of(reach, is_delta, epsilon);
    scan_first(&s, epsilon, worst);
    scan_end(&s);
}

/* ---- all shifts ---------------------------------------------------------------------------- */

static void scan_shift(scan *s, int64_t least, int64_t shift)
{
    s->least = least;
    s->reach.shift = shift;
    s->order_next = 0;
    s->order_above = INFINITY;
}

/* The largest shift up to which a bound of all pairs is no more than what was found. */
static int64_t scan_covered(scan *s, double bound)
{
    int64_t low = 0, high = s->reach.shift;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        double deltas[2];
        scan_shift(s, middle, middle);
        s->order_next = INT64_MAX;
        rest_deltas(s, s->reach.smallest, s->epsilon, bound, deltas);
        if (deltas[0] <= bound)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The shifts below the one that was looked at, with what was found there. */
static void scan_smaller(scan *s, const fmpq_t epsilon, cellar_worst *worst)
{
    const int64_t first = s->reach.smallest, shift = s->reach.shift;
    int64_t covered = 0;
    if (s->is_delta) {
        scan_shift(s, 0, shift);
        if (scan_is_ordered(s, first, s->epsilon))
            return;
        covered = scan_covered(s, worst->bound);
        scan_shift(s, covered, shift);
        if (covered + 1 < shift && scan_is_ordered(s, first, s->epsilon))
            return;
    }
    for (int64_t i = shift - 1; i > covered && worst->bound < 1; i--) {
        if (s->numbers < 0) {
            scan_shift(s, 0, i);
            scan_give_up(s, first, worst);
            return;
        }
        scan_shift(s, i, i);
        scan_counts(s, 0, epsilon, worst);
    }
}

void cellar_quick_worst_to(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                           cellar_worst *worst)
{
    scan s = scan_of(reach, is_delta, epsilon);
    scan_first(&s, epsilon, worst);
    if (reach->shift > 1)
        scan_smaller(&s, epsilon, worst);
    scan_end(&s);
}
