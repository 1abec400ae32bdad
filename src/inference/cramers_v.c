/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cramer's V of the means of a two-way table.
 *
 * V of estimated means is too large: sampling and noise both look like association. The parametric
 * bootstrap tells by how much. V^2 is near normal where there are many cells, so its bias and its
 * standard deviation, both from tables drawn from the fitted means, give estimate and interval. */
#include <cellar/inference.h>

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "inference/chi_square.h"
#include "inference/noisy.h"
#include "inference/simulate.h"
#include "release/draw/draw.h"

enum { GRAIN = 8 };

typedef struct lane {
    cellar_likelihood *likelihood;
    int64_t *numbers;
    double *means, *margins;
} lane;

typedef struct run {
    const cellar_noisy *noisy;
    const cellar_test_options *options;
    double *means;   /* the fitted ones */
    double *squares; /* V^2 of each replicate */
    cellar_pool *pool;
    lane *lanes;
    int n_lanes;
} run;

/* V^2 = sum (m - e)^2/e / (N (min(rows, columns) - 1)) on the rows and columns that are not
 * empty. `margins` has room for both. */
static double v_square(const cellar_noisy *noisy, const double *means, double *margins)
{
    size_t r = noisy->n_levels[0], c = noisy->n_levels[1], n_rows = 0, n_columns = 0;
    double total = 0, sum = 0, *rows = margins, *columns = margins + r;
    CELLAR_ASSERT(r > 1 && c > 1);
    for (size_t i = 0; i < r + c; i++)
        margins[i] = 0;
    for (size_t i = 0; i < r * c; i++) {
        size_t row = i / c;
        rows[row] += means[i];
        columns[i - row * c] += means[i];
        total += means[i];
    }
    for (size_t i = 0; i < r; i++)
        n_rows += rows[i] > 0;
    for (size_t j = 0; j < c; j++)
        n_columns += columns[j] > 0;
    if (n_rows < 2 || n_columns < 2 || !(total > 0))
        return 0;
    for (size_t i = 0; i < r * c; i++) {
        double e = rows[i / c] * columns[i % c] / total;
        sum += e > 0 ? (means[i] - e) * (means[i] - e) / e : 0;
    }
    return sum / (total * ((double) (n_rows < n_columns ? n_rows : n_columns) - 1));
}

/* The most likely mean of every cell. */
static cellar_status fit_cells(const cellar_noisy *noisy, const int64_t *numbers,
                               cellar_likelihood *likelihood, double *means, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < noisy->n_cells && status == CELLAR_OK; i++) {
        cellar_observation *o;
        cellar_peak peak = {0, 0};
        if (noisy->structural[i])
            continue;
        status = cellar_likelihood_observe(likelihood, numbers[i], &o, err);
        if (status == CELLAR_OK)
            status = cellar_observation_peak(o, &peak, err);
        means[i] = peak.mean;
    }
    return status;
}

static cellar_status run_pieces(void *context, size_t first, size_t last, int lane_index,
                                cellar_error *err)
{
    run *r = context;
    lane *l = &r->lanes[lane_index];
    cellar_simulator simulator;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_simulator_init(&simulator, r->options->seed, first / GRAIN, err));
    for (size_t b = first; b < last; b++) {
        for (size_t i = 0; i < r->noisy->n_cells; i++)
            l->numbers[i] = cellar_simulate_poisson(&simulator, r->means[i]);
        CELLAR_TRY(cellar_noisy_draw(r->noisy, &simulator, l->numbers, err));
        CELLAR_TRY(fit_cells(r->noisy, l->numbers, l->likelihood, l->means, err));
        r->squares[b] = v_square(r->noisy, l->means, l->margins);
    }
out:
    cellar_simulator_clear(&simulator);
    cellar_draw_leave(lane_index);
    return status;
}

