/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/supremum.h"

#include <math.h>

#include "math/ball.h"
#include "privacy/supremum_part.h"

/* Counts looked at one by one before the bound for the rest is taken as it is. */
enum { COUNTS_MAX = 20000, REST_BITS = 64 };

/* ---- what is maximised ------------------------------------------------------- */

static void measure_infinite(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    (void) epsilon;
    cellar_pair_infinite(pair, CELLAR_PAIR_BITS, out);
}

/* 1 when double-words tell that a pair whose ratios are not monotone is no worse than what was
 * found: sums of balls over all numbers take much longer. */
static int worst_covers(const cellar_pair *pair, pair_measure measure, const fmpq_t epsilon,
                        const cellar_worst *worst)
{
    static const int lengths[] = {90, 700};
    int covers = 0;
    arb_t value;
    if (pair->monotone || measure != cellar_pair_delta || worst->bound <= 0)
        return 0;
    arb_init(value);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths && !covers; i++)
        covers = cellar_pair_delta_by_words(pair, epsilon, lengths[i], value) &&
                 bound_of(value) <= worst->bound;
    arb_clear(value);
    return covers;
}

static void worst_try(const cellar_reach *reach, int64_t count, int64_t neighbour,
                      pair_measure measure, const fmpq_t epsilon, cellar_worst *worst)
{
    cellar_pair pair;
    reach_pair(reach, &pair, count, neighbour);
    if (!worst_covers(&pair, measure, epsilon, worst))
        worst_measure(&pair, measure, epsilon, worst);
}

static void worst_try_both(const cellar_reach *reach, int64_t smaller, pair_measure measure,
                           const fmpq_t epsilon, cellar_worst *worst)
{
    worst_try(reach, smaller + reach->shift, smaller, measure, epsilon, worst);
    if (worst->bound < 1)
        worst_try(reach, smaller, smaller + reach->shift, measure, epsilon, worst);
}

/* ---- finitely many different pairs ---------------------------------------------- */

/* Rows that repeat, shifted: every pair is like one of the first. Clamping breaks the
 * repetition where negative numbers can come out, so as many more rows are looked at. */
int cellar_reach_period(const cellar_reach *reach, int64_t *n_counts)
{
    const cellar_facts *facts = reach->m->ops->facts;
    int64_t from, period, low, high, end;
    if (facts == NULL || facts->period == NULL || !facts->period(reach->m, &from, &period))
        return 0;
    from = from > reach->smallest ? from : reach->smallest;
    if (period > COUNTS_MAX)
        return 0;
    end = from + period;
    for (int64_t count = from; count < from + period; count++) {
        reach->m->ops->support(reach->m, count, 0, &low, &high);
        if (reach->negatives == CELLAR_NEGATIVES_ZERO && low < -COUNTS_MAX)
            return 0;
        if (reach->negatives == CELLAR_NEGATIVES_ZERO && low < 0 && end < from + period - low)
            end = from + period - low;
    }
    *n_counts = end - reach->smallest;
    return *n_counts <= COUNTS_MAX;
}

static void worst_of_rows(const cellar_reach *reach, int64_t n_counts, pair_measure measure,
                          const fmpq_t epsilon, cellar_worst *worst)
{
    *worst = worst_start(reach);
    for (int64_t i = 0; i < n_counts && worst->bound < 1; i++)
        worst_try_both(reach, reach->smallest + i, measure, epsilon, worst);
}

/* ---- infinitely many, bounded ------------------------------------------------------ */

static int reach_is_concave(const cellar_reach *reach)
{
    const cellar_facts *facts = reach->m->ops->facts;
    return facts != NULL && facts->is_concave != NULL && facts->is_concave(reach->m);
}

/* Pairs are bounded quickly, and not ordered for every epsilon. */
static int reach_is_quick(const cellar_reach *reach)
{
    const cellar_facts *facts = reach->m->ops->facts;
    return facts != NULL && facts->quick != NULL && !cellar_facts_ordered(reach->m);
}

/* The count of the first pair from one on whose law tells how long sums are: the longer one where
 * those can be done without. */
static int64_t count_of_length(const cellar_reach *reach, int64_t from)
{
    return cellar_reach_has_mixing(reach) ? from + reach->shift : from;
}

