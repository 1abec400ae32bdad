/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/envelope_laws.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/ball.h"
#include "privacy/envelope_blocks.h"

enum {
    BITS = 96,
    COUNTS_LARGE = 32,
    COUNTS_FLAT = 256,   /* whose pairs have few numbers each */
    CELLS_MAX = 1 << 19, /* wider laws are composed by their epsilons */
};
static const double REST_FIRST = 0.02, REST_RATIO = 1.25;

static int reach_has_tail(const cellar_reach *reach)
{
    return reach->m->ops->facts != NULL && reach->m->ops->facts->tail != NULL;
}

int cellar_laws_exist(const cellar_reach *reach, int64_t *n)
{
    cellar_reach kept = *reach;
    kept.negatives = CELLAR_NEGATIVES_KEEP;
    if (cellar_reach_period(&kept, n))
        return 1;
    *n = COUNTS_LARGE;
    return reach_has_tail(reach);
}

void cellar_laws_clear(cellar_laws *l)
{
    cellar_free(l->upper);
    cellar_free(l->lower);
    cellar_free(l->outside);
    cellar_law_blocks_clear(&l->blocks);
}

/* The same by double-words, where the kernel has them and they reach far enough. */
static int laws_fill_words(cellar_laws *l, size_t i, double tail)
{
    const cellar_mechanism *m = l->reach->m;
    const double up = 1 + 0x1p-50, down = 1 - 0x1p-50; /* more than numbers and sums are off */
    int64_t end = l->low + (int64_t) l->width, skipped;
    cellar_law_row row;
    int is_made = m->ops->law_row != NULL && tail > 0x1p-600 &&
                  m->ops->law_row(m, l->first + (int64_t) i, &row);
    if (!is_made)
        return 0;
    skipped = l->low - row.first;
    is_made = skipped >= 0 && cellar_law_row_reach(&row, end) &&
              cellar_law_row_finish(&row, 60 - (int) log2(tail)) && row.run.error < 0x1p40 &&
              end - row.first < (int64_t) row.n_above;
    for (size_t j = 0; is_made && j < l->width; j++) {
        double p = row.p[skipped + (int64_t) j].high;
        l->upper[i * l->width + j] = p > 0 ? p * up : 0x1p-400;
        l->lower[i * l->width + j] = p * down;
    }
    if (is_made)
        l->outside[i] = row.above[end - row.first].high * up + row.after + row.before +
                        (skipped > 0 ? row.below[skipped - 1].high * up + row.untold : 0);
    cellar_law_row_clear(&row);
    return is_made;
}

/* The same by doubles. */
static int laws_fill_doubles(cellar_laws *l, size_t i)
{
    const cellar_mechanism *m = l->reach->m;
    const cellar_facts *facts = m->ops->facts;
    double *upper = l->upper + i * l->width, *lower = l->lower + i * l->width, error;
    if (facts == NULL || facts->fill == NULL || l->low < 0)
        return 0;
    l->outside[i] = facts->fill(m, l->first + (int64_t) i, l->low, l->width, lower, &error);
    for (size_t j = 0; j < l->width; j++) {
        upper[j] = lower[j] > CELLAR_FILL_LEAST ? lower[j] * (1 + error) : 2 * CELLAR_FILL_LEAST;
        lower[j] *= 1 - error;
    }
    return 1;
}

static void laws_fill_row(cellar_laws *l, size_t i, double tail, arb_ptr row)
{
    const cellar_mechanism *m = l->reach->m;
    int64_t count = l->first + (int64_t) i;
    cellar_pair pair;
    if (laws_fill_doubles(l, i) || laws_fill_words(l, i, tail))
        return;
    cellar_pair_init(&pair, m, count, count + 1, CELLAR_NEGATIVES_KEEP);
    if (m->ops->pmf_balls != NULL && l->low >= 0)
        m->ops->pmf_balls(m, count, l->low, l->width, BITS, row);
    else
        for (size_t j = 0; j < l->width; j++)
            cellar_pair_pmf(&pair, 0, l->low + (int64_t) j, BITS, row + j);
    for (size_t j = 0; j < l->width; j++) {
        l->upper[i * l->width + j] = fmax(0, cellar_ball_upper(row + j));
        l->lower[i * l->width + j] = fmax(0, cellar_ball_lower(row + j));
    }
    cellar_pair_lower(&pair, 0, l->low - 1, BITS, row);
    l->outside[i] = fmax(0, cellar_ball_upper(row));
    cellar_pair_upper(&pair, 0, l->low + (int64_t) l->width, BITS, row);
    l->outside[i] = nextafter(l->outside[i] + fmax(0, cellar_ball_upper(row)), 2);
}

