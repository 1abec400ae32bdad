/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/fit_parts.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/cholesky.h"

enum { EFFECTS_MAX = 3000 }; /* with a curvature; see fit.c */
static const size_t CELLS_MAX = (size_t) 1 << 22;

/* ---- life cycle --------------------------------------------------------------------- */

static double level_product(uint64_t mask, const size_t *n_levels, size_t n_variables)
{
    double product = 1;
    for (size_t v = 0; v < n_variables; v++)
        product *= mask >> v & 1 ? (double) n_levels[v] : 1;
    return product;
}

/* The column of each generator's margin that a cell lies in. */
static void fitter_fill_columns(cellar_fitter *f, const uint64_t *generators,
                                const size_t *n_levels, size_t n_variables)
{
    for (size_t i = 0; i < f->n_cells; i++) {
        uint32_t base = 0;
        for (size_t g = 0; g < f->n_generators; g++) {
            size_t rest = i, stride = 1, column = 0;
            for (size_t v = n_variables; v-- > 0; rest /= n_levels[v])
                if (generators[g] >> v & 1) {
                    column += stride * (rest % n_levels[v]);
                    stride *= n_levels[v];
                }
            f->columns[i * f->n_generators + g] = base + (uint32_t) column;
            base += (uint32_t) stride;
        }
        f->n_effects = base;
    }
}

static int fitter_allocate(cellar_fitter *f)
{
    size_t n = f->n_cells, p = f->n_effects;
    double **by_cell[] = {&f->theta, &f->trial, &f->change, &f->best, &f->means, &f->data};
    double **by_effect[] = {&f->effects, &f->gradient, &f->fitted};
    for (size_t i = 0; i < sizeof by_cell / sizeof by_cell[0]; i++)
        if ((*by_cell[i] = cellar_alloc(n, sizeof(double))) == NULL)
            return 0;
    for (size_t i = 0; i < sizeof by_effect / sizeof by_effect[0]; i++)
        if ((*by_effect[i] = cellar_alloc(p, sizeof(double))) == NULL)
            return 0;
    if (p <= EFFECTS_MAX && (f->curvature = cellar_alloc(p * p, sizeof(double))) == NULL)
        return 0;
    f->used = cellar_alloc(n, sizeof *f->used);
    f->posteriors = cellar_alloc(n, sizeof *f->posteriors);
    return f->used != NULL && f->posteriors != NULL;
}

cellar_status cellar_fitter_create(const cellar_model *model, const size_t *n_levels,
                                   size_t n_variables, cellar_fitter **out, cellar_error *err)
{
    static const uint64_t constant[] = {0};
    const uint64_t *generators = model->n_generators > 0 ? model->generators : constant;
    double n_cells = level_product(~UINT64_C(0), n_levels, n_variables);
    cellar_fitter *f;

    *out = NULL;
    if (n_cells > (double) CELLS_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a model is for tables of up to %zu cells",
                           CELLS_MAX);
    f = cellar_alloc(1, sizeof *f);
    if (f == NULL)
        return cellar_fail_memory(err, "the model");
    f->n_cells = (size_t) n_cells;
    f->n_generators = model->n_generators > 0 ? model->n_generators : 1;
    f->columns = cellar_alloc(f->n_cells * f->n_generators, sizeof *f->columns);
    if (f->columns != NULL)
        fitter_fill_columns(f, generators, n_levels, n_variables);
    if (f->columns == NULL || !fitter_allocate(f)) {
        cellar_fitter_free(f);
        return cellar_fail_memory(err, "the model");
    }
    *out = f;
    return CELLAR_OK;
}

void cellar_fitter_free(cellar_fitter *f)
{
    if (f == NULL)
        return;
    cellar_free(f->columns);
    cellar_free(f->used);
    cellar_free(f->theta);
    cellar_free(f->trial);
    cellar_free(f->change);
    cellar_free(f->best);
    cellar_free(f->means);
    cellar_free(f->data);
    cellar_free(f->posteriors);
    cellar_free(f->effects);
    cellar_free(f->gradient);
    cellar_free(f->fitted);
    cellar_free(f->curvature);
    cellar_free(f);
}

const double *cellar_fitter_means(const cellar_fitter *f)
{
    return f->means;
}

const cellar_posterior *cellar_fitter_posteriors(const cellar_fitter *f)
{
    return f->posteriors;
}

int cellar_fitter_leaves_out(const cellar_fitter *f, size_t cell)
{
    return !f->used[cell];
}

size_t cellar_fitter_n_used(const cellar_fitter *f)
{
    return f->n_used;
}

/* ---- preparation ----------------------------------------------------------------------- */

