/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An interval from all released values together: inner cells, margins, hierarchies, of one release
 * or of several about the same people.
 *
 * The values are y = E n + noise, the noise independent, with the variances 1/W. Of all linear
 * unbiased estimates of c'n the one by generalised least squares, c'(E'WE)^-1 E'Wy, has the
 * smallest variance (Gauss and Markov). It errs by a weighted sum of the noises with known weights
 * WE(E'WE)^-1 c, and the distribution of that sum gives the interval. The weights follow from which
 * values were released and not from what they are, so the confidence is not spoilt. */
#include <cellar/interval.h>

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/cell_set.h"
#include "inference/noisy.h"
#include "inference/weighted_noise.h"
#include "release/adjustment/adjustment.h"
#include "release/adjustment/aggregate.h"

/* Weights below this are rounding; those nearer to each other than that count as equal. */
#define NO_WEIGHT 1e-10

typedef struct pool {
    const cellar_release *const *releases;
    size_t n_releases;
    cellar_noisy *noisy; /* the inner cells */
    cellar_adjustment *fit;
    double *wanted, *sums, *weights; /* by index of the fit: c; E(E'WE)^-1 c; of one release */
    cellar_noise_term *terms;
    size_t n_terms, room;
    uint64_t n_used;
    cellar_noise_wave *waves; /* of each release */
} pool;

static void pool_clear(pool *p)
{
    cellar_noisy_free(p->noisy);
    cellar_adjustment_free(p->fit);
    cellar_free(p->wanted);
    cellar_free(p->sums);
    cellar_free(p->weights);
    cellar_free(p->terms);
    cellar_free(p->waves);
}

/* Adds `sign` for every inner cell that the text names, and the fit's estimate to *estimate. */
static cellar_status pool_want(pool *p, const char *text, double sign, double *estimate,
                               cellar_error *err)
{
    const cellar_noisy *noisy = p->noisy;
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_cell_set *set = NULL;
    cellar_status status = cellar_cell_set_parse(noisy, text, &set, err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = 0; i < set->n_table; i++) {
        size_t rest = i;
        uint64_t index;
        if (!set->has[i])
            continue;
        for (size_t v = noisy->n_variables; v-- > 0; rest /= noisy->n_levels[v])
            categories[v] = (uint32_t) (rest % noisy->n_levels[v]);
        index = cellar_schema_index(p->fit->schema, categories);
        p->wanted[index] += sign;
        *estimate += sign * p->fit->estimate[index];
    }
    cellar_cell_set_free(set);
    return CELLAR_OK;
}

static cellar_status pool_weigh(pool *p, cellar_error *err)
{
    cellar_adjustment_solution solution;
    cellar_status status =
        cellar_adjustment_solve(p->fit, p->wanted, p->sums, NULL, &solution, err);
    if (status != CELLAR_OK)
        return status;
    if (solution.remainder > 1e-9)
        return cellar_fail(err, CELLAR_ERR_RULE, "the equations of all values were not solved");
    cellar_aggregate_sum(p->fit->schema, p->sums);
    return CELLAR_OK;
}

static int descending(const void *left, const void *right)
{
    const double a = *(const double *) left, b = *(const double *) right;
    return (a < b) - (a > b);
}

/* The weights of the noises of one release. */
static cellar_status pool_weights_of(pool *p, size_t r, cellar_error *err)
{
    cellar_adjustment alone = {.schema = p->fit->schema};
    cellar_status status = cellar_adjustment_allocate(&alone, err);
    if (status == CELLAR_OK)
        status = cellar_adjustment_observe(&alone, p->releases[r], err);
    for (size_t i = 0; status == CELLAR_OK && i < p->fit->n; i++)
        p->weights[i] = fabs(p->sums[i] * alone.weight[i]);
    cellar_free(alone.weight);
    cellar_free(alone.observed);
    cellar_free(alone.diagonal);
    cellar_free(alone.estimate);
    return status;
}

/* Equal weights become one term: the noise is symmetric, so their signs do not matter. */
static cellar_status pool_gather(pool *p, size_t r, cellar_error *err)
{
    const size_t first = p->n_terms;
    const cellar_status status = pool_weights_of(p, r, err);
    if (status != CELLAR_OK)
        return status;
    qsort(p->weights, p->fit->n, sizeof *p->weights, descending);
    for (size_t i = 0; i < p->fit->n && p->weights[i] > NO_WEIGHT; i++, p->n_used++) {
        if (p->n_terms > first && p->terms[p->n_terms - 1].weight - p->weights[i] < NO_WEIGHT) {
            p->terms[p->n_terms - 1].n++;
            continue;
        }
        if (!cellar_grow(&p->terms, &p->room, p->n_terms + 1, sizeof *p->terms))
            return cellar_fail_memory(err, "the weights of released values");
        p->terms[p->n_terms++] = (cellar_noise_term){&p->waves[r], p->weights[i], 1};
    }
    return CELLAR_OK;
}

static cellar_status pool_open(pool *p, cellar_error *err)
{
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    cellar_status status = CELLAR_OK;
    if (p->n_releases == 1 && cellar_release_cells_per_record(p->releases[0]) <= 1)
        return cellar_fail(err, CELLAR_ERR_RULE, "the release has no margins to pool");
    for (size_t r = 0; r < p->n_releases; r++)
        if (cellar_release_is_weighted(p->releases[r]))
            return cellar_fail(err, CELLAR_ERR_RULE, "weighted sums are no counts to pool");
    CELLAR_TRY(cellar_adjustment_create(p->releases, p->n_releases, &options, &p->fit, err));
    p->waves = cellar_alloc(p->n_releases, sizeof *p->waves);
    if (p->waves == NULL)
        return cellar_fail_memory(err, "the weights of released values");
    for (size_t r = 0; r < p->n_releases; r++)
        CELLAR_TRY(
            cellar_noise_wave_init(&p->waves[r], cellar_release_mechanism(p->releases[r]), err));
    CELLAR_TRY(cellar_noisy_from_release(p->releases[0], NULL, 0, &p->noisy, err));
    p->wanted = cellar_alloc(p->fit->n, sizeof *p->wanted);
    p->sums = cellar_alloc(p->fit->n, sizeof *p->sums);
    p->weights = cellar_alloc(p->fit->n, sizeof *p->weights);
    if (p->wanted == NULL || p->sums == NULL || p->weights == NULL)
        status = cellar_fail_memory(err, "the weights of released values");
out:
    return status;
}

cellar_status cellar_interval_pooled(const cellar_release *release, const char *of,
                                     const char *minus, const cellar_interval_options *options,
                                     cellar_interval *out, cellar_error *err)
{
    return cellar_interval_fitted(&release, 1, of, minus, options, out, err);
}

cellar_status cellar_interval_fitted(const cellar_release *const *releases, size_t n_releases,
                                     const char *of, const char *minus,
                                     const cellar_interval_options *options, cellar_interval *out,
                                     cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_weighted_noise *noise = NULL;
    pool p = {.releases = releases, .n_releases = n_releases};
    double tail = 1 - options->confidence, width;

    *out = (cellar_interval){.naive = NAN, .naive_low = NAN, .naive_high = NAN};
    if (!(tail >= CELLAR_SMALLEST_TAIL && tail < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "confidence lies between 0 and 1, got %g",
                           options->confidence);
    if (options->target != CELLAR_TARGET_TABLE || options->prior != CELLAR_PRIOR_NONE ||
        options->n_simultaneous != 1)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "released values are pooled for one confidence interval of the table");
    CELLAR_TRY(pool_open(&p, err));
    CELLAR_TRY(pool_want(&p, of, 1, &out->estimate, err));
    if (minus != NULL)
        CELLAR_TRY(pool_want(&p, minus, -1, &out->estimate, err));
    CELLAR_TRY(pool_weigh(&p, err));
    for (size_t r = 0; r < n_releases; r++)
        CELLAR_TRY(pool_gather(&p, r, err));
    CELLAR_TRY(cellar_weighted_noise_create(p.terms, p.n_terms, &noise, err));
    width = cellar_weighted_noise_width(noise, tail) + 1e-6; /* and what rounding may take */
    out->low = ceil(out->estimate - width);
    out->high = floor(out->estimate + width);
    if (minus == NULL) {
        out->low = fmax(0, out->low);
        out->high = fmax(0, out->high);
    }
    out->confidence = options->confidence;
    out->n_noises = p.n_used;
out:
    cellar_weighted_noise_free(noise);
    pool_clear(&p);
    return status;
}