static double rest_epsilon(size_t i)
{
    return i == 0 ? 0 : REST_FIRST * pow(REST_RATIO, (double) (i - 1));
}

/* The first of these epsilons from which on the first pair is known to be the worst one. */
static size_t laws_find_order(const cellar_laws *l)
{
    const cellar_facts *facts = l->reach->m->ops->facts;
    size_t no = 0, yes = CELLAR_LAWS_RESTS;
    double steps = l->reach->shift > 5 ? 2e5 : 4e5; /* in all */
    const double most = steps / 2;
    if (facts->is_ordered_at == NULL)
        return yes;
    while (yes - no > 1) {
        size_t i = no + (yes - no) / 2;
        double left = fmin(steps, most), before = left;
        if (facts->is_ordered_at(l->reach->m, l->first, 1, l->reach->shift, rest_epsilon(i), &left))
            yes = i;
        else
            no = i;
        steps -= before - left;
    }
    return yes;
}

/* delta of all counts from one on, which costs more than that of a pair, at some epsilon. */
static void laws_bound_rest(cellar_laws *l, int64_t from)
{
    const cellar_reach *reach = l->reach;
    size_t n = l->is_bounded ? laws_find_order(l) : 0;
    arb_t epsilon, value;
    arb_init(epsilon);
    arb_init(value);
    l->ordered_from = l->is_bounded && n < CELLAR_LAWS_RESTS ? rest_epsilon(n) : INFINITY;
    for (size_t i = 0; i < CELLAR_LAWS_RESTS; i++)
        l->rest_at[i] = rest_epsilon(i);
    for (size_t i = 0; i < n; i++) {
        arb_set_d(epsilon, l->rest_at[i]);
        reach->m->ops->facts->tail(reach->m, from, reach->shift, epsilon, BITS, value);
        l->rest[i] = arb_is_finite(value) ? fmin(1, fmax(0, cellar_ball_upper(value))) : 1;
    }
    arb_clear(epsilon);
    arb_clear(value);
}

/* The same, which does not depend on what is left out of the laws, if it is not known. */
static void laws_find_rest(cellar_laws *l, int64_t from)
{
    const cellar_reach *reach = l->reach;
    cellar_curve *known =
        cellar_pair_cache_curve(reach->cache, reach->m, reach->shift, reach->smallest, 0);
    if (known == NULL || !known->has_rest)
        laws_bound_rest(l, from);
    if (known == NULL)
        return;
    for (size_t i = 0; i < CELLAR_LAWS_RESTS; i++) {
        if (!known->has_rest)
            known->rest[i] = l->rest[i];
        l->rest[i] = known->rest[i];
        l->rest_at[i] = rest_epsilon(i);
    }
    if (!known->has_rest)
        known->ordered_from = l->ordered_from;
    l->ordered_from = known->ordered_from;
    known->has_rest = 1;
}

int cellar_laws_are_flat(const cellar_reach *reach)
{
    cellar_pair pair;
    cellar_pair_init(&pair, reach->m, reach->smallest, reach->smallest + reach->shift,
                     CELLAR_NEGATIVES_KEEP);
    return pair.flat && reach_has_tail(reach);
}

/* The two laws of the k-th pair of counts, on the numbers between them. */
static void laws_fill_pair(cellar_laws *l, size_t k, arb_t value)
{
    int64_t smaller = l->first + (int64_t) k, larger = smaller + l->reach->shift;
    cellar_pair pair;
    cellar_pair_init(&pair, l->reach->m, smaller, larger, CELLAR_NEGATIVES_KEEP);
    pair.cache = l->reach->cache;
    for (int side = 0; side < 2; side++)
        for (size_t j = 0; j < l->width; j++) {
            size_t at = (2 * k + (size_t) side) * l->width + j;
            if (j == 0)
                cellar_pair_lower(&pair, side, smaller, CELLAR_PAIR_BITS, value);
            else if (j + 1 == l->width)
                cellar_pair_upper(&pair, side, larger, CELLAR_PAIR_BITS, value);
            else
                cellar_pair_pmf(&pair, side, smaller + (int64_t) j, CELLAR_PAIR_BITS, value);
            l->upper[at] = fmax(0, cellar_ball_upper(value));
            l->lower[at] = fmax(0, cellar_ball_lower(value));
        }
}

