/* SPDX-License-Identifier: GPL-3.0-or-later */
#define MATHLIB_STANDALONE
#include "risk/exposure/exposure_curve.h"

#include <math.h>

#include <Rmath.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"

/* ---- one cell --------------------------------------------------------------- */

/* Both come from the incomplete beta function (TOMS 708), so each is accurate where it is
 * small. The paper's I_{1-p}(n-k+1, k-1) is the first. Among 10^9 people the last digit of a share
 * near 1 matters, so they are counted by those who differ. */
double cellar_exposure_few_others(uint64_t population, uint64_t k, double x, double rest, int lower)
{
    if (k < 2)
        return lower ? 0 : 1;
    if (k > population)
        return lower ? 1 : 0;
    if (x > 0.5)
        return pbinom((double) (population - k), (double) (population - 1), rest, !lower, 0);
    return pbinom((double) (k - 2), (double) (population - 1), x, lower, 0);
}

/* x P(Bin(n-1, x) <= k-2). */
static double cell_exposure(uint64_t population, uint64_t k, double x)
{
    return x > 0 ? x * cellar_exposure_few_others(population, k, x, 1 - x, 1) : 0;
}

/* ---- the whole curve, by all threads ---------------------------------------- */

enum { CHUNK_STEPS = 1024 };

typedef struct statistical_work {
    const cellar_exposure_curve *curve;
    const cellar_exposure_pair *pairs;
    size_t n_chunks; /* of a pair */
    double *values, *complements;
} statistical_work;

static cellar_status statistical_chunk(void *context, size_t first, size_t last, int lane,
                                       cellar_error *err)
{
    const statistical_work *work = context;
    const cellar_exposure_curve *curve = work->curve;
    (void) lane;
    (void) err;
    for (size_t task = first; task < last; task++) {
        const cellar_exposure_pair *pair = &work->pairs[task / work->n_chunks];
        size_t begin = task % work->n_chunks * CHUNK_STEPS, end = begin + CHUNK_STEPS;
        double value = 0, complement = 0;
        for (size_t i = begin; i < end && i < curve->n_steps; i++) {
            double x = curve_share(curve, i), mass = x * (double) curve->steps[i].n_cells;
            double rest = (double) (curve->total - curve->steps[i].count) / (double) curve->total;
            double few = cellar_exposure_few_others(pair->population, pair->k, x, rest, 1);
            value += mass * few;
            complement += mass * (few < 0.5 ? 1 - few
                                            : cellar_exposure_few_others(pair->population, pair->k,
                                                                         x, rest, 0));
        }
        work->values[task] = value;
        work->complements[task] = complement;
    }
    return CELLAR_OK;
}

static cellar_status statistical_check(const cellar_exposure_pair *pairs, size_t n,
                                       cellar_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (pairs[i].population == 0 || pairs[i].k == 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "statistical exposure needs a population and a k of at least 1");
    return CELLAR_OK;
}

cellar_status cellar_exposure_statistical(const cellar_exposure_curve *curve,
                                          cellar_exposure_pair *pairs, size_t n, int n_threads,
                                          cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_pool *pool = NULL;
    statistical_work work = {
        .curve = curve, .pairs = pairs, .n_chunks = (curve->n_steps - 1) / CHUNK_STEPS + 1};

    CELLAR_TRY(statistical_check(pairs, n, err));
    work.values = cellar_alloc(n * work.n_chunks, sizeof *work.values);
    work.complements = cellar_alloc(n * work.n_chunks, sizeof *work.complements);
    if (work.values == NULL || work.complements == NULL) {
        status = cellar_fail_memory(err, "statistical exposure");
        goto out;
    }
    CELLAR_TRY(cellar_pool_create(n_threads, &pool, err));
    CELLAR_TRY(cellar_pool_for(pool, n * work.n_chunks, 1, statistical_chunk, &work, err));
    for (size_t i = 0; i < n; i++) {
        pairs[i].value = pairs[i].complement = 0;
        for (size_t chunk = 0; chunk < work.n_chunks; chunk++) {
            pairs[i].value += work.values[i * work.n_chunks + chunk];
            pairs[i].complement += work.complements[i * work.n_chunks + chunk];
        }
        pairs[i].value = fmin(1, pairs[i].value);
        pairs[i].complement = fmin(1, pairs[i].complement);
    }
out:
    cellar_pool_free(pool);
    cellar_free(work.complements);
    cellar_free(work.values);
    return status;
}

/* ---- the band --------------------------------------------------------------- */

/* Where x P(Bin(n-1,x) <= k-2) is largest. The second factor is the survival function of a
 * Beta(k-1, n-k+1) law, which has a log-concave density, so it is log-concave; so is x; so is the
 * product: it has one peak, at the zero of 1/x - density/survival, found by bisection. */
static double cell_exposure_peak(uint64_t population, uint64_t k)
{
    double a = (double) k - 1, b = (double) population - (double) k + 1, low = 0, high = 1;
    if (k < 2 || k > population)
        return 1;
    for (int i = 0; i < 200 && low < high; i++) {
        double x = low + (high - low) / 2;
        double log_hazard = dbeta(x, a, b, 1) - pbeta(x, a, b, 0, 1);
        if (x <= low || x >= high)
            break;
        if (log_hazard < -log(x))
            low = x;
        else
            high = x;
    }
    return low;
}

cellar_exposure_band cellar_exposure_statistical_band(const cellar_exposure_curve *curve,
                                                      uint64_t population, uint64_t k,
                                                      double radius)
{
    double peak = cell_exposure_peak(population, k), n_empty = cellar_exposure_n_empty(curve);
    cellar_exposure_band band = {0, 0};

    for (size_t i = 0; i < curve->n_steps; i++) {
        double x = curve_share(curve, i), n = (double) curve->steps[i].n_cells;
        double low = fmax(0, x - radius), high = fmin(1, x + radius);
        double at_low = cell_exposure(population, k, low);
        double at_high = cell_exposure(population, k, high);
        double top = cell_exposure(population, k, fmin(fmax(peak, low), high));
        band.lower += n * fmin(at_low, at_high);
        band.upper += n * fmax(top, fmax(at_low, at_high));
    }
    band.upper += n_empty * cell_exposure(population, k, fmin(peak, fmin(1, radius)));
    band.upper = fmin(1, band.upper);
    band.lower = fmin(1, band.lower);
    return band;
}

/* |V| (sqrt(e(n+1)) / (2 sqrt(|V|-1)) + 1) |p - p'|, Appendix G. Its last step claims
 * sum sqrt(p/(1-p)) <= |V|/sqrt(|V|-1), which holds for uniform p and fails for skewed ones. */
double cellar_exposure_statistical_published(double n_possible, uint64_t population, double radius)
{
    return n_possible * (sqrt(exp(1) * ((double) population + 1) / (n_possible - 1)) / 2 + 1) *
           radius;
}