cellar_status cellar_fitter_prepare(cellar_fitter *f, cellar_observation *const *observations,
                                    cellar_error *err)
{
    double *may_hold = f->fitted; /* by effect: 1 when some cell may hold somebody */
    (void) err;
    f->observations = observations;
    memset(may_hold, 0, f->n_effects * sizeof *may_hold);
    for (size_t i = 0; i < f->n_cells; i++)
        for (size_t g = 0; g < f->n_generators; g++)
            if (observations[i] != NULL && !cellar_observation_is_empty(observations[i]))
                may_hold[f->columns[i * f->n_generators + g]] = 1;
    f->n_used = 0;
    for (size_t i = 0; i < f->n_cells; i++) {
        f->used[i] = observations[i] != NULL;
        for (size_t g = 0; g < f->n_generators; g++)
            f->used[i] &= may_hold[f->columns[i * f->n_generators + g]] > 0;
        f->n_used += f->used[i];
        f->means[i] = 0;
        f->posteriors[i] = (cellar_posterior){0, 0, 0};
    }
    return CELLAR_OK;
}

void cellar_fitter_scale(cellar_fitter *f, const double *data)
{
    for (size_t g = 0; g < f->n_generators; g++) {
        double *wanted = f->gradient, *fitted = f->fitted;
        memset(wanted, 0, f->n_effects * sizeof *wanted);
        memset(fitted, 0, f->n_effects * sizeof *fitted);
        for (size_t i = 0; i < f->n_cells; i++) {
            uint32_t column = f->columns[i * f->n_generators + g];
            if (!f->used[i])
                continue;
            wanted[column] += data[i];
            fitted[column] += f->means[i];
        }
        for (size_t i = 0; i < f->n_cells; i++) {
            uint32_t column = f->columns[i * f->n_generators + g];
            double ratio;
            if (!f->used[i] || !(fitted[column] > 0))
                continue;
            ratio = fmax(wanted[column] / fitted[column], 1e-30);
            f->theta[i] += log(ratio);
            f->means[i] *= ratio;
        }
    }
}

/* ---- what the design tells ----------------------------------------------------------------- */

/* X'WX of the used cells, without a ridge. */
static void fitter_weigh(cellar_fitter *f, const double *weights)
{
    size_t p = f->n_effects;
    memset(f->curvature, 0, p * p * sizeof *f->curvature);
    for (size_t i = 0; i < f->n_cells; i++) {
        const uint32_t *columns = f->columns + i * f->n_generators;
        for (size_t g = 0; f->used[i] && g < f->n_generators; g++)
            for (size_t h = 0; h <= g; h++)
                f->curvature[columns[g] * p + columns[h]] += weights != NULL ? weights[i] : 1;
    }
}

cellar_status cellar_fitter_rank(cellar_fitter *f, size_t *rank, cellar_error *err)
{
    *rank = 0;
    if (f->curvature == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the model has too many effects (%zu) for a table with empty margins",
                           f->n_effects);
    fitter_weigh(f, NULL);
    *rank = cellar_cholesky_factor(f->curvature, f->n_effects, 1e-9);
    return CELLAR_OK;
}

/* A generalised inverse of the factored curvature, column by column. */
static void fitter_invert(const cellar_fitter *f, double *inverse)
{
    size_t p = f->n_effects;
    for (size_t c = 0; c < p; c++) {
        inverse[c * p + c] = 1;
        cellar_cholesky_solve(f->curvature, p, inverse + c * p);
    }
}

cellar_status cellar_fitter_levers(cellar_fitter *f, const double *weights, double *levers,
                                   cellar_error *err)
{
    size_t p = f->n_effects;
    double *inverse;
    memset(levers, 0, f->n_cells * sizeof *levers);
    if (f->curvature == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the model has too many effects (%zu) for standardised residuals", p);
    inverse = cellar_alloc(p * p, sizeof *inverse);
    if (inverse == NULL)
        return cellar_fail_memory(err, "the residuals");
    fitter_weigh(f, weights);
    cellar_cholesky_factor(f->curvature, p, 1e-9);
    fitter_invert(f, inverse);
    for (size_t i = 0; i < f->n_cells; i++) {
        const uint32_t *columns = f->columns + i * f->n_generators;
        double sum = 0;
        for (size_t g = 0; f->used[i] && g < f->n_generators; g++)
            for (size_t h = 0; h < f->n_generators; h++)
                sum += inverse[columns[g] * p + columns[h]];
        levers[i] = f->used[i] ? weights[i] * sum : 0;
    }
    cellar_free(inverse);
    return CELLAR_OK;
}