/* 1: sums over the laws of the first pair may take too long, or more than may be done. */
static int reach_is_long(const cellar_reach *reach)
{
    const int64_t count = count_of_length(reach, reach->smallest);
    return cellar_pair_law_is_long(reach->m, count) ||
           (cellar_reach_has_mixing(reach) && cellar_pair_law_is_wide(reach->m, count) &&
            2 * cellar_pair_upper_cost(reach->m, count) >
                cellar_work_limit(cellar_pair_cache_work(reach->cache)));
}

/* 1: the upper tails of the first pair at epsilon are too long to be summed. */
static int first_is_long(const cellar_reach *reach, const fmpq_t epsilon)
{
    const int64_t larger = reach->smallest + reach->shift;
    int64_t x;
    cellar_pair pair;
    if (cellar_reach_has_mixing(reach))
        return reach_is_long(reach);
    if (!cellar_pair_law_is_long(reach->m, larger))
        return 0;
    reach_pair(reach, &pair, larger, reach->smallest);
    x = cellar_pair_threshold(&pair, epsilon, larger);
    return cellar_pair_tail_is_long(reach->m, larger, x) ||
           cellar_pair_tail_is_long(reach->m, reach->smallest, x);
}

/* Bounds delta of all pairs of counts >= from by moments. */
static void rest_by_tail(const cellar_reach *reach, int64_t from, const fmpq_t epsilon, arb_t out)
{
    arb_t value;
    arb_init(value);
    arb_set_fmpq(value, epsilon, CELLAR_PAIR_BITS);
    reach->m->ops->facts->tail(reach->m, from, reach->shift, value, REST_BITS, out);
    arb_clear(value);
}

double cellar_supremum_tail(const cellar_reach *reach, const fmpq_t epsilon)
{
    enum { TAIL_WORK = 400 };
    double bound;
    arb_t ball;
    arb_init(ball);
    cellar_work_add(cellar_pair_cache_work(reach->cache), TAIL_WORK);
    rest_by_tail(reach, reach->smallest, epsilon, ball);
    bound = bound_of(ball);
    arb_clear(ball);
    return bound;
}

/* Bounds delta of all pairs of counts >= from: by the first of them where it dominates. */
static void rest_ball(const cellar_reach *reach, int64_t from, const fmpq_t epsilon, arb_t out)
{
    cellar_worst worst;
    arb_t value;
    arb_init(value);
    if (cellar_facts_ordered(reach->m) &&
        !cellar_pair_law_is_wide(reach->m, count_of_length(reach, from)) &&
        !cellar_first_is_wide(reach)) {
        cellar_pair pair;
        reach_pair(reach, &pair, from, from + reach->shift);
        cellar_pair_delta(&pair, epsilon, out);
        reach_pair(reach, &pair, from + reach->shift, from);
        cellar_pair_delta(&pair, epsilon, value);
        arb_max(out, out, value, CELLAR_PAIR_BITS);
    } else if (cellar_mixing_worst(reach, from, epsilon, &worst)) {
        arb_set_d(out, worst.bound);
    } else {
        rest_by_tail(reach, from, epsilon, out);
    }
    arb_clear(value);
}

/* Bounds delta_p(epsilon) of all pairs of counts >= from by their delta at smaller epsilon':
 * where the loss exceeds epsilon, P - e^epsilon' Q >= (1 - e^{epsilon' - epsilon}) P, so
 * P(loss > epsilon) <= delta(epsilon') / (1 - e^{epsilon' - epsilon}); and P(loss < -epsilon) <=
 * e^-epsilon Q(-loss > epsilon), bounded likewise with the laws exchanged. Moments that bound
 * P(loss > epsilon) directly bound P(loss < -epsilon) with the same factor: under P, e^{-(t+1)
 * loss} has the mean that e^{t(-loss)} has under Q. */
