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

enum { SHIFTS_MAX = 16, COUNTS_REPEATED_MAX = 20000 };
static const double VALUES_USUAL = 4e6, VALUES_OF_PAIR = 1000;
static const double NOTHING = 1e-300; /* a smaller supremum is not looked for */

/* ---- cells and pairs --------------------------------------------------------------------- */

void cellar_one_cell_init(cellar_one_cell *cell, const cellar_mechanism *m, int64_t shift,
                          int64_t smallest, cellar_negatives negatives, double effort)
{
    *cell = (cellar_one_cell){.m = m, .shift = shift, .smallest = smallest, .negatives = negatives};
    cell->values_max = effort > 0 ? VALUES_USUAL * effort : INFINITY;
}

static void cell_drop_pair(cellar_one_cell *cell)
{
    for (int i = 0; i < 2 && cell->has_pair; i++)
        cellar_distribution_clear(&cell->at[i]);
    cell->has_pair = 0;
}

void cellar_one_cell_clear(cellar_one_cell *cell)
{
    cell_drop_pair(cell);
    cellar_noise_table_clear(&cell->noise);
    *cell = (cellar_one_cell){0};
}

static int is_held(const cellar_distribution *d, int64_t count, cellar_negatives negatives)
{
    int64_t low, high;
    d->m->ops->support(d->m, count, 0, &low, &high);
    return d->count == count && d->is_clamped == (negatives == CELLAR_NEGATIVES_ZERO && low < 0);
}

/* The larger count of one pair is often the smaller one of the next. */
cellar_pair cellar_one_cell_pair(cellar_one_cell *cell, int64_t smaller, int64_t shift,
                                 int larger_is_p, cellar_negatives negatives)
{
    cellar_pair pair;
    const int64_t count[2] = {smaller, smaller + shift};
    if (cell->has_pair && !is_held(&cell->at[0], count[0], negatives) &&
        is_held(&cell->at[1], count[0], negatives)) {
        cellar_distribution held = cell->at[0];
        cell->at[0] = cell->at[1];
        cell->at[1] = held;
    }
    for (int i = 0; i < 2; i++) {
        if (cell->has_pair && is_held(&cell->at[i], count[i], negatives))
            continue;
        if (cell->has_pair)
            cellar_distribution_clear(&cell->at[i]);
        cellar_distribution_init(&cell->at[i], cell->m, count[i], negatives);
        cell->at[i].noise = &cell->noise;
    }
    cell->has_pair = 1;
    cellar_pair_init(&pair, &cell->at[larger_is_p], &cell->at[!larger_is_p]);
    return pair;
}

int cellar_one_cell_is_noise(const cellar_one_cell *cell)
{
    return cell->m->ops->is_additive && cellar_facts_monotone(cell->m);
}

int cellar_one_cell_has_first(const cellar_one_cell *cell)
{
    return cellar_one_cell_is_noise(cell) ||
           (cellar_facts_ordered(cell->m) && cellar_facts_monotone(cell->m));
}

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

static void measure_infinite(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    (void) epsilon;
    cellar_pair_infinite(pair, out);
}

/* ---- which counts ------------------------------------------------------------------------ */

static double bound_beyond(const cellar_one_cell *cell, int64_t from, double epsilon)
{
    return fmin(1, cell->m->ops->facts->bound(cell->m, from, cell->shift, epsilon));
}

static int has_bound(const cellar_one_cell *cell)
{
    return cell->m->ops->facts != NULL && cell->m->ops->facts->bound != NULL;
}

/* Rows that repeat, shifted: every pair is like one of the first, and *end is the first count whose
 * pair is like another. Clamping breaks the repetition where negative values are possible, so as
 * many more rows are looked at. 0 when there are no such rows, or more than may be measured. */