/* All of them in doubles. */
static int laws_fill_shares(cellar_laws *l)
{
    const double up = 1 + 0x1p-48, down = 1 - 0x1p-48, least = 0x1p-1000;
    const cellar_mechanism *m = l->reach->m;
    if (m->ops->facts->shares == NULL ||
        !m->ops->facts->shares(m, l->first, l->n / 2, l->reach->shift, l->lower))
        return 0;
    for (size_t i = 0; i < l->n * l->width; i++) {
        l->upper[i] = l->lower[i] > least ? l->lower[i] * up : 2 * least;
        l->lower[i] = l->lower[i] > least ? l->lower[i] * down : 0;
    }
    return 1;
}

static cellar_status laws_room(cellar_laws *l, cellar_error *err)
{
    l->upper = cellar_alloc(l->n * l->width, sizeof *l->upper);
    l->lower = cellar_alloc(l->n * l->width, sizeof *l->lower);
    l->outside = cellar_alloc(l->n, sizeof *l->outside);
    if (l->upper == NULL || l->lower == NULL || l->outside == NULL)
        return cellar_fail_memory(err, "an envelope");
    return CELLAR_OK;
}

static cellar_status laws_init_flat(cellar_laws *l, const cellar_reach *reach, cellar_error *err)
{
    cellar_status status;
    arb_t value;
    *l = (cellar_laws){.reach = reach, .first = reach->smallest, .is_flat = 1, .is_bounded = 1};
    l->width = (size_t) reach->shift + 1;
    l->n = (size_t) 2 * COUNTS_FLAT;
    status = laws_room(l, err);
    if (status != CELLAR_OK)
        return status;
    arb_init(value);
    for (size_t k = laws_fill_shares(l) ? COUNTS_FLAT : 0; k < COUNTS_FLAT; k++)
        laws_fill_pair(l, k, value);
    arb_clear(value);
    laws_find_rest(l, l->first + COUNTS_FLAT);
    return CELLAR_OK;
}

/* One window for all counts, so that a law is known where another one lives. */
static cellar_status laws_init_wide(cellar_laws *l, const cellar_reach *reach, double tail,
                                    cellar_error *err)
{
    const int has_fill = reach->m->ops->facts != NULL && reach->m->ops->facts->fill != NULL;
    int64_t n, low = INT64_MAX, high = INT64_MIN;
    arb_ptr row;
    *l = (cellar_laws){.reach = reach, .first = reach->smallest};
    CELLAR_ASSERT(cellar_laws_exist(reach, &n));
    l->is_bounded = n == COUNTS_LARGE && reach_has_tail(reach);
    l->n = (size_t) (n + reach->shift);
    for (size_t i = 0; i < l->n; i += has_fill && i == 0 ? l->n - 1 : 1) {
        int64_t from, to; /* larger counts do not come out smaller */
        reach->m->ops->support(reach->m, l->first + (int64_t) i, tail, &from, &to);
        low = from < low ? from : low;
        high = to > high ? to : high;
    }
    if (high - low >= CELLS_MAX || (double) (high - low + 1) * (double) l->n > CELLS_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: its numbers are too many to be composed by their losses",
                           cellar_mechanism_spec(reach->m));
    l->low = low;
    l->width = (size_t) (high - low + 1);
    if (laws_room(l, err) != CELLAR_OK)
        return CELLAR_ERR_MEMORY;
    row = _arb_vec_init((slong) l->width + 1);
    for (size_t i = 0; i < l->n; i++)
        laws_fill_row(l, i, tail, row);
    _arb_vec_clear(row, (slong) l->width + 1);
    laws_find_rest(l, l->first + n);
    return cellar_law_blocks_pay(l) ? cellar_law_blocks_init(l, err) : CELLAR_OK;
}

