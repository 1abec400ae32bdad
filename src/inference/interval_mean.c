/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Poisson mean behind a count, given its released number: means that would give a number as
 * large, and as small, with a chance of at least the tail. */
#include <math.h>

#include "inference/chi_square.h"
#include "inference/interval_parts.h"
#include "math/special.h"

enum { HALVINGS = 60 };

typedef double tail_of(const cellar_channel *channel, int64_t count, int64_t released);

/* The chance when the count is Poisson: what is left out of the sum is below 1e-15. */
static double mixed(const cellar_reading *r, double mean, tail_of *chance)
{
    double spread = 9 * sqrt(mean) + 30, sum = 0;
    int64_t low = (int64_t) fmax(0, floor(mean - spread)), high = (int64_t) (mean + spread);
    for (int64_t a = low; a <= high; a++)
        sum += exp((double) cellar_log_poisson(a, mean)) * chance(&r->channel, a, r->number);
    return sum;
}

/* Between a mean at which the chance is large enough and one at which it is not. */
static double edge(const cellar_reading *r, double in, double out, double tail, tail_of *chance)
{
    for (int i = 0; i < HALVINGS && fabs(in - out) > 1e-9 * (1 + in); i++) {
        double middle = (in + out) / 2;
        if (mixed(r, middle, chance) >= tail)
            in = middle;
        else
            out = middle;
    }
    return out;
}

/* From an interval for the count and one for the mean of a Poisson count (F. Garwood), each with
 * half of the error. */
static cellar_status mean_of_count(const cellar_reading *r, double tail, double *low, double *high,
                                   cellar_error *err)
{
    double least, most;
    cellar_status status = cellar_interval_number(r, tail / 2, &least, &most, err);
    if (status != CELLAR_OK)
        return status;
    *low = least > 0 ? cellar_chi_square_quantile(1 - tail / 2, 2 * least) / 2 : 0;
    *high = isfinite(most) ? cellar_chi_square_quantile(tail / 2, 2 * most + 2) / 2 : INFINITY;
    return CELLAR_OK;
}

cellar_status cellar_interval_mean(const cellar_reading *r, double tail, double *low, double *high,
                                   cellar_error *err)
{
    cellar_status status = mean_of_count(r, tail, low, high, err);
    double inside = 0.5;
    /* Larger means make larger numbers likelier only if larger counts do. */
    if (status != CELLAR_OK || r->is_of_parts || !cellar_channel_is_monotone(&r->channel) ||
        !isfinite(*high))
        return status;
    inside = fmin(fmax(fmax((double) r->number, 0.5), *low), *high);
    while (inside > 0 && mixed(r, inside, cellar_channel_at_most) < tail)
        inside /= 2; /* the number of a kernel may lie far from the count */
    *high = edge(r, inside, *high, tail, cellar_channel_at_most);
    if (mixed(r, 0, cellar_channel_at_least) >= tail)
        *low = 0;
    else if (mixed(r, *high, cellar_channel_at_least) >= tail)
        *low = edge(r, *high, *low, tail, cellar_channel_at_least);
    return CELLAR_OK;
}
