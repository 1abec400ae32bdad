/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The smallest epsilon at which one cell has at most a given delta.
 *
 * Some pair of counts is asked, the first ones to begin with, and its epsilon proved for all counts
 * or another pair found that is worse there. For a pair with monotone ratios epsilon is found by
 * lines (pair_epsilon.c), and for others between one that is too small and one that is not. */
#include "privacy/certify.h"

#include <math.h>
#include <stdlib.h>

#include "math/ball.h"
#include "math/rational.h"
#include "privacy/epsilon_tail.h"
#include "privacy/supremum_part.h"
#include "privacy/pair_rows.h"

static double delta_at(const cellar_setting *s, size_t i, double epsilon, cellar_worst *worst)
{
    fmpq_t exact;
    fmpq_init(exact);
    cellar_rational_set_double(exact, epsilon);
    cellar_setting_delta(s, i, exact, worst);
    fmpq_clear(exact);
    return worst->bound;
}

static cellar_pair pair_at(const cellar_setting *s, size_t i, const cellar_worst *at)
{
    cellar_pair pair;
    cellar_pair_init(&pair, s->mechanisms[i], at->count, at->neighbour, CELLAR_NEGATIVES_KEEP);
    pair.cache = s->cache;
    return pair;
}

/* delta of one pair of counts. */
static double delta_of_pair(const cellar_setting *s, size_t i, const cellar_worst *at,
                            double epsilon)
{
    cellar_pair pair = pair_at(s, i, at);
    double bound;
    fmpq_t exact;
    arb_t value;
    fmpq_init(exact);
    arb_init(value);
    cellar_rational_set_double(exact, epsilon);
    cellar_pair_delta(&pair, exact, value);
    bound = arb_is_finite(value) ? cellar_ball_upper(value) : 1;
    fmpq_clear(exact);
    arb_clear(value);
    return bound;
}

/* delta at some epsilon: of the pair looked at, or of all when there is none. */
typedef struct search {
    const cellar_setting *s;
    size_t i;
    const cellar_worst *at;
    int is_wide;  /* bounds for all counts at once are asked for */
    int is_tail;  /* the same by moments */
    int is_quick; /* the first pair is asked for in doubles, which may be a little too much */
    double delta; /* wanted */
} search;

/* A bound for all counts at once: the best there is, or by moments. */
static double bound_at(const search *r, double epsilon)
{
    cellar_reach reach = cellar_setting_reach(r->s, r->i);
    double bound;
    fmpq_t exact;
    fmpq_init(exact);
    cellar_rational_set_double(exact, epsilon);
    reach.size = r->delta;
    bound = r->is_tail ? cellar_supremum_tail(&reach, exact) : cellar_supremum_bound(&reach, exact);
    fmpq_clear(exact);
    return bound;
}

static int search_has_quick(const search *r)
{
    const cellar_facts *facts = r->s->mechanisms[r->i]->ops->facts;
    return facts != NULL && facts->quick != NULL;
}

/* 1: pairs are quickly bounded, and which is the worst depends on epsilon. */
static int search_needs_order(const search *r)
{
    return search_has_quick(r) && !cellar_facts_ordered(r->s->mechanisms[r->i]);
}

/* delta of the first pair, and of which order it is; infinite when it has too many numbers, which
 * is so at all larger epsilons. */
static double quick_at(const search *r, double epsilon, int *larger)
{
    const cellar_mechanism *m = r->s->mechanisms[r->i];
    const int64_t first = (int64_t) r->s->options->min_count;
    const double numbers = cellar_facts_ordered(m) ? 4e5 : 1e5; /* that pair is all there is */
    cellar_quick quick;
    if (!cellar_pair_rows_quick(r->s->cache, m, first, r->s->shift, epsilon, r->delta, numbers,
                                &quick) &&
        !m->ops->facts->quick(m, first, r->s->shift, epsilon, r->delta, numbers, &quick))
        return INFINITY;
    *larger = quick.delta[1] >= quick.delta[0];
    return fmax(quick.delta[0], quick.delta[1]);
}

static double search_ask(const search *r, double epsilon)
{
    cellar_worst worst;
    int unused;
    if (r->is_quick)
        return quick_at(r, epsilon, &unused);
    if (r->is_wide || r->is_tail)
        return bound_at(r, epsilon);
    return r->at != NULL ? delta_of_pair(r->s, r->i, r->at, epsilon)
                         : delta_at(r->s, r->i, epsilon, &worst);
}