int cellar_laws_pair(const cellar_laws *l, size_t k, int larger, size_t *p, size_t *q)
{
    size_t most = (size_t) l->reach->shift, n_counts = l->n - most, shift = most, count = k;
    if (l->is_flat) {
        *p = 2 * k + (larger ? 1 : 0);
        *q = 2 * k + (larger ? 0 : 1);
        return 2 * k + 1 < l->n;
    }
    if (!cellar_facts_monotone(l->reach->m)) {
        shift = most - k % most; /* the largest first */
        count = k / most;
    }
    if (count >= n_counts)
        return 0;
    *p = larger ? count + shift : count;
    *q = larger ? count : count + shift;
    return 1;
}

cellar_status cellar_laws_init(cellar_laws *l, const cellar_reach *reach, double tail,
                               cellar_error *err)
{
    return cellar_laws_are_flat(reach) ? laws_init_flat(l, reach, err)
                                       : laws_init_wide(l, reach, tail, err);
}

/* A bound on H for all larger counts: delta at the next smaller epsilon that was asked for g >= 1,
 * and 1 - g + g H(1/g) of the pair exchanged for g < 1. */
static double rest_value(const cellar_laws *l, double g)
{
    double epsilon = fabs(log(g)) * (1 - 1e-12);
    size_t i = 0;
    while (i + 1 < CELLAR_LAWS_RESTS && l->rest_at[i + 1] <= epsilon)
        i++;
    return fmin(1, g < 1 ? (1 - g + g * l->rest[i]) * (1 + 0x1p-50) : l->rest[i]);
}

/* ---- flat pairs ------------------------------------------------------------------------ */

/* The same of a flat pair, whose losses fall from one end to the other: by much more than the
 * numbers are off, so that all terms after the last positive one are not. */
static double flat_value(const cellar_laws *l, size_t p, size_t q, int larger, double g)
{
    const double *up = l->upper + p * l->width, *low = l->lower + q * l->width;
    double sum = 0, safe = g * (1 - 0x1p-50);
    for (size_t i = 0; i < l->width; i++) {
        size_t j = larger ? l->width - 1 - i : i;
        double term = up[j] - safe * low[j];
        if (!(term > 0))
            break;
        sum += term;
    }
    return (sum + l->outside[p]) * (1 + ((double) l->width + 4) * 0x1p-51);
}

/* Of the k-th pair. */
static double flat_at(const cellar_laws *l, size_t k, int larger, double g)
{
    return flat_value(l, 2 * k + (larger ? 1 : 0), 2 * k + (larger ? 0 : 1), larger, g);
}

/* The values of all pairs at g. Answers which is the largest. */
static size_t flat_row(const cellar_laws *l, int larger, double g, double *row)
{
    size_t best = 0;
    for (size_t k = 0; k < l->n / 2; k++) {
        row[k] = flat_at(l, k, larger, g);
        best = row[k] > row[best] ? k : best;
    }
    return best;
}

/* Between two g at which all pairs are known: curves are convex, so that only those are asked whose
 * chord exceeds what was found. */
static double flat_between(const cellar_laws *l, int larger, double g, double part,
                           const double *const rows[2], size_t likely)
{
    const double slack = 1 + 1e-13;
    double value = fmax(rest_value(l, g), flat_at(l, likely, larger, g));
    for (size_t k = 0; k < l->n / 2; k++)
        if ((rows[0][k] + (rows[1][k] - rows[0][k]) * part) * slack > value)
            value = fmax(value, flat_at(l, k, larger, g));
    return fmin(1, value);
}

/* `rows` has room for the values of all pairs, twice. */
static void flat_curve(const cellar_laws *l, int larger, cellar_curve_node *nodes, size_t n,
                       double *rows)
{
    enum { STEP = 12 };
    double *side[2] = {rows, rows + l->n / 2};
    size_t best = flat_row(l, larger, nodes[0].g, side[1]);
    nodes[0].value = fmin(1, fmax(rest_value(l, nodes[0].g), side[1][best]));
    for (size_t from = 0; from + 1 < n;) {
        size_t to = from + STEP < n - 1 ? from + STEP : n - 1, likely = best;
        double *before = side[0];
        double width = nodes[to].g - nodes[from].g;
        side[0] = side[1];
        side[1] = before;
        best = flat_row(l, larger, nodes[to].g, side[1]);
        for (size_t i = from + 1; i < to; i++)
            nodes[i].value =
                flat_between(l, larger, nodes[i].g, (nodes[i].g - nodes[from].g) / width,
                             (const double *const[]){side[0], side[1]}, likely);
        nodes[to].value = fmin(1, fmax(rest_value(l, nodes[to].g), side[1][best]));
        from = to;
    }
}

