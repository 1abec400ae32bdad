/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/certify.h"

#include <math.h>
#include <stdlib.h>

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

/* The largest over all weights up to the largest one. */
static void worst_over_shifts(const cellar_setting *s, size_t i, const fmpq_t epsilon,
                              void (*supremum)(const cellar_reach *, const fmpq_t, cellar_worst *),
                              cellar_worst *worst)
{
    cellar_reach reach = cellar_setting_reach(s, i);
    supremum(&reach, epsilon, worst);
    for (reach.shift = 1; reach.shift < s->shift && worst->bound < 1; reach.shift++) {
        cellar_worst other;
        if (supremum == cellar_supremum_delta &&
            cellar_supremum_is_covered(&reach, epsilon, worst->bound))
            continue;
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
    if (cellar_facts_monotone(s->mechanisms[i]))
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
    if (cellar_facts_monotone(s->mechanisms[i]))
        cellar_supremum_infinite(&reach, worst);
    else
        worst_over_shifts(s, i, unused, supremum_infinite, worst);
    fmpq_clear(unused);
}

/* Nothing dominates anything here: the numbers that lie between two counts have small losses when
 * the counts are far apart, so a smaller change can violate more often. For noise two weights
 * tell of all others (supremum_weights.c); for kernels all are tried. */
void cellar_setting_cell_violation(const cellar_setting *s, const fmpq_t epsilon,
                                   cellar_worst *worst)
{
    enum { SHIFTS_MAX = 16 };
    *worst = (cellar_worst){.bound = NAN};
    if (s->options->per_unit > 1) /* a unit may also spread its records */
        return;
    if (s->mechanisms[0]->ops->is_additive && cellar_facts_monotone(s->mechanisms[0])) {
        cellar_reach reach = cellar_setting_reach(s, 0);
        cellar_supremum_violation_to(&reach, epsilon, worst);
    } else if (s->shift <= SHIFTS_MAX) {
        worst_over_shifts(s, 0, epsilon, cellar_supremum_violation, worst);
    }
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

/* ---- epsilon for a given delta --------------------------------------------------------- */

/* delta at some epsilon: of the pair looked at, or of all when there is none. */
typedef struct search {
    const cellar_setting *s;
    size_t i;
    const cellar_worst *at;
    int is_wide;  /* bounds for all counts at once are asked for */
    int is_quick; /* the first pair is asked for in doubles, which may be a little too much */
    double delta; /* wanted */
} search;

static double bound_at(const cellar_setting *s, size_t i, double epsilon)
{
    cellar_reach reach = cellar_setting_reach(s, i);
    double bound;
    fmpq_t exact;
    fmpq_init(exact);
    cellar_rational_set_double(exact, epsilon);
    bound = cellar_supremum_bound(&reach, exact);
    fmpq_clear(exact);
    return bound;
}

static int search_has_quick(const search *r)
{
    const cellar_facts *facts = r->s->mechanisms[r->i]->ops->facts;
    return facts != NULL && facts->quick != NULL;
}

/* delta of the first pair, and of which order it is. */
static double quick_at(const search *r, double epsilon, int *larger)
{
    const cellar_mechanism *m = r->s->mechanisms[r->i];
    const double numbers = 1e5;
    cellar_quick quick;
    if (!m->ops->facts->quick(m, (int64_t) r->s->options->min_count, r->s->shift, epsilon, r->delta,
                              numbers, &quick))
        return 1;
    *larger = quick.delta[1] >= quick.delta[0];
    return fmax(quick.delta[0], quick.delta[1]);
}

static double search_ask(const search *r, double epsilon)
{
    cellar_worst worst;
    int unused;
    if (r->is_quick)
        return quick_at(r, epsilon, &unused);
    if (r->is_wide)
        return bound_at(r->s, r->i, epsilon);
    return r->at != NULL ? delta_of_pair(r->s, r->i, r->at, epsilon)
                         : delta_at(r->s, r->i, epsilon, &worst);
}

/* Between an epsilon that is too small and one that is not: by straight lines through ln delta,
 * where the end that stays counts half the second time (Dowell and Jarratt 1971), and in the middle
 * where that is slow. The answer is proved, and within `close` of one that is too small. */
static double search_between(const search *r, double low, double high)
{
    double close = r->s->mechanisms[r->i]->ops->is_additive ? 1e-12 : 1e-9;
    double above = log(search_ask(r, low) / r->delta), below = log(search_ask(r, high) / r->delta);
    int stayed = 0;
    while (high - low > close * high) {
        double width = high - low, edge = close / 4 * high;
        double x = low + width * above / (above - below), value;
        if (!isfinite(below) || abs(stayed) > 3)
            x = low > 0 && high > 4 * low ? sqrt(low * high) : low + width / 2;
        x = fmin(fmax(x, low + edge), high - edge);
        value = log(search_ask(r, x) / r->delta);
        if (value <= 0) {
            high = x;
            below = value;
            stayed = stayed < 0 ? stayed - 1 : -1;
            above /= stayed < -1 ? 2 : 1;
        } else {
            low = x;
            above = value;
            stayed = stayed > 0 ? stayed + 1 : 1;
            below /= stayed > 1 ? 2 : 1;
        }
    }
    return high;
}

/* The smallest epsilon from `low` on, which may do itself; INFINITY beyond all use. */
static double search_from(const search *r, double low)
{
    double high = low > 0 ? 2 * low : 1;
    if (search_ask(r, low) <= r->delta)
        return low;
    while (high < 1e9 && search_ask(r, high) > r->delta) {
        low = high;
        high *= 2;
    }
    return high < 1e9 ? search_between(r, low, high) : INFINITY;
}

/* Where doubles see the epsilon of additive noise, which balls would have to look for long: 0 when
 * they see none. P and Q are the noise beyond x and beyond x - shift, and where the loss at x is
 * epsilon, delta is P - e^epsilon Q. */
static double search_about(const search *r)
{
    const cellar_mechanism *m = r->s->mechanisms[r->i];
    int64_t low = -r->s->shift, high = INT64_C(1) << 40, x, shift = r->s->shift;
    double epsilon, p, q;
    if (!m->ops->is_additive || m->ops->survival == NULL)
        return 0;
    while (high - low > 1) { /* the first x with a small delta at its own loss */
        x = low + (high - low) / 2;
        p = m->ops->survival(m, shift, x - 1);
        q = m->ops->survival(m, 0, x - 1);
        epsilon = m->ops->log_pmf(m, shift, x) - m->ops->log_pmf(m, 0, x);
        if (epsilon <= 0 || p - exp(epsilon) * q > r->delta)
            low = x;
        else /* or there is nothing left */
            high = x;
    }
    p = m->ops->survival(m, shift, high - 1);
    q = m->ops->survival(m, 0, high - 1);
    epsilon = log((p - r->delta) / q);
    return isfinite(epsilon) && epsilon > 0 ? epsilon : 0;
}

/* The same of a kernel whose pairs are quickly bounded; `at` becomes the worse order of its first.
 */
static double search_about_quick(const search *r, cellar_worst *at)
{
    search quick = *r;
    int64_t first = (int64_t) r->s->options->min_count, shift = r->s->shift;
    double about;
    int larger = 1;
    quick.is_quick = 1;
    about = search_from(&quick, 0);
    if (!isfinite(about))
        return 0;
    quick_at(r, about, &larger);
    at->count = first + (larger ? shift : 0);
    at->neighbour = first + (larger ? 0 : shift);
    return about;
}

/* From where doubles say, if they are right, and else from nothing. */
static double search_start(const search *r, cellar_worst *at)
{
    static const double widths[] = {1e-11, 1e-9, 1e-7, 1e-5};
    int is_quick = search_has_quick(r);
    double about = is_quick ? search_about_quick(r, at) : search_about(r);
    for (size_t k = is_quick ? 2 : 0; about > 0 && k < sizeof widths / sizeof *widths; k++) {
        double low = about * (1 - widths[k]), high = about * (1 + (is_quick ? 1e-8 : widths[k]));
        if (search_ask(r, low) > r->delta && search_ask(r, high) <= r->delta)
            return search_between(r, low, high);
    }
    return search_from(r, 0);
}

/* A pair of counts, here and there, whose delta is still too large: looking at all takes longest
 * where epsilon is too small. */
static int search_pair(const search *r, double epsilon, cellar_worst *worst)
{
    int64_t first = (int64_t) r->s->options->min_count, shift = r->s->shift;
    if (r->s->mechanisms[r->i]->ops->is_additive || search_has_quick(r))
        return 0; /* there looking at all takes no longer */
    for (int64_t count = 0; count < 10; count = 3 * count + 1)
        for (int larger = 0; larger < 2; larger++) {
            cellar_worst at = {.count = first + count + (larger ? shift : 0),
                               .neighbour = first + count + (larger ? 0 : shift),
                               .is_attained = 1};
            if (delta_of_pair(r->s, r->i, &at, epsilon) > r->delta) {
                *worst = at;
                return 1;
            }
        }
    return 0;
}

/* Asks one pair at a time, the first counts and then some that are worse where the last left off,
 * until an epsilon found for one is proved for all. */
double cellar_setting_epsilon(const cellar_setting *s, size_t i, double delta)
{
    enum { PAIRS_MAX = 16 };
    int64_t first = (int64_t) s->options->min_count;
    search r = {.s = s, .i = i, .delta = delta};
    cellar_reach reach;
    double epsilon;
    cellar_worst worst;

    cellar_setting_infinite(s, i, &worst);
    if (worst.bound > delta || !worst.is_proved)
        return INFINITY;
    reach = cellar_setting_reach(s, i);
    r.is_wide = (s->shift == 1 || cellar_facts_monotone(s->mechanisms[i])) &&
                cellar_reach_is_wide(&reach, delta);
    if (r.is_wide)
        return search_from(&r, 0);
    worst = (cellar_worst){.count = first + s->shift, .neighbour = first, .is_attained = 1};
    r.at = &worst;
    epsilon = search_start(&r, &worst);
    for (int k = 0; k < PAIRS_MAX && worst.is_attained && isfinite(epsilon); k++) {
        if (!search_pair(&r, epsilon, &worst) && delta_at(s, i, epsilon, &worst) <= delta)
            return epsilon;
        epsilon = search_from(&r, epsilon);
    }
    r.at = NULL;
    return isfinite(epsilon) ? search_from(&r, epsilon) : INFINITY;
}
