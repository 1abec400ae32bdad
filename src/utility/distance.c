/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The three distances of a cell: d1 = |b-a|, d2 = |b-a|/a and d3 = |sqrt(b)-sqrt(a)|, and the
 * quantiles at which the R package cellKey reports them (ck_cnt_measures() of its version 1.0).
 * Quantiles are interpolated between order statistics, as R does it by default. */
#include "utility/distance.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "utility/spread.h"

static const double levels[CELLAR_UTILITY_N_DISTANCE_LEVELS] = {0,   0.1, 0.2, 0.3,  0.4,  0.5, 0.6,
                                                                0.7, 0.8, 0.9, 0.95, 0.99, 1};

double cellar_utility_distance_level(size_t index)
{
    return levels[index];
}

/* NAN where there is none: nothing is relative to zero. */
static double distance_of(size_t which, int64_t count, int64_t released)
{
    double a = (double) count, b = (double) released;
    if (which == 0)
        return fabs(b - a);
    if (which == 1)
        return count > 0 ? fabs(b - a) / a : NAN;
    return fabs(sqrt(b > 0 ? b : 0) - sqrt(a));
}

/* The k-th smallest of sorted values and `n_zeros` zeros, which are smaller than none of them. */
static double value_at(const double *sorted, uint64_t n_zeros, uint64_t k)
{
    return k < n_zeros ? 0 : sorted[k - n_zeros];
}

static void distance_fill(double *values, size_t n, uint64_t n_zeros, cellar_utility_distance *out)
{
    double sum = 0;
    out->n = n + n_zeros;
    out->mean = NAN;
    qsort(values, n, sizeof *values, cellar_utility_order);
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    if (out->n > 0)
        out->mean = sum / (double) out->n;
    for (size_t k = 0; k < CELLAR_UTILITY_N_DISTANCE_LEVELS; k++) {
        double place = out->n > 0 ? levels[k] * (double) (out->n - 1) : 0, below = floor(place);
        uint64_t i = (uint64_t) below;
        double low = out->n > 0 ? value_at(values, n_zeros, i) : NAN;
        out->quantiles[k] =
            i + 1 < out->n ? low + (place - below) * (value_at(values, n_zeros, i + 1) - low) : low;
    }
}

cellar_status cellar_utility_distances(const utility_cells *original, const utility_cells *released,
                                       uint64_t n_cells,
                                       cellar_utility_distance out[UTILITY_N_DISTANCES],
                                       cellar_error *err)
{
    static const char *const names[] = {"d1", "d2", "d3"};
    double *values = cellar_alloc(original->n + released->n, sizeof *values);
    if (values == NULL)
        return cellar_fail_memory(err, "distances");
    for (size_t i = 0; i < UTILITY_N_DISTANCES; i++) {
        int all = i >= UTILITY_N_DISTANCES / 2;
        size_t which = i % (UTILITY_N_DISTANCES / 2), n = 0;
        uint64_t n_seen = 0;
        utility_walk walk = {0};
        out[i].measure = names[which];
        out[i].is_all = all;
        while (utility_walk_next(&walk, original, released)) {
            values[n] = distance_of(which, walk.count, walk.released);
            n += (all || walk.released != 0) && !isnan(values[n]);
            n_seen++;
        }
        distance_fill(values, n, all ? n_cells - n_seen : 0, &out[i]);
    }
    cellar_wipe(values, (original->n + released->n) * sizeof *values);
    cellar_free(values);
    return CELLAR_OK;
}
