/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "inference/interval_parts.h"
#include "mechanism/mechanism.h"

static const int64_t COUNT_MAX = INT64_C(1) << 52;

/* ---- one count ------------------------------------------------------------------- */

/* The largest count of which `holds` is true, given that it is from 0 on and then no more. */
static int64_t last_count(const cellar_reading *r, double tail, int64_t from,
                          int (*holds)(const cellar_reading *r, int64_t count, double tail))
{
    int64_t low = 0, high = from > 1 ? from : 1;
    while (high < COUNT_MAX && holds(r, high, tail)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (holds(r, middle, tail))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int is_not_too_large(const cellar_reading *r, int64_t count, double tail)
{
    return cellar_channel_at_most(&r->channel, count, r->number) >= tail;
}

static int is_too_small(const cellar_reading *r, int64_t count, double tail)
{
    return cellar_channel_at_least(&r->channel, count, r->number) < tail;
}

/* The largest change of a count, where laws repeat themselves from some count on; -1: they do not.
 */
static int64_t largest_change(const cellar_mechanism *m)
{
    const cellar_facts *facts = m->ops->facts;
    int64_t from, period, reach = 0;
    if (facts == NULL || facts->period == NULL || !facts->period(m, &from, &period))
        return -1;
    for (int64_t a = 0; a < from + period; a++) {
        int64_t low, high;
        cellar_mechanism_support(m, a, 0, &low, &high);
        reach = a - low > reach ? a - low : reach;
        reach = high - a > reach ? high - a : reach;
    }
    return reach;
}

/* Any matrix: looks at every count that can have become the number. */
static void scan_counts(const cellar_reading *r, int64_t reach, double tail, double *low,
                        double *high)
{
    int64_t top = r->number, a;
    if (cellar_channel_is_clamped(&r->channel) && r->number == 0)
        top = r->channel.threshold > 0 ? r->channel.threshold - 1 : 0;
    a = r->number > reach ? r->number - reach : 0;
    while (a < top + reach && is_too_small(r, a, tail))
        a++;
    *low = (double) a;
    a = top + reach > 0 ? top + reach : 0;
    while ((double) a > *low && !is_not_too_large(r, a, tail))
        a--;
    *high = (double) a;
}

/* Larger counts make larger numbers likelier, so both sets of counts are intervals. */
void cellar_interval_count(const cellar_reading *r, double tail, double *low, double *high)
{
    int64_t from = r->number > 0 ? r->number : 1, last, reach = -1;
    if (!cellar_channel_is_monotone(&r->channel))
        reach = largest_change(r->channel.mechanism);
    if (reach >= 0) {
        scan_counts(r, reach, tail, low, high);
        return;
    }
    *low = is_too_small(r, 0, tail) ? (double) last_count(r, tail, from, is_too_small) + 1 : 0;
    last = is_not_too_large(r, 0, tail) ? last_count(r, tail, from, is_not_too_large) : 0;
    *high = last >= COUNT_MAX - 1 ? INFINITY : fmax((double) last, *low);
}

cellar_status cellar_interval_number(const cellar_reading *r, double tail, double *low,
                                     double *high, cellar_error *err)
{
    if (r->is_of_parts)
        return cellar_interval_sum(r, tail, low, high, err);
    cellar_interval_count(r, tail, low, high);
    return CELLAR_OK;
}

/* ---- two counts, noise added ------------------------------------------------------- */

/* The noise of a reading: its pmf and P(at most), whatever kind it is. */
static double noise_pmf(const cellar_reading *r, int64_t k)
{
    return r->channel.sum != NULL ? cellar_noise_sum_pmf(r->channel.sum, k)
                                  : cellar_mechanism_pmf(r->channel.mechanism, 0, k);
}

static double noise_cdf(const cellar_reading *r, int64_t k)
{
    return r->channel.sum != NULL ? cellar_noise_sum_cdf(r->channel.sum, k)
                                  : cellar_mechanism_cdf(r->channel.mechanism, 0, k);
}

static int64_t noise_reach(const cellar_reading *r)
{
    int64_t low, high;
    if (r->channel.sum != NULL)
        return cellar_noise_sum_reach(r->channel.sum);
    cellar_mechanism_support(r->channel.mechanism, 0, 1e-18, &low, &high);
    return high;
}

cellar_status cellar_interval_difference(const cellar_reading *a, const cellar_reading *b,
                                         const cellar_mechanism *mechanism, double tail,
                                         double *low, double *high, cellar_error *err)
{
    cellar_noise_sum *sum; /* symmetric: a difference has the law of the sum */
    cellar_status status = cellar_noise_sum_create(mechanism, a->n_noises + b->n_noises, &sum, err);
    int64_t k = 0, seen = a->number - b->number;
    if (status != CELLAR_OK)
        return status;
    while (k < cellar_noise_sum_reach(sum) && cellar_noise_sum_cdf(sum, -(k + 1)) >= tail)
        k++;
    *low = (double) (seen - k);
    *high = (double) (seen + k);
    cellar_noise_sum_free(sum);
    return CELLAR_OK;
}

/* P((1-p) e - p f >= d), e and f the noises of a and b. */
static double share_tail(const cellar_reading *a, const cellar_reading *b, double p, double d,
                         double sign)
{
    int64_t reach = noise_reach(a);
    double sum = 0;
    for (int64_t e = -reach; e <= reach; e++) {
        double left = sign * ((1 - p) * (double) e - d), chance;
        /* sign = 1: p f <= (1-p) e - d; sign = -1: p f >= (1-p) e - d, by symmetry alike */
        if (p <= 0)
            chance = left >= -1e-9 ? 1 : 0;
        else
            chance = noise_cdf(b, (int64_t) floor(fmax(-1e15, fmin(1e15, left / p + 1e-9))));
        sum += noise_pmf(a, e) * chance;
    }
    return sum;
}

static int share_is_possible(const cellar_reading *a, const cellar_reading *b, double p,
                             double tail)
{
    double d = (1 - p) * (double) a->number - p * (double) b->number;
    return share_tail(a, b, p, d, 1) >= tail && share_tail(a, b, p, d, -1) >= tail;
}

/* Between a share that is possible and one that is not. */
static double share_edge(const cellar_reading *a, const cellar_reading *b, double in, double out,
                         double tail)
{
    for (int i = 0; i < 40; i++) {
        double middle = (in + out) / 2;
        if (share_is_possible(a, b, middle, tail))
            in = middle;
        else
            out = middle;
    }
    return in;
}

/* The shares that are possible need not be an interval; the smallest one that holds those found on
 * a grid, and the share observed, is told. */
void cellar_interval_share(const cellar_reading *a, const cellar_reading *b, double tail,
                           double *low, double *high)
{
    enum { POINTS = 200 };
    double total = (double) a->number + (double) b->number;
    double seen = total > 0 ? fmin(1, fmax(0, (double) a->number / total)) : 0.5;
    *low = *high = seen;
    for (int i = 0; i <= POINTS; i++) {
        double p = (double) i / POINTS;
        if (!share_is_possible(a, b, p, tail))
            continue;
        *low = fmin(*low, p);
        *high = fmax(*high, p);
    }
    if (*low > 0)
        *low = share_edge(a, b, *low, fmax(0, *low - 1.0 / POINTS), tail);
    if (*high < 1)
        *high = share_edge(a, b, *high, fmin(1, *high + 1.0 / POINTS), tail);
}