double cellar_rest_violation(const cellar_reach *reach, int64_t from, const fmpq_t epsilon,
                             double enough)
{
    /* any bound is right: near the first counts the others are left when one says there is no hope
     */
    const int near = from - reach->smallest < 500 && reach->m->ops->facts->exceeds != NULL;
    const double hopeless = near ? 1e3 * enough : 1;
    double best = 1;
    arb_t full, part, bound, share;
    fmpq_t smaller;
    fmpq_init(smaller);
    arb_init(full);
    arb_init(part);
    arb_init(bound);
    arb_init(share);
    arb_set_fmpq(full, epsilon, CELLAR_PAIR_BITS);
    cellar_work_add(cellar_pair_cache_work(reach->cache), 100 + 4 * cellar_pair_pmf_cost(reach->m));
    if (reach->m->ops->facts->exceeds != NULL) {
        reach->m->ops->facts->exceeds(reach->m, from, reach->shift, full, REST_BITS, bound);
        arb_neg(part, full);
        arb_exp(part, part, CELLAR_PAIR_BITS);
        arb_add_ui(part, part, 1, CELLAR_PAIR_BITS);
        arb_mul(bound, bound, part, CELLAR_PAIR_BITS);
        best = bound_of(bound);
    }
    for (int eighths = reach_is_concave(reach) ? 0 : 6;
         eighths > 0 && best > enough && best <= hopeless && fmpq_sgn(epsilon) > 0; eighths -= 2) {
        fmpq_mul_si(smaller, epsilon, eighths);
        fmpq_div_2exp(smaller, smaller, 3);
        rest_ball(reach, from, smaller, bound);
        arb_set_fmpq(part, smaller, CELLAR_PAIR_BITS);
        arb_sub(share, part, full, CELLAR_PAIR_BITS);
        arb_expm1(share, share, CELLAR_PAIR_BITS);
        arb_neg(share, share); /* 1 - e^{epsilon' - epsilon} */
        arb_div(bound, bound, share, CELLAR_PAIR_BITS);
        arb_neg(part, full);
        arb_exp(part, part, CELLAR_PAIR_BITS);
        arb_add_ui(part, part, 1, CELLAR_PAIR_BITS);
        arb_mul(bound, bound, part, CELLAR_PAIR_BITS);
        best = fmin(best, bound_of(bound));
    }
    arb_clear(full);
    arb_clear(part);
    arb_clear(bound);
    arb_clear(share);
    fmpq_clear(smaller);
    return best;
}

static double rest_delta(const cellar_reach *reach, int64_t from, const fmpq_t epsilon,
                         double enough)
{
    double bound;
    (void) enough;
    arb_t ball;
    arb_init(ball);
    rest_ball(reach, from, epsilon, ball);
    bound = bound_of(ball);
    arb_clear(ball);
    return bound;
}

/* Bounds all pairs of counts from one on; no better than `enough` is needed. */
typedef double (*rest_bound)(const cellar_reach *reach, int64_t from, const fmpq_t epsilon,
                             double enough);

static int reach_find_wide(const cellar_reach *reach, double delta)
{
    enum { NUMBERS_MAX = 1 << 15 };
    static const double part = 1e-3, least = 1e-300;
    const cellar_facts *facts = reach->m->ops->facts;
    int64_t low, high;
    if (facts == NULL || facts->exceeds == NULL || facts->spans != NULL)
        return 0;
    if (cellar_facts_ordered(reach->m))
        return reach_is_long(reach) || cellar_first_is_wide(reach);
    reach->m->ops->support(reach->m, reach->smallest, fmax(part * delta, least), &low, &high);
    return high - low > NUMBERS_MAX;
}

/* Remembered: what is wide at some delta is so at every smaller one. */
int cellar_reach_is_wide(const cellar_reach *reach, double delta)
{
    cellar_rest *known = cellar_pair_cache_rest(reach->cache, reach->m, reach->shift);
    int is_wide;
    if (known != NULL && known->has_narrow && delta >= known->narrow)
        return 0;
    if (known != NULL && known->has_wide && delta <= known->wide)
        return 1;
    is_wide = reach_find_wide(reach, delta);
    if (known != NULL && is_wide) {
        known->has_wide = 1;
        known->wide = delta;
    } else if (known != NULL) {
        known->has_narrow = 1;
        known->narrow = delta;
    }
    return is_wide;
}

/* All counts bounded at once, where looking at one pair already takes long. */
static int worst_of_wide(const cellar_reach *reach, rest_bound rest, const fmpq_t epsilon,
                         cellar_worst *worst)
{
    if (cellar_facts_ordered(reach->m) ? !first_is_long(reach, epsilon)
                                       : !cellar_reach_is_wide(reach, 0)) /* at no delta */
        return 0;
    *worst = worst_start(reach);
    if (rest == rest_delta && cellar_mixing_worst(reach, reach->smallest, epsilon, worst))
        return 1;
    worst->bound = rest(reach, reach->smallest, epsilon, 0);
    worst->is_attained = 0;
    return cellar_facts_ordered(reach->m) || cellar_reach_is_wide(reach, worst->bound);
}

int cellar_supremum_is_covered(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                               double bound)
{
    return cellar_spans_exist(reach->m) &&
           cellar_spans_are_covered(reach, is_delta, epsilon, bound);
}

