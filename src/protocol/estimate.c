/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/estimate.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/exposure/exposure_curve.h"

static const double ONE = 1e18; /* shares are held in units of 10^-18 */

double estimate_radius(uint64_t n_people, double n_values, double delta)
{
    return sqrt(log(2 * n_values / delta) / (2 * (double) n_people));
}

static int range_compare(const void *a, const void *b)
{
    const share_range *x = a, *y = b;
    return (x->least > y->least) - (x->least < y->least);
}

share_range estimate_range(double share, double radius)
{
    double least = floor((share - radius) * ONE * (1 - 1e-14)) - 1;
    double largest = ceil((share + radius) * ONE * (1 + 1e-14)) + 1;
    return (share_range){least > 0 ? (uint64_t) fmin(least, ONE) : 0,
                         largest > 0 ? (uint64_t) fmin(largest, ONE) : 0};
}

/* Steps at the least shares; `below` adds up the largest ones. Values that may not occur at all are
 * below every step. */
static void curve_fill(cellar_exposure_curve *curve, const share_range *ranges, size_t n)
{
    uint64_t below = 0;
    for (size_t i = 0; i < n; i++) {
        cellar_exposure_step *last = &curve->steps[curve->n_steps > 0 ? curve->n_steps - 1 : 0];
        if (curve->n_steps > 0 && last->count == ranges[i].least)
            last->n_cells++;
        else if (ranges[i].least > 0)
            curve->steps[curve->n_steps++] = (cellar_exposure_step){ranges[i].least, 1, below};
        below = below + ranges[i].largest < curve->total ? below + ranges[i].largest : curve->total;
    }
    if (curve->n_steps == 0) /* nothing is known of any value */
        curve->steps[curve->n_steps++] = (cellar_exposure_step){1, n, curve->total};
    curve->n_cells = n;
    curve->n_possible = (double) n;
}

cellar_status estimate_worst_curve(share_range *ranges, size_t n_values,
                                   cellar_exposure_curve **out, cellar_error *err)
{
    cellar_exposure_curve *curve = cellar_alloc(1, sizeof *curve);

    *out = NULL;
    if (curve != NULL)
        curve->steps = cellar_alloc(n_values + 1, sizeof *curve->steps);
    if (curve == NULL || curve->steps == NULL) {
        cellar_exposure_curve_free(curve);
        return cellar_fail_memory(err, "an exposure curve");
    }
    qsort(ranges, n_values, sizeof *ranges, range_compare);
    curve->total = (uint64_t) ONE;
    curve->n_people = curve->total;
    curve_fill(curve, ranges, n_values);
    *out = curve;
    return CELLAR_OK;
}

/* The chance falls in t: halving, and the end where it is small enough. */
double estimate_threshold(uint64_t population, uint64_t k, double chance)
{
    double low = 0, high = 1;
    for (int i = 0; i < 100; i++) {
        double middle = low + (high - low) / 2;
        if (cellar_exposure_few_others(population, k, middle, 1 - middle, 1) <= chance)
            high = middle;
        else
            low = middle;
    }
    return high;
}
