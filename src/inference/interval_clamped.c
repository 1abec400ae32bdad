/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of numbers a + e of which those below a bound t were released as 0.
 *
 * What is released exceeds the count by D(a, e) = e where e >= t - a, and by -a elsewhere. For
 * counts from L to U and every noise e
 *
 *     D <= max(e, -L)    and    D >= e where e >= t - L, max(e - t + 1, -U) elsewhere,
 *
 * so the sum of D lies between sums of independent numbers whose laws are known. Cells that are far
 * above t have D = e, and the interval is that of noise alone. */
#include <math.h>

#include "inference/interval_box.h"
#include "inference/sum_law.h"

enum { LEVELS = 24 };
static const double LEVEL_TAIL = 1e-9;
static const int64_t FAR = INT64_C(1) << 60;

/* The noise of a cell, and the limits that are told apart: multiples of `step` up to `top`. Between
 * them a box is taken larger than it is. */
typedef struct noise {
    const cellar_mechanism *mechanism;
    int64_t reach, step, top, bound; /* bound: t */
} noise;

/* Limits of a count, in whole steps. */
typedef struct limits {
    int64_t low, high;
} limits;

static noise noise_of(const cellar_channel *channel)
{
    noise s = {.mechanism = channel->mechanism};
    int64_t low, high;
    s.bound = channel->threshold > 0 ? channel->threshold : 1;
    cellar_mechanism_support(s.mechanism, 0, CELLAR_SUM_LAW_TAIL / 64, &low, &s.reach);
    cellar_mechanism_support(s.mechanism, 0, LEVEL_TAIL, &low, &high);
    s.step = high / LEVELS + 1;
    s.top = s.step * LEVELS + (s.bound / s.step + 1) * s.step;
    return s;
}

static limits limits_of(const noise *s, const cellar_box_side *side)
{
    limits l = {s->top, FAR};
    if (side->low < (double) s->top)
        l.low = (int64_t) side->low / s->step * s->step;
    if (side->high < (double) s->top)
        l.high = ((int64_t) side->high + s->step - 1) / s->step * s->step;
    return l;
}

static int64_t largest_excess(const noise *s, limits l, int64_t e)
{
    (void) s;
    return e > -l.low ? e : -l.low;
}

static int64_t smallest_excess(const noise *s, limits l, int64_t e)
{
    int64_t pulled = e - s->bound + 1;
    if (e >= s->bound - l.low)
        return e;
    return pulled > -l.high ? pulled : -l.high;
}

typedef int64_t excess_of(const noise *s, limits l, int64_t e);

static cellar_status law_of(const noise *s, limits l, excess_of *excess, cellar_sum_law *out,
                            cellar_error *err)
{
    int64_t first = excess(s, l, -s->reach); /* both rise with e */
    cellar_status status = cellar_sum_law_init(out, first, s->reach, err);
    for (int64_t e = -s->reach; status == CELLAR_OK && e <= s->reach; e++)
        out->pmf[excess(s, l, e) - first] += cellar_mechanism_pmf(s->mechanism, 0, e);
    return status;
}

/* The law of the sum of all excesses. */
static cellar_status sum_of(const cellar_box *box, const noise *s, excess_of *excess,
                            cellar_sum_law *sum, cellar_error *err)
{
    cellar_status status = cellar_sum_law_init_nothing(sum, err);
    for (size_t i = 0, j; i < box->n_sides && status == CELLAR_OK; i = j) {
        limits l = limits_of(s, &box->sides[i]);
        cellar_sum_law one = {0};
        uint64_t n = 0;
        for (j = i; j < box->n_sides; j++) { /* sides with the same limits */
            limits next = limits_of(s, &box->sides[j]);
            if (next.low != l.low || next.high != l.high)
                break;
            n += box->sides[j].n_cells;
        }
        status = law_of(s, l, excess, &one, err);
        if (status == CELLAR_OK)
            status = cellar_sum_law_add(sum, &one, n, err);
        cellar_sum_law_clear(&one);
    }
    return status;
}

cellar_status cellar_box_clamped(const cellar_box *box, double *low, double *high,
                                 cellar_error *err)
{
    noise s = noise_of(box->channel);
    cellar_sum_law sum = {0};
    cellar_status status = sum_of(box, &s, largest_excess, &sum, err);
    if (status == CELLAR_OK)
        *low = fmax(*low, (double) (box->total - cellar_sum_law_highest(&sum, box->tail)));
    cellar_sum_law_clear(&sum);
    if (status == CELLAR_OK)
        status = sum_of(box, &s, smallest_excess, &sum, err);
    if (status == CELLAR_OK)
        *high = fmin(*high, (double) (box->total - cellar_sum_law_lowest(&sum, box->tail)));
    cellar_sum_law_clear(&sum);
    return status;
}