/* 1 when all counts have to be asked again and again, and there is no time for it. */
static int search_is_slow(const search *r)
{
    return r->at == NULL && !r->is_quick && !r->is_wide && !r->is_tail &&
           cellar_work_is_over(cellar_pair_cache_work(r->s->cache), 1);
}

/* How close the two ends of a search must come, relative. */
static double search_close(const search *r, double low)
{
    const double large = 500; /* where nobody asks for digits, and each takes long */
    if (r->s->mechanisms[r->i]->ops->is_additive)
        return 1e-12;
    if (search_is_slow(r))
        return 1e-4;
    if (!search_has_quick(r))
        return 1e-9;
    if (cellar_work_is_over(cellar_pair_cache_work(r->s->cache), 1))
        return 1e-4;
    return low > large ? 1e-5 : r->is_tail ? 1e-6 : 1e-9;
}

/* Between an epsilon that is too small and one that is not: by straight lines through ln delta,
 * where the end that stays counts half the second time (Dowell and Jarratt 1971), and in the middle
 * where that is slow. The answer is proved, and within `close` of one that is too small. */
static double search_between(const search *r, double low, double at_low, double high,
                             double at_high)
{
    const double wide = search_has_quick(r) && low > 1 ? 2 : 4;
    double above = log(at_low / r->delta), below = log(at_high / r->delta);
    int stayed = 0;
    while (high - low > search_close(r, low) * high) {
        double width = high - low, edge = search_close(r, low) / 4 * high;
        double x = low + width * above / (above - below), value;
        if (!isfinite(below) || abs(stayed) > 3 || (wide < 4 && high > wide * low))
            x = low > 0 && high > wide * low ? sqrt(low * high) : low + width / 2;
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
    const double large = search_has_quick(r) ? 10 : INFINITY; /* each takes long there */
    double high = low > 0 ? 2 * low : 1, before = search_ask(r, low), value = 0;
    if (before <= r->delta || isinf(before))
        return isinf(before) ? before : low;
    while (high < 1e9 && (value = search_ask(r, high)) > r->delta && isfinite(value)) {
        low = high;
        before = value;
        high *= high > large ? 8 : 2;
    }
    return high < 1e9 && isfinite(value) ? search_between(r, low, before, high, value) : INFINITY;
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

/* The epsilon of the pair by lines, near that one: 0 when they do not tell. */
static int search_lines(const search *r, double about, double *lower, double *epsilon)
{
    cellar_pair pair = pair_at(r->s, r->i, r->at);
    return pair.monotone && cellar_pair_epsilon(&pair, r->delta, about, lower, epsilon);
}

/* From where doubles say, if they are right, and else from nothing. */
static double search_start(const search *r, cellar_worst *at, double *lower)
{
    static const double widths[] = {1e-7, 1e-5, 1e-3};
    int is_quick = search_has_quick(r);
    cellar_reach reach = cellar_setting_reach(r->s, r->i);
    double about = is_quick ? search_about_quick(r, at) : search_about(r), epsilon;
    about = about > 0 ? about : cellar_supremum_about(&reach, r->delta, at);
    if (search_lines(r,
                     about > 0 ? about
                               : cellar_epsilon_tail_about(r->s->mechanisms[r->i], r->at->count,
                                                           r->at->neighbour, r->delta),
                     lower, &epsilon))
        return epsilon;
    for (size_t k = 0; about > 0 && k < sizeof widths / sizeof *widths; k++) {
        double low = about * (1 - widths[k]);
        double high = about * (1 + widths[k] * (is_quick ? 0.1 : 1));
        double at_low = search_ask(r, low), at_high = at_low > r->delta ? search_ask(r, high) : 1;
        if (at_low > r->delta && at_high <= r->delta)
            return search_between(r, low, at_low, high, at_high);
    }
    if (search_needs_order(r) && !(about > 0)) /* it has too many numbers */
        return INFINITY;
    return search_from(r, 0);
}

/* A pair of counts, here and there, whose delta is still too large: looking at all takes longest
 * where epsilon is too small. */
static int search_pair(const search *r, double epsilon, cellar_worst *worst)
{
    int64_t first = (int64_t) r->s->options->min_count, shift = r->s->shift;
    const cellar_mechanism *m = r->s->mechanisms[r->i];
    if (m->ops->is_additive || search_has_quick(r) || cellar_facts_ordered(m) ||
        (m->ops->facts != NULL && m->ops->facts->spans != NULL))
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

/* The epsilon of another pair, which is worse at the last one. */
static double search_again(const search *r, double last, double *lower)
{
    const double more = 1 + 1e-11; /* what was found may be a little less than what is proved */
    double epsilon;
    if (search_lines(r, last, lower, &epsilon))
        return fmax(epsilon, last * more);
    *lower = 0;
    return search_from(r, last);
}

/* Somewhat below that epsilon the pair looked at has still more than delta, if it is the worst. */
static double lower_of_pair(const search *r, double epsilon)
{
    static const double widths[] = {4e-9, 1e-7, 1e-5};
    cellar_pair pair = pair_at(r->s, r->i, r->at);
    double lower = 0;
    fmpq_t exact;
    arb_t value;
    fmpq_init(exact);
    arb_init(value);
    for (size_t k = 0; k < sizeof widths / sizeof *widths && lower <= 0; k++) {
        cellar_rational_set_double(exact, epsilon * (1 - widths[k]));
        cellar_pair_delta(&pair, exact, value);
        if (arb_is_finite(value) && cellar_ball_lower(value) > r->delta)
            lower = epsilon * (1 - widths[k]);
    }
    fmpq_clear(exact);
    arb_clear(value);
    return lower;
}

/* The same of a bound for all counts at once, where one pair attains it to ten digits. */
static double lower_of_bound(const search *r, double epsilon)
{
    static const double width = 4e-9, digits = 1e-10;
    const double below = epsilon * (1 - width);
    cellar_worst worst;
    if (!isfinite(epsilon) || !cellar_facts_ordered(r->s->mechanisms[r->i]))
        return 0;
    return delta_at(r->s, r->i, below, &worst) * (1 - digits) > r->delta && worst.is_attained
               ? below
               : 0;
}

/* Where the bound of all counts is a little more than any pair has: the epsilon of the last pair at
 * which it has less than delta by more than that. 0 when that does not do. */
static double epsilon_loosely(const search *r, double epsilon, const cellar_worst *all)
{
    const double close = 0.1;
    double over = all->least > 0 ? all->bound / all->least - 1 : INFINITY, unused;
    search less = *r;
    cellar_worst worst;
    if (!(over < close))
        return 0;
    less.delta = r->delta / (1 + 1.5 * over + 1e-9);
    epsilon = search_again(&less, epsilon, &unused);
    return delta_at(r->s, r->i, epsilon, &worst) <= r->delta ? epsilon : 0;
}

/* The smallest epsilon between two, about, from which on it is proved that the first pair is the
 * worst; the second where none is. */
static double search_order(const search *r, double low, double high)
{
    const double close = 2e-5, share = 0.6, most = 1e9;
    const cellar_reach reach = cellar_setting_reach(r->s, r->i);
    const cellar_work *work = cellar_pair_cache_work(r->s->cache);
    while (high - low > close * high && low < most && !cellar_work_is_over(work, share)) {
        double x = isfinite(high) ? low + (high - low) / 2 : 2 * low;
        if (cellar_supremum_is_ordered(&reach, x))
            high = x;
        else
            low = x;
    }
    return high;
}

/* Of all counts at once, from an epsilon on: that of the first pair, as far as it is the worst, or
 * where a bound of all pairs is small enough. */
static double epsilon_of_order(const search *r, double from)
{
    const cellar_reach reach = cellar_setting_reach(r->s, r->i);
    search first = *r, tail = *r;
    double low, high;
    first.is_quick = 1;
    tail.is_tail = 1;
    low = search_from(&first, from);
    if (isfinite(low) && cellar_supremum_is_ordered(&reach, low))
        return low;
    high = search_from(&tail, isfinite(low) ? low : from);
    return isfinite(low) ? search_order(r, low, high) : high;
}

/* Asks one pair at a time, the first counts and then some that are worse where the last left off,
 * until an epsilon found for one is proved for all. */
static double epsilon_by_pairs(search r, double *lower)
{
    enum { PAIRS_MAX = 16 };
    const cellar_setting *s = r.s;
    int64_t first = (int64_t) s->options->min_count;
    cellar_worst worst = {.count = first + s->shift, .neighbour = first, .is_attained = 1};
    double epsilon, loose, before = -1;
    r.at = &worst;
    epsilon = search_start(&r, &worst, lower);
    for (int k = 0; k < PAIRS_MAX && epsilon > before && isfinite(epsilon); k++) {
        cellar_worst last = worst;
        r.at = &last;
        if (!search_pair(&r, epsilon, &worst) && delta_at(s, r.i, epsilon, &worst) <= r.delta) {
            *lower = *lower > 0 ? *lower : lower_of_pair(&r, epsilon);
            return epsilon;
        }
        if (!worst.is_attained && (loose = epsilon_loosely(&r, epsilon, &worst)) > 0) {
            *lower = *lower > 0 ? *lower : lower_of_pair(&r, epsilon);
            return loose;
        }
        r.at = &worst;
        if (!worst.is_attained) /* it may have been no pair's delta */
            before = search_needs_order(&r) ? epsilon : INFINITY;
        epsilon = search_again(&r, epsilon, lower);
    }
    *lower = 0;
    r.at = NULL;
    r.is_wide = search_has_quick(&r); /* looking at all counts again and again takes long */
    if (search_needs_order(&r))
        return epsilon_of_order(&r, isfinite(epsilon) ? epsilon : 0);
    return isfinite(epsilon) ? search_from(&r, epsilon) : INFINITY;
}

/* 1: tails that make that delta at epsilon are not told in the time there is (pair_cost.h). */
static int tails_are_far(const search *r, double epsilon)
{
    const double share = 0.4;
    return cellar_pair_tail_is_far(
        r->s->mechanisms[r->i], (int64_t) r->s->options->min_count + r->s->shift, log(r->delta),
        epsilon, share * cellar_work_limit(cellar_pair_cache_work(r->s->cache)));
}

/* The epsilon of a kernel whose first pair is the worst one, by doubles or else by the bound of all
 * large counts, where delta is too small for all else, or tails take too long; INFINITY where that
 * is not asked. */
static double epsilon_of_little(const search *r)
{
    const double least = 1e-185, little = 1e-100;
    const cellar_mechanism *m = r->s->mechanisms[r->i];
    search bounded = *r;
    double epsilon;
    if (!search_has_quick(r) || !cellar_facts_ordered(m) ||
        !(r->delta < little || r->s->shift > 1 || tails_are_far(r, 0)))
        return INFINITY;
    bounded.is_quick = 1;
    epsilon = search_from(&bounded, 0);
    if (r->delta >= least && (!isfinite(epsilon) || !tails_are_far(r, epsilon)))
        return INFINITY;
    bounded.is_quick = 0;
    bounded.is_tail = 1;
    epsilon = isfinite(epsilon) ? epsilon : search_from(&bounded, 0);
    return isfinite(epsilon)
               ? epsilon
               : cellar_epsilon_tail_enough(m, (int64_t) r->s->options->min_count + r->s->shift,
                                            (int64_t) r->s->options->min_count, r->delta);
}

/* 1: both orders of a large change take several tails each, which are more than may be summed, and
 * there is a bound without them. */
static int search_takes_long(const search *r, const cellar_reach *reach)
{
    const double tails = 4;
    const int64_t larger = reach->smallest + reach->shift;
    return reach->shift > 1 && cellar_reach_has_mixing(reach) &&
           cellar_pair_law_is_wide(reach->m, larger) &&
           tails * cellar_pair_upper_cost(reach->m, larger) >
               cellar_work_limit(cellar_pair_cache_work(r->s->cache));
}

cellar_bounds cellar_setting_epsilon(const cellar_setting *s, size_t i, double delta)
{
    search r = {.s = s, .i = i, .delta = delta};
    cellar_bounds out = {.upper = INFINITY};
    cellar_reach reach = cellar_setting_reach(s, i);
    cellar_worst worst;

    cellar_setting_infinite(s, i, &worst);
    if (worst.bound > delta || !worst.is_proved) {
        out.lower = worst.is_attained && worst.is_proved ? INFINITY : 0;
        return out;
    }
    r.is_wide =
        (s->shift == 1 || cellar_facts_monotone(s->mechanisms[i]) || search_has_quick(&r)) &&
        (cellar_reach_is_wide(&reach, delta) || search_takes_long(&r, &reach));
    out.upper = epsilon_of_little(&r);
    if (isfinite(out.upper))
        return out;
    if (!r.is_wide)
        out.upper = epsilon_by_pairs(r, &out.lower);
    else
        out.upper = search_needs_order(&r) ? epsilon_of_order(&r, 0) : search_from(&r, 0);
    if (r.is_wide)
        out.lower = lower_of_bound(&r, out.upper);
    return out;
}
