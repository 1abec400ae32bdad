/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts are measured one by one, from the smallest on, until a proven bound for all larger ones is
 * no more than the worst that was found; or until as many were measured as may be, and then the
 * bound stands for the rest. Both ends of the answer are proven at any time.
 *
 * Bounds for all larger counts come from the mechanism (facts.h): one pair dominates all larger
 * ones, rows repeat, or `bound` says it. None of them increases with the count, so that splitting
 * the counts into more than "measured" and "all beyond" would gain nothing. */
#include "privacy/worst.h"

#include <math.h>

#include "math/ball.h"
#include "math/rational.h"
#include "math/work.h"

enum { SHIFTS_MAX = 16 };
static const double NOTHING = 1e-300; /* a smaller supremum is not looked for */

/* ---- what is maximised -------------------------------------------------------------------- */

static double upper_of(const arb_t ball)
{
    double upper = arb_is_finite(ball) ? cellar_ball_upper(ball) : 1;
    return upper < 1 ? fmax(upper, 0) : 1;
}

static double lower_of(const arb_t ball)
{
    double lower = arb_is_finite(ball) ? cellar_ball_lower(ball) : 0;
    return lower > 0 ? fmin(lower, 1) : 0;
}

static cellar_worst worst_start(const cellar_one_cell *cell)
{
    return (cellar_worst){.upper = -1,
                          .count = cell->smallest + cell->shift,
                          .neighbour = cell->smallest,
                          .is_proved = 1};
}

void cellar_worst_measure(const cellar_pair *pair, cellar_pair_measure measure,
                          const fmpq_t epsilon, cellar_worst *worst)
{
    arb_t value;
    double upper;
    arb_init(value);
    measure(pair, epsilon, value);
    upper = upper_of(value);
    if (upper > worst->upper) {
        worst->upper = upper;
        worst->count = pair->p->count;
        worst->neighbour = pair->q->count;
    }
    worst->lower = fmax(worst->lower, lower_of(value));
    arb_clear(value);
}

void cellar_pair_measure_infinite(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    (void) epsilon;
    cellar_pair_infinite(pair, out);
}

/* ---- which counts ------------------------------------------------------------------------ */

static int64_t least_shift(const cellar_one_cell *cell, cellar_pair_measure measure)
{
    return measure != cellar_pair_violation ? cellar_one_cell_least_shift(cell) : 1;
}

/* Both orders of all shifts at one smaller count. */
static void measure_count(cellar_one_cell *cell, int64_t smaller, cellar_pair_measure measure,
                          const fmpq_t epsilon, cellar_worst *worst)
{
    for (int64_t shift = cell->shift; shift >= least_shift(cell, measure) && worst->upper < 1;
         shift--)
        for (int larger = 1; larger >= 0; larger--) {
            cellar_pair pair = cellar_one_cell_pair(cell, smaller, shift, larger, cell->negatives);
            pair.enough = fmax(0, worst->lower);
            cellar_worst_measure(&pair, measure, epsilon, worst);
        }
}

/* The large-count bound: one for all pairs whose counts are at least `from`; NAN: not known. */
typedef double (*large_count_bound)(cellar_one_cell *cell, int64_t from, const fmpq_t epsilon);

static void measure_counts(cellar_one_cell *cell, cellar_pair_measure measure, const fmpq_t epsilon,
                           large_count_bound bound, cellar_worst *worst)
{
    cellar_count_search search = cellar_count_search_start(cell);
    double beyond = NAN;
    *worst = worst_start(cell);
    for (; worst->upper < 1 && !cellar_count_search_is_done(&search); search.count++) {
        if (cellar_count_search_is_due(&search)) {
            beyond = bound(cell, search.count, epsilon);
            if (beyond <= fmax(worst->upper, NOTHING) || cellar_count_search_is_used_up(&search))
                break;
        }
        measure_count(cell, search.count, measure, epsilon, worst);
    }
    /* An upper end of 1 over a small lower one is a pair whose work was used up: let the bound
     * stand for all counts. Without a bound nothing is proved, for lack of work. */
    if (worst->upper >= 1 && worst->lower < 0.5)
        beyond = bound(cell, cell->smallest, epsilon);
    else if (cellar_count_search_is_done(&search) || worst->upper >= 1)
        return;
    worst->is_proved = !isnan(beyond);
    worst->upper = worst->upper >= 1 ? -1 : worst->upper;
    worst->upper = worst->is_proved ? fmax(fmax(worst->upper, worst->lower), beyond) : 1;
}

/* ---- delta -------------------------------------------------------------------------------- */

/* The first pair, which dominates all others. Setting negatives to zero is post-processing, which
 * increases neither delta nor infinite loss, and is without effect on large counts. */