int cellar_supremum_to(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                       cellar_worst *worst)
{
    if (!reach_is_quick(reach))
        return 0;
    cellar_quick_worst_to(reach, is_delta, epsilon, worst);
    return 1;
}

double cellar_supremum_bound(const cellar_reach *reach, const fmpq_t epsilon)
{
    cellar_worst first;
    if (cellar_facts_ordered(reach->m) && cellar_first_by_doubles(reach, epsilon, &first))
        return first.bound;
    return reach_is_quick(reach) ? cellar_quick_bound(reach, epsilon)
                                 : rest_delta(reach, reach->smallest, epsilon, 0);
}

/* How many counts are looked at: each pair of a very wide law takes long. */
static int64_t counts_most(const cellar_reach *reach)
{
    enum { COUNTS_WIDE = 300 };
    static const double wide = 1e5;
    double mean, variance;
    cellar_mechanism_mean_variance(reach->m, reach->smallest, &mean, &variance);
    return variance > wide ? COUNTS_WIDE : COUNTS_MAX;
}

/* Scans counts until all larger ones are bounded by what was found. The bound is asked for now and
 * then, for it costs more than a pair. */
static void worst_of_kernel(const cellar_reach *reach, pair_measure measure, rest_bound rest,
                            const fmpq_t epsilon, cellar_worst *worst)
{
    int64_t next_check = 1, most = counts_most(reach);
    if (worst_of_wide(reach, rest, epsilon, worst))
        return;
    *worst = worst_start(reach);
    for (int64_t i = 0; i < most; i++) {
        worst_try_both(reach, reach->smallest + i, measure, epsilon, worst);
        if (worst->bound >= 1)
            return;
        if (i + 1 >= next_check) {
            double bound = rest(reach, reach->smallest + i + 1, epsilon, worst->bound);
            if (bound <= worst->bound)
                return;
            if (i + 1 == most) { /* still a bound, though of no count in particular */
                worst->bound = bound;
                worst->is_attained = 0;
            }
            next_check += next_check / 4 + 1;
            next_check = next_check < most ? next_check : most;
        }
    }
}

/* ---- the three suprema ---------------------------------------------------------------- */

static int reach_has_tail(const cellar_reach *reach)
{
    return cellar_facts_ordered(reach->m) ||
           (reach->m->ops->facts != NULL && reach->m->ops->facts->tail != NULL);
}

static void worst_unknown(const cellar_reach *reach, cellar_worst *worst)
{
    *worst = worst_start(reach);
    worst->bound = 1;
    worst->is_proved = worst->is_attained = 0;
}

int cellar_reach_is_pure_at(const cellar_reach *reach, const fmpq_t epsilon)
{
    const cellar_facts *facts = reach->m->ops->facts;
    int pure = 0;
    if (facts == NULL)
        return 0;
    if (facts->pure_rational != NULL) {
        fmpq_t exact;
        fmpq_init(exact);
        pure = facts->pure_rational(reach->m, reach->shift, exact) && fmpq_cmp(exact, epsilon) <= 0;
        fmpq_clear(exact);
    } else if (facts->pure != NULL) {
        arb_t bound, value;
        arb_init(bound);
        arb_init(value);
        arb_set_fmpq(value, epsilon, CELLAR_PAIR_BITS);
        pure = facts->pure(reach->m, reach->shift, CELLAR_PAIR_BITS, bound) && arb_le(bound, value);
        arb_clear(bound);
        arb_clear(value);
    }
    return pure;
}

static void worst_none(const cellar_reach *reach, cellar_worst *worst)
{
    *worst = worst_start(reach);
    worst->bound = 0;
    worst->everywhere = 1;
}

void cellar_supremum_delta(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *out)
{
    int64_t n_counts;
    if (cellar_spans_exist(reach->m)) {
        cellar_spans_worst(reach, 1, epsilon, out);
    } else if (cellar_reach_is_pure_at(reach, epsilon)) {
        worst_none(reach, out);
    } else if (reach->m->ops->is_additive) {
        cellar_noise_worst(reach, cellar_pair_delta, epsilon, out);
    } else if (cellar_reach_period(reach, &n_counts)) {
        worst_of_rows(reach, n_counts, cellar_pair_delta, epsilon, out);
    } else if (cellar_facts_ordered(reach->m)) {
        if (!cellar_first_by_doubles(reach, epsilon, out) &&
            !worst_of_wide(reach, rest_delta, epsilon, out))
            cellar_first_worst(reach, epsilon, out);
    } else if (reach_is_quick(reach)) {
        cellar_quick_worst(reach, 1, epsilon, out);
    } else if (reach_has_tail(reach)) {
        worst_of_kernel(reach, cellar_pair_delta, rest_delta, epsilon, out);
    } else {
        worst_unknown(reach, out);
    }
}