static int repeats(const cellar_one_cell *cell, int64_t *end)
{
    const cellar_facts *facts = cell->m->ops->facts;
    int64_t from, period, low, high;
    if (facts == NULL || facts->period == NULL || !facts->period(cell->m, &from, &period))
        return 0;
    from = from > cell->smallest ? from : cell->smallest;
    *end = from + period;
    if (*end - cell->smallest > COUNTS_REPEATED_MAX)
        return 0;
    for (int64_t count = from; count < from + period; count++) {
        cell->m->ops->support(cell->m, count, 0, &low, &high);
        if (cell->negatives == CELLAR_NEGATIVES_ZERO && low < 0 && low > -COUNTS_REPEATED_MAX &&
            *end < from + period - low)
            *end = from + period - low;
    }
    return 1;
}

/* The shifts from which the worst one is taken: where ratios are monotone the largest one is worse
 * than all others for delta. */
static int64_t least_shift(const cellar_one_cell *cell, cellar_pair_measure measure)
{
    return measure != cellar_pair_violation && cellar_facts_monotone(cell->m) ? cell->shift : 1;
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

/* About how many values the pair measured last took: those of its rows, and some for its start. */
static double values_looked_at(const cellar_one_cell *cell)
{
    double values = VALUES_OF_PAIR;
    for (int i = 0; i < 2 && cell->has_pair; i++)
        values += cell->at[i].has_row ? (double) cell->at[i].row.n : 0;
    return values;
}

/* A bound for all pairs whose counts are at least `from`; NAN: not known. */
typedef double (*rest_of)(cellar_one_cell *cell, int64_t from, const fmpq_t epsilon);

static void measure_counts(cellar_one_cell *cell, cellar_pair_measure measure, const fmpq_t epsilon,
                           rest_of rest, cellar_worst *worst)
{
    const double each = (double) (cell->shift - least_shift(cell, measure) + 1);
    double values = 0;
    int64_t end, next = cell->smallest + 1, count = cell->smallest;
    const int is_all = repeats(cell, &end);
    double beyond = NAN;
    *worst = worst_start(cell);
    for (; worst->upper < 1 && (!is_all || count < end); count++) {
        if (!is_all && count >= next) { /* after 1, 2, 4, ... counts */
            beyond = rest(cell, count, epsilon);
            if (beyond <= fmax(worst->upper, NOTHING) || values >= cell->values_max)
                break;
            next = count + (count - cell->smallest);
        }
        measure_count(cell, count, measure, epsilon, worst);
        values += each * values_looked_at(cell);
        next = values >= cell->values_max ? count + 1 : next;
    }
    if (!is_all && worst->upper < 1) {
        worst->is_proved = !isnan(beyond);
        worst->upper = worst->is_proved ? fmax(worst->upper, beyond) : 1;
    }
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

static double rest_of_delta(cellar_one_cell *cell, int64_t from, const fmpq_t epsilon)
{
    return has_bound(cell) ? bound_beyond(cell, from, cellar_rational_double(epsilon)) : NAN;
}

void cellar_worst_delta(cellar_one_cell *cell, const fmpq_t epsilon, cellar_worst *out)
{
    if (cellar_one_cell_has_first(cell))
        measure_first(cell, cellar_pair_delta, epsilon, out);
    else
        measure_counts(cell, cellar_pair_delta, epsilon, rest_of_delta, out);
}

/* Kernels on counts give every value to every count: only rows that repeat have infinite losses. */
static double rest_of_infinite(cellar_one_cell *cell, int64_t from, const fmpq_t epsilon)
{
    int64_t low, high;
    (void) epsilon;
    cell->m->ops->support(cell->m, from, 0, &low, &high);
    if (cellar_facts_monotone(cell->m) || (low == 0 && high == INT64_MAX))
        return 0;
    return has_bound(cell) ? bound_beyond(cell, from, 0) : NAN;
}

void cellar_worst_infinite(cellar_one_cell *cell, cellar_worst *out)
{
    fmpq_t none;
    fmpq_init(none);
    if (cellar_one_cell_has_first(cell))
        measure_first(cell, measure_infinite, none, out);
    else
        measure_counts(cell, measure_infinite, none, rest_of_infinite, out);
    fmpq_clear(none);
}

/* ---- delta_p ------------------------------------------------------------------------------- */

double cellar_violation_from_delta(double delta, double smaller, double epsilon)
{
    return fmin(1, delta * (1 + exp(-epsilon)) / -expm1(smaller - epsilon) * (1 + 1e-12));
}

/* delta of all pairs from one count on, by the first of them where it dominates. */
static double delta_beyond(cellar_one_cell *cell, int64_t from, const fmpq_t epsilon)
{
    cellar_worst first = {.upper = 0};
    if (!cellar_one_cell_has_first(cell))
        return rest_of_delta(cell, from, epsilon);
    for (int larger = 0; larger < 2; larger++) {
        cellar_pair pair = cellar_one_cell_pair(cell, from, cell->shift, larger, cell->negatives);
        cellar_worst_measure(&pair, cellar_pair_delta, epsilon, &first);
    }
    return first.upper;
}

static double rest_of_violation(cellar_one_cell *cell, int64_t from, const fmpq_t epsilon)
{
    static const int percents[] = {50, 80, 95};
    const double large = cellar_rational_double(epsilon);
    double least = 1;
    fmpq_t smaller;
    if (!has_bound(cell) && !cellar_one_cell_has_first(cell))
        return NAN;
    fmpq_init(smaller);
    for (size_t i = 0; i < sizeof percents / sizeof *percents && large > 0; i++) {
        fmpq_set_si(smaller, percents[i], 100);
        fmpq_mul(smaller, smaller, epsilon);
        least = fmin(least, cellar_violation_from_delta(delta_beyond(cell, from, smaller),
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
        measure_counts(cell, cellar_pair_violation, epsilon, rest_of_violation, out);
    } else {
        *out = worst_start(cell);
        out->upper = rest_of_violation(cell, cell->smallest, epsilon);
        out->is_proved = !isnan(out->upper);
        out->upper = out->is_proved ? out->upper : 1;
    }
}

/* ---- epsilon for a delta -------------------------------------------------------------------- */

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
    cellar_worst_measure(pair, measure_infinite, none, &infinite);
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
    while (high < EPSILON_MAX && bound_beyond(cell, from, high) > delta)
        high *= 2;
    for (int i = 0; i < 50 && high < EPSILON_MAX; i++) {
        double middle = low + (high - low) / 2;
        if (bound_beyond(cell, from, middle) > delta)
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
    const int64_t least = least_shift(cell, cellar_pair_delta);
    double values = 0;
    cellar_bounds found = {0, 0};
    int64_t end, next = cell->smallest + 1, count = cell->smallest;
    int is_all;
    if (cellar_one_cell_has_first(cell)) {
        epsilon_of_count(cell, cell->smallest, least, cellar_one_cell_is_noise(cell),
                         CELLAR_NEGATIVES_KEEP, delta, &found);
        return found;
    }
    is_all = repeats(cell, &end);
    if (!is_all && !has_bound(cell))
        return (cellar_bounds){0, INFINITY};
    for (; is_all ? count < end : 1; count++) {
        if (!is_all && count >= next) {
            if (bound_beyond(cell, count, found.upper) <= delta)
                break;
            if (values >= cell->values_max) {
                found.upper = fmax(found.upper, epsilon_beyond(cell, count, delta, found.upper));
                break;
            }
            next = count + (count - cell->smallest);
        }
        epsilon_of_count(cell, count, least, 0, cell->negatives, delta, &found);
        values += (double) (cell->shift - least + 1) * values_looked_at(cell);
        next = values >= cell->values_max ? count + 1 : next;
    }
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
    } else if (!cell->m->ops->is_additive && repeats(cell, &end)) {
        epsilon = pure_of_rows(cell, end);
    }
    arb_clear(bound);
    return epsilon;
}
