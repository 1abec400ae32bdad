/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/certify.h"

#include <math.h>

#include "math/ball.h"
#include "math/rational.h"

cellar_reach cellar_setting_reach(const cellar_setting *s, size_t i)
{
    return (cellar_reach){.m = s->mechanisms[i],
                          .shift = s->shift,
                          .smallest = (int64_t) s->options->min_count,
                          .negatives = s->options->negatives,
                          .cache = s->cache};
}

/* Parts that one unit meets in each mechanism. */
uint64_t cellar_setting_parts_each(const cellar_setting *s)
{
    return s->options->n_cells * (s->options->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? 2 : 1);
}

uint64_t cellar_setting_parts(const cellar_setting *s)
{
    if (s->options->parallel) /* what moves away from one table and into another */
        return cellar_setting_parts_each(s);
    return cellar_setting_parts_each(s) * s->n;
}

/* ---- one cell of one mechanism --------------------------------------------------------- */

static int setting_is_monotone(const cellar_setting *s, size_t i)
{
    const cellar_facts *facts = s->mechanisms[i]->ops->facts;
    return facts != NULL && facts->is_monotone != NULL && facts->is_monotone(s->mechanisms[i]);
}

/* The largest over all weights up to the largest one. */
static void worst_over_shifts(const cellar_setting *s, size_t i, const fmpq_t epsilon,
                              void (*supremum)(const cellar_reach *, const fmpq_t, cellar_worst *),
                              cellar_worst *worst)
{
    cellar_reach reach = cellar_setting_reach(s, i);
    supremum(&reach, epsilon, worst);
    for (reach.shift = 1; reach.shift < s->shift && worst->bound < 1; reach.shift++) {
        cellar_worst other;
        supremum(&reach, epsilon, &other);
        if (other.bound > worst->bound)
            *worst = other;
    }
}

/* Where ratios are monotone the largest weight dominates the smaller ones. */
void cellar_setting_delta(const cellar_setting *s, size_t i, const fmpq_t epsilon,
                          cellar_worst *worst)
{
    cellar_reach reach = cellar_setting_reach(s, i);
    if (setting_is_monotone(s, i))
        cellar_supremum_delta(&reach, epsilon, worst);
    else
        worst_over_shifts(s, i, epsilon, cellar_supremum_delta, worst);
}

static void supremum_infinite(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *worst)
{
    (void) epsilon;
    cellar_supremum_infinite(reach, worst);
}

void cellar_setting_infinite(const cellar_setting *s, size_t i, cellar_worst *worst)
{
    cellar_reach reach = cellar_setting_reach(s, i);
    fmpq_t unused;
    fmpq_init(unused);
    if (setting_is_monotone(s, i))
        cellar_supremum_infinite(&reach, worst);
    else
        worst_over_shifts(s, i, unused, supremum_infinite, worst);
    fmpq_clear(unused);
}

/* Nothing dominates anything here: the numbers that lie between two counts have small losses when
 * the counts are far apart, so a smaller change can violate more often. All weights are tried. */
double cellar_setting_cell_violation(const cellar_setting *s, const fmpq_t epsilon)
{
    enum { SHIFTS_MAX = 1000 };
    cellar_worst worst;
    if (s->options->per_unit > 1 || s->shift > SHIFTS_MAX)
        return NAN; /* a unit may also spread its records */
    worst_over_shifts(s, 0, epsilon, cellar_supremum_violation, &worst);
    return worst.bound;
}

static double delta_at(const cellar_setting *s, size_t i, double epsilon, cellar_worst *worst)
{
    fmpq_t exact;
    fmpq_init(exact);
    cellar_rational_set_double(exact, epsilon);
    cellar_setting_delta(s, i, exact, worst);
    fmpq_clear(exact);
    return worst->bound;
}

/* delta of one pair of counts. */
static double delta_of_pair(const cellar_setting *s, size_t i, const cellar_worst *at,
                            double epsilon)
{
    cellar_pair pair;
    double bound;
    fmpq_t exact;
    arb_t value;
    fmpq_init(exact);
    arb_init(value);
    cellar_pair_init(&pair, s->mechanisms[i], at->count, at->neighbour, CELLAR_NEGATIVES_KEEP);
    pair.cache = s->cache;
    cellar_rational_set_double(exact, epsilon);
    cellar_pair_delta(&pair, exact, value);
    bound = arb_is_finite(value) ? cellar_ball_upper(value) : 1;
    fmpq_clear(exact);
    arb_clear(value);
    return bound;
}

/* Bisection among doubles between an epsilon that is too small and one that is not; `at` is the
 * pair looked at, NULL all. */
static double bisect(const cellar_setting *s, size_t i, const cellar_worst *at, double delta,
                     double low, double high)
{
    double close = s->mechanisms[i]->ops->is_additive ? 1e-12 : 1e-9;
    while (high - low > close * high) {
        double middle = low + (high - low) / 2;
        cellar_worst worst;
        double bound =
            at != NULL ? delta_of_pair(s, i, at, middle) : delta_at(s, i, middle, &worst);
        if (bound <= delta)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* All epsilons up to `low` are too small, and `high` is not: asks one pair at a time, the worst one
 * where the last left off, until an epsilon found for one is proved for all. Nearly always the
 * first is. */
static double epsilon_by_pairs(const cellar_setting *s, size_t i, double delta, double low,
                               double high, cellar_worst worst)
{
    enum { PAIRS_MAX = 8 };
    for (int k = 0; k < PAIRS_MAX && worst.is_attained; k++) {
        if (delta_of_pair(s, i, &worst, high) <= delta) {
            double epsilon = bisect(s, i, &worst, delta, low, high);
            if (delta_at(s, i, epsilon, &worst) <= delta)
                return epsilon;
            low = epsilon;
        }
    }
    return bisect(s, i, NULL, delta, low, high);
}

/* The smallest epsilon at which one cell of a mechanism has at most this delta, found among
 * doubles and so itself proved. */
double cellar_setting_epsilon(const cellar_setting *s, size_t i, double delta)
{
    double low = 0, high = 1;
    cellar_worst worst, at_low;

    cellar_setting_infinite(s, i, &worst);
    if (worst.bound > delta || !worst.is_proved)
        return INFINITY;
    if (delta_at(s, i, 0, &at_low) <= delta)
        return 0;
    while (high < 1e9 && delta_at(s, i, high, &worst) > delta) {
        low = high;
        high *= 2;
        at_low = worst;
    }
    return high < 1e9 ? epsilon_by_pairs(s, i, delta, low, high, at_low) : INFINITY;
}
