/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of a release for tests, every cell estimated from inner cells and margins together.
 *
 * Estimates are those of interval_pooled.c, by generalised least squares. Their errors are
 * correlated: tests take them for independent noise of the same variance, and compare their
 * statistic with draws of all the noise again, as with tables of a cube. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/noisy_build.h"
#include "inference/weighted_noise.h"
#include "release/adjustment/adjustment.h"
#include "release/adjustment/aggregate.h"
#include "table/schema/schema.h"

/* Weights that are held: cells times released values. */
static const size_t WEIGHTS_MAX = (size_t) 1 << 24;

void cellar_pooled_noise_free(cellar_pooled_noise *noise)
{
    if (noise == NULL)
        return;
    cellar_mechanism_free(noise->mechanism);
    cellar_free(noise->weights);
    cellar_free(noise);
}

cellar_status cellar_pooled_noise_draw(const cellar_pooled_noise *noise,
                                       cellar_simulator *simulator, double *errors,
                                       cellar_error *err)
{
    const int64_t lift = INT64_C(1) << 40; /* counts are not negative */
    int64_t *draws = cellar_alloc(noise->n_values, sizeof *draws);
    cellar_status status = CELLAR_OK;
    if (draws == NULL)
        return cellar_fail_memory(err, "the noise of a table");
    for (size_t v = 0; v < noise->n_values; v++)
        draws[v] = lift;
    CELLAR_TRY(cellar_mechanism_sample_many(noise->mechanism, draws, noise->n_values,
                                            simulator->rng, draws, err));
    for (size_t i = 0; i < noise->n_cells; i++) {
        const double *weights = noise->weights + i * noise->n_values;
        errors[i] = 0;
        for (size_t v = 0; v < noise->n_values; v++)
            errors[i] += weights[v] * (double) (draws[v] - lift);
    }
out:
    cellar_free(draws);
    return status;
}

/* ---- making ---------------------------------------------------------------------------- */

typedef struct pooling {
    const cellar_release *release;
    const size_t *variables; /* of the table; NULL: all */
    cellar_noisy *noisy;
    cellar_adjustment *fit;
    double *wanted, *sums; /* by index of the fit */
} pooling;

/* The table's cell that an inner cell of the release belongs to. */
static size_t cell_of(const pooling *p, uint64_t index)
{
    size_t cell = 0;
    for (size_t v = 0; v < p->noisy->n_variables; v++) {
        const size_t variable = p->variables != NULL ? p->variables[v] : v;
        cell = cell * p->noisy->n_levels[v] + schema_category(p->release->schema, variable, index);
    }
    return cell;
}

/* The weights of all values in one cell, and the cell's estimate. */
static cellar_status weigh_cell(pooling *p, size_t cell, double *weights, cellar_error *err)
{
    const cellar_adjustment *fit = p->fit;
    cellar_adjustment_solution solution;
    double estimate = 0;
    size_t v = 0;
    cellar_status status;
    for (size_t i = 0; i < fit->n; i++) {
        p->wanted[i] = fit->diagonal[i] > 0 && cellar_schema_is_interior(fit->schema, i) &&
                       cell_of(p, i) == cell;
        p->sums[i] = 0;
        estimate += p->wanted[i] * fit->estimate[i];
    }
    status = cellar_adjustment_solve(fit, p->wanted, p->sums, NULL, &solution, err);
    if (status != CELLAR_OK)
        return status;
    cellar_aggregate_sum(fit->schema, p->sums);
    for (size_t i = 0; i < fit->n; i++)
        if (fit->weight[i] > 0)
            weights[v++] = p->sums[i] * fit->weight[i];
    p->noisy->released[cell] = llrint(estimate);
    return CELLAR_OK;
}

static cellar_status weigh_all(pooling *p, cellar_error *err)
{
    cellar_pooled_noise *noise = p->noisy->pooled;
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < p->fit->n; i++)
        noise->n_values += p->fit->weight[i] > 0;
    noise->n_cells = p->noisy->n_cells;
    if (noise->n_values > WEIGHTS_MAX / noise->n_cells)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the release is too large to be pooled for a test: choose fewer "
                           "variables");
    noise->weights = cellar_alloc(noise->n_cells * noise->n_values, sizeof *noise->weights);
    p->wanted = cellar_alloc(p->fit->n, sizeof *p->wanted);
    p->sums = cellar_alloc(p->fit->n, sizeof *p->sums);
    if (noise->weights == NULL || p->wanted == NULL || p->sums == NULL)
        return cellar_fail_memory(err, "the weights of released values");
    for (size_t cell = 0; cell < noise->n_cells && status == CELLAR_OK; cell++)
        if (!p->noisy->structural[cell])
            status = weigh_cell(p, cell, noise->weights + cell * noise->n_values, err);
    return status;
}

/* Independent noise of the mean variance stands in for the noise of all cells. */
static cellar_status stand_in(cellar_noisy *noisy, double variance, cellar_error *err)
{
    const cellar_pooled_noise *noise = noisy->pooled;
    double squares = 0, n = 0;
    char spec[64];
    for (size_t cell = 0; cell < noise->n_cells; cell++) {
        n += !noisy->structural[cell];
        for (size_t v = 0; v < noise->n_values; v++)
            squares += pow(noise->weights[cell * noise->n_values + v], 2);
    }
    snprintf(spec, sizeof spec, "discrete-gaussian:sigma=%.6g", sqrt(variance * squares / n));
    cellar_noise_sum_free(noisy->sum);
    noisy->sum = NULL;
    noisy->n_summed = 1;
    noisy->mechanism = NULL; /* the pooled noise has it */
    return cellar_noisy_set_channel(noisy, spec, CELLAR_NEGATIVES_KEEP, 0, err);
}

cellar_status cellar_noisy_pooled_from_release(const cellar_release *release,
                                               const size_t *variables, size_t n,
                                               cellar_noisy **out, cellar_error *err)
{
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    pooling p = {.release = release, .variables = variables};
    cellar_noise_wave wave;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (cellar_release_cells_per_record(release) <= 1)
        return cellar_fail(err, CELLAR_ERR_RULE, "the release has no margins to pool");
    CELLAR_TRY(cellar_noisy_from_release(release, variables, n, &p.noisy, err));
    CELLAR_TRY(cellar_noise_wave_init(&wave, cellar_release_mechanism(release), err));
    CELLAR_TRY(cellar_adjustment_create(&release, 1, &options, &p.fit, err));
    p.noisy->pooled = cellar_alloc(1, sizeof *p.noisy->pooled);
    if (p.noisy->pooled == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the weights of released values"));
    p.noisy->pooled->mechanism = p.noisy->mechanism;
    p.noisy->mechanism = NULL;
    CELLAR_TRY(weigh_all(&p, err));
    CELLAR_TRY(stand_in(p.noisy, wave.variance, err));
    *out = p.noisy;
    p.noisy = NULL;
out:
    cellar_noisy_free(p.noisy);
    cellar_adjustment_free(p.fit);
    cellar_free(p.wanted);
    cellar_free(p.sums);
    return status;
}