/* ---- any laws --------------------------------------------------------------------------- */

/* H of one pair at all nodes, if it is more than what is there. Numbers whose ratio lies between
 * two nodes are added up: what they have beyond the lower one in `beyond`, and their Q in `mass`. A
 * number that is put too high for rounding has a ratio within 2^-49 of that node, and counts for no
 * less than it is. From the last node down, H at one is H at the next, their distance times the Q
 * of all that lie above, and what lies between: all sums of positive numbers. */
static void wide_values(const cellar_laws *l, size_t p, size_t q, cellar_curve_node *nodes,
                        size_t n, double *beyond, double *mass)
{
    const double *up = l->upper + p * l->width, *low = l->lower + q * l->width;
    const double safe = 1 - 0x1p-50, rounding = 1 + (double) (l->width + 4 * n) * 0x1p-51;
    double above = 0, value = 0;
    size_t at = 0; /* nodes below the last ratio */
    for (size_t i = 0; i <= n; i++)
        beyond[i] = mass[i] = 0;
    for (size_t j = 0; j < l->width; j++) {
        double scaled = up[j] * (1 + 0x1p-50), own = low[j];
        while (at < n && scaled > nodes[at].g * own)
            at++;
        while (at > 0 && scaled <= nodes[at - 1].g * own)
            at--;
        if (at > 0) {
            double term = up[j] - nodes[at - 1].g * safe * own;
            beyond[at] += term > 0 ? term : 0;
            mass[at] += own;
        }
    }
    for (size_t i = n; i > 0; i--) {
        if (i < n)
            value += (nodes[i].g - nodes[i - 1].g) * above;
        value += beyond[i];
        above += mass[i];
        nodes[i - 1].value = fmax(nodes[i - 1].value, (value + l->outside[p]) * rounding);
    }
}

/* The first pair number by number, and others in blocks where that pays. `room` is for three
 * numbers at each node, and two more. */
static void wide_curve(const cellar_laws *l, int larger, cellar_curve_node *nodes, size_t n,
                       double *room)
{
    size_t p, q, first = 0, last = n; /* nodes at which other pairs than the first matter */
    double *log_g = room + 2 * (n + 1);
    for (size_t i = 0; i < n; i++) {
        nodes[i].value = l->is_bounded ? rest_value(l, nodes[i].g) : 0;
        log_g[i] = log(nodes[i].g);
    }
    for (size_t k = 0; first < last && cellar_laws_pair(l, k, larger, &p, &q); k++) {
        if (k > 0 && l->blocks.n > 0)
            cellar_law_blocks_values(l, p, q, nodes + first, log_g + first, last - first, room);
        else
            wide_values(l, p, q, nodes + first, last - first, room, room + n + 1);
        while (first < last && log_g[first] * (1 - 1e-12) <= -l->ordered_from)
            first++;
        while (first < last && log_g[last - 1] * (1 - 1e-12) >= l->ordered_from)
            last--;
    }
    for (size_t i = 0; i < n; i++)
        nodes[i].value = fmin(1, nodes[i].value);
}

/* ---- the curve ------------------------------------------------------------------------- */

cellar_status cellar_laws_curve(const cellar_laws *l, int larger, cellar_curve_node *nodes,
                                size_t n, cellar_error *err)
{
    double *room = cellar_alloc(l->is_flat ? l->n : 3 * n + 2, sizeof *room);
    if (room == NULL)
        return cellar_fail_memory(err, "an envelope");
    if (l->is_flat && n > 0)
        flat_curve(l, larger, nodes, n, room);
    else
        wide_curve(l, larger, nodes, n, room);
    cellar_free(room);
    return CELLAR_OK;
}
