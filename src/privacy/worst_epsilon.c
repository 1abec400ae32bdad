/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The smallest epsilon for a delta, and for a delta of 0, over all pairs of counts of one cell. */
#include <math.h>

#include "math/ball.h"
#include "math/rational.h"
#include "math/work.h"
#include "privacy/worst.h"

static const double EPSILON_MAX = 0x1p30;

/* delta(epsilon) of one pair: upper, or lower. */
static cellar_bounds delta_at(const cellar_pair *pair, double epsilon)
{
    cellar_worst worst = {.upper = 0};
    fmpq_t exact;
    fmpq_init(exact);
    cellar_rational_set_double(exact, epsilon);
    cellar_worst_measure(pair, cellar_pair_delta, exact, &worst);
    fmpq_clear(exact);
    return (cellar_bounds){worst.lower, worst.upper};
}

/* The epsilon of one pair, known to exceed `low`, by doubling and bisection. */
static cellar_bounds epsilon_by_bisection(const cellar_pair *pair, double delta, double low)
{
    enum { STEPS_MAX = 60 };
    const double close = 1e-12;
    cellar_bounds out = {low, fmax(1, 2 * low)};
    while (out.upper < EPSILON_MAX && delta_at(pair, out.upper).upper > delta) {
        out.lower = delta_at(pair, out.upper).lower > delta ? out.upper : out.lower;
        out.upper *= 2;
    }
    if (out.upper >= EPSILON_MAX)
        return (cellar_bounds){out.lower, INFINITY};
    for (int i = 0; i < STEPS_MAX && out.upper - out.lower > close * out.upper; i++) {
        double middle = out.lower + (out.upper - out.lower) / 2;
        cellar_bounds there = delta_at(pair, middle);
        if (there.upper <= delta)
            out.upper = middle;
        else if (there.lower > delta)
            out.lower = middle;
        else
            break; /* the pair is not known closely enough to decide */
    }
    return out;
}

/* Raises `found` to the epsilon of this pair where it is larger. */
static void epsilon_of_pair(const cellar_pair *pair, double delta, cellar_bounds *found)
{
    cellar_bounds one = {0, 0};
    cellar_worst infinite = {.upper = 0};
    fmpq_t none;
    cellar_pair rough = *pair;
    rough.enough = delta;
    if (isinf(found->upper) || delta_at(&rough, found->upper).upper <= delta)
        return;
    fmpq_init(none);
    cellar_worst_measure(pair, cellar_pair_measure_infinite, none, &infinite);
    fmpq_clear(none);
    if (infinite.lower > delta)
        one = (cellar_bounds){INFINITY, INFINITY};
    else if (!pair->is_monotone ||
             !cellar_pair_epsilon(pair, delta, fmax(found->upper, 1e-3), &one.lower, &one.upper))
        one = epsilon_by_bisection(pair, delta, found->lower);
    found->lower = fmax(found->lower, one.lower);
    found->upper = fmax(found->upper, one.upper);
}

/* The epsilon at which the bound for all counts from one on is small enough. */
static double epsilon_beyond(const cellar_one_cell *cell, int64_t from, double delta, double low)
{
    double high = fmax(1, 2 * low);
    while (high < EPSILON_MAX && cellar_one_cell_bound(cell, from, high) > delta)
        high *= 2;
    for (int i = 0; i < 50 && high < EPSILON_MAX; i++) {
        double middle = low + (high - low) / 2;
        if (cellar_one_cell_bound(cell, from, middle) > delta)
            low = middle;
        else
            high = middle;
    }
    return high < EPSILON_MAX ? high : INFINITY;
}

static void epsilon_of_count(cellar_one_cell *cell, int64_t smaller, int64_t least, int least_order,
                             cellar_negatives negatives, double delta, cellar_bounds *found)
{
    for (int64_t shift = cell->shift; shift >= least; shift--)
        for (int larger = 1; larger >= least_order; larger--) {
            cellar_pair pair = cellar_one_cell_pair(cell, smaller, shift, larger, negatives);
            epsilon_of_pair(&pair, delta, found);
        }
}

cellar_bounds cellar_worst_epsilon(cellar_one_cell *cell, double delta)
{
    const int64_t least = cellar_one_cell_least_shift(cell);
    const int has_bound = cellar_one_cell_has_bound(cell);
    cellar_bounds found = {0, 0};
    cellar_count_search search = cellar_count_search_start(cell);
    if (cellar_one_cell_has_first(cell)) {
        epsilon_of_count(cell, cell->smallest, least, cellar_one_cell_is_noise(cell),
                         CELLAR_NEGATIVES_KEEP, delta, &found);
        return found;
    }
    if (!search.is_finite && !has_bound)
        return (cellar_bounds){0, INFINITY};
    for (; !cellar_count_search_is_done(&search); search.count++) {
        if (cellar_count_search_is_due(&search)) {
            if (cellar_one_cell_bound(cell, search.count, found.upper) <= delta)
                return found;
            if (cellar_count_search_is_used_up(&search))
                break;
        }
        epsilon_of_count(cell, search.count, least, 0, cell->negatives, delta, &found);
        if (cellar_work_is_over())
            break;
    }
    if (cellar_work_is_over()) /* the last pair took too long */
        found.upper =
            has_bound ? epsilon_beyond(cell, cell->smallest, delta, found.lower) : INFINITY;
    else if (!cellar_count_search_is_done(&search))
        found.upper = fmax(found.upper, epsilon_beyond(cell, search.count, delta, found.upper));
    return found;
}

/* ---- pure epsilon ---------------------------------------------------------------------------- */

/* The largest loss of all rows, where they repeat; INFINITY where some loss is infinite. */
static double pure_of_rows(cellar_one_cell *cell, int64_t end)
{
    double largest = 0;
    arb_t loss;
    arb_init(loss);
    for (int64_t count = cell->smallest; count < end && isfinite(largest); count++)
        for (int64_t shift = 1; shift <= cell->shift && isfinite(largest); shift++)
            for (int larger = 0; larger < 2 && isfinite(largest); larger++) {
                cellar_pair pair =
                    cellar_one_cell_pair(cell, count, shift, larger, cell->negatives);
                largest = cellar_pair_largest_loss(&pair, loss)
                              ? fmax(largest, cellar_ball_upper(loss))
                              : INFINITY;
            }
    arb_clear(loss);
    return largest;
}

double cellar_worst_pure(cellar_one_cell *cell, int *is_exact, fmpq_t exact)
{
    const cellar_facts *facts = cell->m->ops->facts;
    double epsilon = INFINITY;
    int64_t end;
    arb_t bound;
    *is_exact = 0;
    if (facts == NULL)
        return INFINITY;
    arb_init(bound);
    if (facts->pure != NULL && facts->pure(cell->m, cell->shift, CELLAR_PAIR_BITS, bound)) {
        epsilon = cellar_ball_upper(bound);
        *is_exact =
            facts->pure_rational != NULL && facts->pure_rational(cell->m, cell->shift, exact);
    } else if (!cell->m->ops->is_additive && cellar_one_cell_repeats(cell, &end)) {
        epsilon = pure_of_rows(cell, end);
    }
    arb_clear(bound);
    return epsilon;
}