static cellar_status lane_init(lane *l, const cellar_noisy *noisy, cellar_error *err)
{
    l->numbers = cellar_alloc(noisy->n_cells, sizeof *l->numbers);
    l->means = cellar_alloc(noisy->n_cells, sizeof *l->means);
    l->margins = cellar_alloc(noisy->n_levels[0] + noisy->n_levels[1], sizeof *l->margins);
    if (l->numbers == NULL || l->means == NULL || l->margins == NULL)
        return cellar_fail_memory(err, "the bootstrap");
    return cellar_likelihood_create(&noisy->channel, &l->likelihood, err);
}

static cellar_status run_prepare(run *r, cellar_error *err)
{
    cellar_status status = cellar_pool_create(r->options->n_threads, &r->pool, err);
    if (status != CELLAR_OK)
        return status;
    r->n_lanes = cellar_pool_n_lanes(r->pool);
    r->lanes = cellar_alloc((size_t) r->n_lanes, sizeof *r->lanes);
    r->means = cellar_alloc(r->noisy->n_cells, sizeof *r->means);
    r->squares = cellar_alloc(r->options->n_replicates, sizeof *r->squares);
    if (r->lanes == NULL || r->means == NULL || r->squares == NULL)
        return cellar_fail_memory(err, "the bootstrap");
    for (int i = 0; i < r->n_lanes && status == CELLAR_OK; i++)
        status = lane_init(&r->lanes[i], r->noisy, err);
    return status;
}

static void run_clear(run *r)
{
    for (int i = 0; r->lanes != NULL && i < r->n_lanes; i++) {
        cellar_free(r->lanes[i].numbers);
        cellar_free(r->lanes[i].means);
        cellar_free(r->lanes[i].margins);
        cellar_likelihood_free(r->lanes[i].likelihood);
    }
    cellar_free(r->lanes);
    cellar_free(r->means);
    cellar_free(r->squares);
    cellar_pool_free(r->pool);
}

/* Estimate and ends on the scale of V, within 0..1. */
static void run_conclude(const run *r, double fitted, double confidence,
                         cellar_interval_estimate *out)
{
    double n = (double) r->options->n_replicates, mean = 0, variance = 0, corrected, half;
    for (size_t b = 0; b < r->options->n_replicates; b++)
        mean += r->squares[b] / n;
    for (size_t b = 0; b < r->options->n_replicates; b++)
        variance += (r->squares[b] - mean) * (r->squares[b] - mean) / (n - 1);
    corrected = fitted - (mean - fitted);
    half = cellar_normal_quantile((1 - confidence) / 2) * sqrt(variance);
    out->value = sqrt(fmin(1, fmax(0, corrected)));
    out->low = sqrt(fmin(1, fmax(0, corrected - half)));
    out->high = sqrt(fmin(1, fmax(0, corrected + half)));
}

cellar_status cellar_cramers_v(const cellar_noisy *noisy, double confidence,
                               const cellar_test_options *options, cellar_interval_estimate *aware,
                               double *naive, cellar_error *err)
{
    cellar_status status = cellar_noisy_check_two_way(noisy, err);
    run r = {.noisy = noisy, .options = options};

    *aware = (cellar_interval_estimate){NAN, NAN, NAN};
    *naive = NAN;
    if (status != CELLAR_OK)
        return status;
    if (!(confidence > 0) || !(confidence < 1) || options->n_replicates < 2 ||
        options->n_replicates > 100000000)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "confidence lies between 0 and 1, and replicates are 2 to 100000000");
    CELLAR_TRY(run_prepare(&r, err));
    for (size_t i = 0; i < noisy->n_cells; i++) /* the naive V first: negatives as zeros */
        r.means[i] = noisy->structural[i] ? 0 : fmax(0, (double) noisy->released[i]);
    *naive = sqrt(v_square(noisy, r.means, r.lanes[0].margins));
    CELLAR_TRY(fit_cells(noisy, noisy->released, r.lanes[0].likelihood, r.means, err));
    CELLAR_TRY(cellar_pool_for(r.pool, (size_t) options->n_replicates, GRAIN, run_pieces, &r, err));
    run_conclude(&r, v_square(noisy, r.means, r.lanes[0].margins), confidence, aware);
out:
    run_clear(&r);
    return status;
}