static void measure_first(cellar_one_cell *cell, cellar_pair_measure measure, const fmpq_t epsilon,
                          cellar_worst *worst)
{
    *worst = worst_start(cell);
    worst->everywhere = cellar_one_cell_is_noise(cell);
    for (int larger = 1; larger >= worst->everywhere; larger--) {
        cellar_pair pair =
            cellar_one_cell_pair(cell, cell->smallest, cell->shift, larger, CELLAR_NEGATIVES_KEEP);
        cellar_worst_measure(&pair, measure, epsilon, worst);
    }
}

static double delta_of_large_counts(cellar_one_cell *cell, int64_t from, const fmpq_t epsilon)
{
    return cellar_one_cell_has_bound(cell)
               ? cellar_one_cell_bound(cell, from, cellar_rational_double(epsilon))
               : NAN;
}

void cellar_worst_delta(cellar_one_cell *cell, const fmpq_t epsilon, cellar_worst *out)
{
    if (cellar_one_cell_has_first(cell))
        measure_first(cell, cellar_pair_delta, epsilon, out);
    else
        measure_counts(cell, cellar_pair_delta, epsilon, delta_of_large_counts, out);
}

/* Kernels on counts give every value to every count: only rows that repeat have infinite losses. */
static double infinite_of_large_counts(cellar_one_cell *cell, int64_t from, const fmpq_t epsilon)
{
    int64_t low, high;
    (void) epsilon;
    cell->m->ops->support(cell->m, from, 0, &low, &high);
    if (cellar_facts_monotone(cell->m) || (low == 0 && high == INT64_MAX))
        return 0;
    return cellar_one_cell_has_bound(cell) ? cellar_one_cell_bound(cell, from, 0) : NAN;
}

void cellar_worst_infinite(cellar_one_cell *cell, cellar_worst *out)
{
    fmpq_t none;
    fmpq_init(none);
    if (cellar_one_cell_has_first(cell))
        measure_first(cell, cellar_pair_measure_infinite, none, out);
    else
        measure_counts(cell, cellar_pair_measure_infinite, none, infinite_of_large_counts, out);
    fmpq_clear(none);
}

/* ---- delta_p ------------------------------------------------------------------------------- */

double cellar_violation_from_delta(double delta, double smaller, double epsilon)
{
    return fmin(1, delta * (1 + exp(-epsilon)) / -expm1(smaller - epsilon) * (1 + 1e-12));
}

/* delta of all pairs from one count on, by the first of them where it dominates. */
static double delta_from(cellar_one_cell *cell, int64_t from, const fmpq_t epsilon)
{
    cellar_worst first = {.upper = 0};
    if (!cellar_one_cell_has_first(cell))
        return delta_of_large_counts(cell, from, epsilon);
    for (int larger = 0; larger < 2; larger++) {
        cellar_pair pair = cellar_one_cell_pair(cell, from, cell->shift, larger, cell->negatives);
        cellar_worst_measure(&pair, cellar_pair_delta, epsilon, &first);
    }
    return first.upper;
}

static double violation_of_large_counts(cellar_one_cell *cell, int64_t from, const fmpq_t epsilon)
{
    static const int percents[] = {50, 80, 95};
    const double large = cellar_rational_double(epsilon);
    double least = 1;
    fmpq_t smaller;
    if (!cellar_one_cell_has_bound(cell) && !cellar_one_cell_has_first(cell))
        return NAN;
    fmpq_init(smaller);
    for (size_t i = 0; i < sizeof percents / sizeof *percents && large > 0; i++) {
        fmpq_set_si(smaller, percents[i], 100);
        fmpq_mul(smaller, smaller, epsilon);
        least = fmin(least, cellar_violation_from_delta(delta_from(cell, from, smaller),
                                                        cellar_rational_double(smaller), large));
    }
    fmpq_clear(smaller);
    return least;
}

/* Nothing dominates anything here, so that all counts and shifts are tried, unless there are many.
 */
void cellar_worst_violation(cellar_one_cell *cell, const fmpq_t epsilon, cellar_worst *out)
{
    if (cellar_one_cell_is_noise(cell)) {
        cellar_worst_noise_violation(cell, epsilon, out);
    } else if (cell->shift <= SHIFTS_MAX) {
        measure_counts(cell, cellar_pair_violation, epsilon, violation_of_large_counts, out);
    } else {
        *out = worst_start(cell);
        out->upper = violation_of_large_counts(cell, cell->smallest, epsilon);
        out->is_proved = !isnan(out->upper);
        out->upper = out->is_proved ? out->upper : 1;
    }
}