void cellar_supremum_violation(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *out)
{
    int additive = reach->m->ops->is_additive;
    int64_t n_counts;
    if (cellar_spans_exist(reach->m))
        cellar_spans_worst(reach, 0, epsilon, out);
    else if (cellar_reach_is_pure_at(reach, epsilon))
        worst_none(reach, out);
    else if (additive &&
             (reach->negatives == CELLAR_NEGATIVES_KEEP || cellar_facts_monotone(reach->m)))
        cellar_noise_violation(reach, epsilon, out);
    else if (!additive && cellar_reach_period(reach, &n_counts))
        worst_of_rows(reach, n_counts, cellar_pair_violation, epsilon, out);
    else if (reach_is_concave(reach))
        cellar_blocks_violation(reach, epsilon, out);
    else if (reach_is_quick(reach))
        cellar_quick_worst(reach, 0, epsilon, out);
    else if (!additive && reach_has_tail(reach))
        worst_of_kernel(reach, cellar_pair_violation, cellar_rest_violation, epsilon, out);
    else
        worst_unknown(reach, out);
}

/* 1 when every count can be released as every b >= 0, judged by the first two. */
static int reach_has_full_support(const cellar_reach *reach)
{
    for (int64_t i = 0; i < 2; i++) {
        int64_t low, high;
        reach->m->ops->support(reach->m, reach->smallest + i, 0, &low, &high);
        if (low != 0 || high != INT64_MAX)
            return 0;
    }
    return 1;
}

/* Infinite loss is what is left of delta for every epsilon. Kernels with a bound for large counts
 * give all of 0, 1, ... to every count, and then there is none. */
void cellar_supremum_infinite(const cellar_reach *reach, cellar_worst *out)
{
    int64_t n_counts;
    fmpq_t large;
    fmpq_init(large);
    fmpq_set_si(large, 1000, 1);
    if (reach->m->ops->is_additive) {
        cellar_noise_worst(reach, measure_infinite, large, out);
    } else if (cellar_reach_period(reach, &n_counts)) {
        worst_of_rows(reach, n_counts, measure_infinite, large, out);
    } else if (reach_has_tail(reach) && reach_has_full_support(reach)) {
        worst_none(reach, out);
    } else if (reach_has_tail(reach)) {
        *out = worst_start(reach);
        out->bound = rest_delta(reach, reach->smallest, large, 0);
        out->is_attained = 0;
    } else {
        worst_unknown(reach, out);
    }
    fmpq_clear(large);
}

static int pure_of_rows(const cellar_reach *reach, int64_t n_counts, double *epsilon)
{
    int finite = 1;
    arb_t loss;
    arb_init(loss);
    *epsilon = 0;
    for (int64_t i = 0; i < 2 * n_counts && finite; i++) {
        int64_t smaller = reach->smallest + i / 2, larger = smaller + reach->shift;
        cellar_pair pair;
        reach_pair(reach, &pair, i % 2 ? smaller : larger, i % 2 ? larger : smaller);
        finite = cellar_pair_largest_loss(&pair, CELLAR_PAIR_BITS, loss) && arb_is_finite(loss);
        *epsilon = fmax(*epsilon, cellar_ball_upper(loss));
    }
    arb_clear(loss);
    return finite;
}

int cellar_supremum_pure(const cellar_reach *reach, double *epsilon, int *exact, fmpq_t rational)
{
    const cellar_facts *facts = reach->m->ops->facts;
    int64_t n_counts;
    int found = 0;
    arb_t bound;

    *exact = 0;
    *epsilon = INFINITY;
    if (facts == NULL)
        return 0;
    arb_init(bound);
    if (facts->pure != NULL)
        found = facts->pure(reach->m, reach->shift, CELLAR_PAIR_BITS, bound);
    if (found) {
        *epsilon = cellar_ball_upper(bound);
        *exact =
            facts->pure_rational != NULL && facts->pure_rational(reach->m, reach->shift, rational);
    } else if (!reach->m->ops->is_additive && cellar_reach_period(reach, &n_counts)) {
        found = pure_of_rows(reach, n_counts, epsilon);
    }
    arb_clear(bound);
    return found;
}
