/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An interval from all released values of a release together: inner cells, margins, hierarchies.
 *
 * The values are y = E n + noise, the noise independent and of one distribution. Of all linear
 * unbiased estimates of c'n the one by generalised least squares, c'(E'E)^-1 E'y, has the smallest
 * variance (Gauss and Markov). It errs by a weighted sum of the noises with known weights
 * E(E'E)^-1 c, and the distribution of that sum gives the interval. The weights follow from which
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
    const cellar_release *release;
    cellar_noisy *noisy; /* the inner cells */
    cellar_adjustment *fit;
    double *wanted, *weights; /* by index of the fit: c, then E(E'E)^-1 c */
    cellar_noise_term *terms;
    size_t n_terms;
    uint64_t n_used;
    cellar_noise_wave wave;
} pool;

static void pool_clear(pool *p)
{
    cellar_noisy_free(p->noisy);
    cellar_adjustment_free(p->fit);
    cellar_free(p->wanted);
    cellar_free(p->weights);
    cellar_free(p->terms);
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
        cellar_adjustment_solve(p->fit, p->wanted, p->weights, NULL, &solution, err);
    if (status != CELLAR_OK)
        return status;
    if (solution.remainder > 1e-9)
        return cellar_fail(err, CELLAR_ERR_RULE, "the equations of all values were not solved");
    cellar_aggregate_sum(p->fit->schema, p->weights);
    for (size_t i = 0; i < p->fit->n; i++)
        p->weights[i] = fabs(p->weights[i] * p->fit->weight[i]);
    return CELLAR_OK;
}

static int descending(const void *left, const void *right)
{
    const double a = *(const double *) left, b = *(const double *) right;
    return (a < b) - (a > b);
}

/* Equal weights become one term: the noise is symmetric, so their signs do not matter. */
static cellar_status pool_gather(pool *p, cellar_error *err)
{
    size_t room = 0;
    qsort(p->weights, p->fit->n, sizeof *p->weights, descending);
    for (size_t i = 0; i < p->fit->n && p->weights[i] > NO_WEIGHT; i++, p->n_used++) {
        if (p->n_terms > 0 && p->terms[p->n_terms - 1].weight - p->weights[i] < NO_WEIGHT) {
            p->terms[p->n_terms - 1].n++;
            continue;
        }
        if (!cellar_grow(&p->terms, &room, p->n_terms + 1, sizeof *p->terms))
            return cellar_fail_memory(err, "the weights of released values");
        p->terms[p->n_terms++] = (cellar_noise_term){&p->wave, p->weights[i], 1};
    }
    return CELLAR_OK;
}

static cellar_status pool_open(pool *p, cellar_error *err)
{
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    cellar_status status = CELLAR_OK;
    if (cellar_release_cells_per_record(p->release) <= 1)
        return cellar_fail(err, CELLAR_ERR_RULE, "the release has no margins to pool");
    CELLAR_TRY(cellar_adjustment_create(&p->release, 1, &options, &p->fit, err));
    CELLAR_TRY(cellar_noise_wave_init(&p->wave, cellar_release_mechanism(p->release), err));
    CELLAR_TRY(cellar_noisy_from_release(p->release, NULL, 0, &p->noisy, err));
    p->wanted = cellar_alloc(p->fit->n, sizeof *p->wanted);
    p->weights = cellar_alloc(p->fit->n, sizeof *p->weights);
    if (p->wanted == NULL || p->weights == NULL)
        status = cellar_fail_memory(err, "the weights of released values");
out:
    return status;
}

cellar_status cellar_interval_pooled(const cellar_release *release, const char *of,
                                     const char *minus, const cellar_interval_options *options,
                                     cellar_interval *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_weighted_noise *noise = NULL;
    pool p = {.release = release};
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
    CELLAR_TRY(pool_gather(&p, err));
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
