/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/adjustment/adjustment.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/aggregate.h"
#include "table/schema/schema.h"

cellar_adjustment_options cellar_adjustment_options_default(void)
{
    return (cellar_adjustment_options){
        .max_cells = 5000000, .tolerance = 1e-12, .max_iterations = 5000};
}

/* 1 for one draw in two files, as in a pack with several formats. */
static int adjustment_is_same(const cellar_release *a, const cellar_release *b)
{
    const size_t n_variables = cellar_schema_n_variables(a->schema);
    const size_t n = cellar_release_n_cells(a);
    if (n != cellar_release_n_cells(b) || n_variables != cellar_schema_n_variables(b->schema) ||
        strcmp(cellar_release_mechanism(a), cellar_release_mechanism(b)) != 0 ||
        strcmp(cellar_release_ledger(a), cellar_release_ledger(b)) != 0)
        return 0;
    for (size_t v = 0; v < n_variables; v++)
        if (strcmp(cellar_schema_variable(a->schema, v), cellar_schema_variable(b->schema, v)) != 0)
            return 0;
    for (size_t i = 0; i < n; i++) {
        const cellar_released_cell one = cellar_release_cell(a, i), two = cellar_release_cell(b, i);
        if (one.index != two.index || one.released != two.released)
            return 0;
    }
    return 1;
}

/* The noise of one draw averages out with itself in no fit: taken twice it would only look so. */
static cellar_status adjustment_check_draws(const cellar_release *const *releases,
                                            size_t n_releases, cellar_error *err)
{
    for (size_t r = 1; r < n_releases; r++)
        for (size_t q = 0; q < r; q++)
            if (adjustment_is_same(releases[q], releases[r]))
                return cellar_fail(err, CELLAR_ERR_RULE,
                                   "releases %zu and %zu hold the same released values, drawn "
                                   "once: give one of them",
                                   q + 1, r + 1);
    return CELLAR_OK;
}

static cellar_status adjustment_check(const cellar_release *const *releases, size_t n_releases,
                                      const cellar_adjustment_options *options, cellar_error *err)
{
    if (n_releases == 0 || releases[0] == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a fit needs a release");
    if (!(options->tolerance > 0 && options->tolerance < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a tolerance lies between 0 and 1");
    return adjustment_check_draws(releases, n_releases, err);
}

cellar_status cellar_adjustment_allocate(cellar_adjustment *fit, cellar_error *err)
{
    fit->n = (size_t) fit->schema->n_indices;
    fit->weight = cellar_alloc(fit->n, sizeof *fit->weight);
    fit->observed = cellar_alloc(fit->n, sizeof *fit->observed);
    fit->diagonal = cellar_alloc(fit->n, sizeof *fit->diagonal);
    fit->estimate = cellar_alloc(fit->n, sizeof *fit->estimate);
    if (fit->weight == NULL || fit->observed == NULL || fit->diagonal == NULL ||
        fit->estimate == NULL)
        return cellar_fail_memory(err, "a fit");
    return CELLAR_OK;
}

/* Zero outside the unknowns: inner cells that are not impossible. */
static void adjustment_keep_unknowns(const cellar_adjustment *fit, double *values)
{
    for (size_t i = 0; i < fit->n; i++)
        if (!cellar_schema_is_interior(fit->schema, i) ||
            cellar_schema_is_structural_zero(fit->schema, i))
            values[i] = 0;
}

/* E has ones and zeros only, so the diagonal of E'WE is E'w. Impossible cells are no
 * unknowns: an observed sum of such cells alone adds nothing. */
void cellar_adjustment_make_diagonal(cellar_adjustment *fit)
{
    memcpy(fit->diagonal, fit->weight, fit->n * sizeof *fit->diagonal);
    cellar_aggregate_spread(fit->schema, fit->diagonal);
    adjustment_keep_unknowns(fit, fit->diagonal);
}

/* Solves for the estimate; `right` is scratch of n numbers. */
static cellar_status adjustment_estimate(cellar_adjustment *fit, const cellar_progress *progress,
                                         double *right, cellar_error *err)
{
    cellar_adjustment_solution solution;
    memcpy(right, fit->observed, fit->n * sizeof *right); /* these are weighted still */
    cellar_aggregate_spread(fit->schema, right);
    adjustment_keep_unknowns(fit, right);
    const cellar_status status =
        cellar_adjustment_solve(fit, right, fit->estimate, progress, &solution, err);
    if (status != CELLAR_OK)
        return status;
    fit->n_iterations = solution.n_iterations;
    fit->remainder = solution.remainder;
    for (size_t i = 0; i < fit->n; i++)
        fit->total += fit->estimate[i];
    cellar_aggregate_sum(fit->schema, fit->estimate);
    for (size_t i = 0; i < fit->n; i++)
        if (fit->weight[i] > 0)
            fit->observed[i] /= fit->weight[i];
    return CELLAR_OK;
}

cellar_status cellar_adjustment_create(const cellar_release *const *releases, size_t n_releases,
                                       const cellar_adjustment_options *options,
                                       cellar_adjustment **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_adjustment *fit = NULL;
    double *right = NULL;

    *out = NULL;
    CELLAR_TRY(adjustment_check(releases, n_releases, options, err));
    fit = cellar_alloc(1, sizeof *fit);
    if (fit == NULL)
        return cellar_fail_memory(err, "a fit");
    fit->tolerance = options->tolerance;
    fit->max_iterations = options->max_iterations;
    CELLAR_TRY(cellar_adjustment_make_schema(releases, n_releases, options, &fit->schema, err));
    CELLAR_TRY(cellar_adjustment_allocate(fit, err));
    for (size_t r = 0; r < n_releases; r++)
        CELLAR_TRY(cellar_adjustment_observe(fit, releases[r], err));
    cellar_adjustment_make_diagonal(fit);
    right = cellar_alloc(fit->n, sizeof *right);
    if (right == NULL) {
        status = cellar_fail_memory(err, "a fit");
        goto out;
    }
    CELLAR_TRY(adjustment_estimate(fit, &options->progress, right, err));
    *out = fit;
    fit = NULL;
out:
    cellar_free(right);
    cellar_adjustment_free(fit);
    return status;
}

void cellar_adjustment_free(cellar_adjustment *fit)
{
    if (fit == NULL)
        return;
    cellar_schema_free(fit->schema);
    cellar_free(fit->weight);
    cellar_free(fit->observed);
    cellar_free(fit->diagonal);
    cellar_free(fit->estimate);
    cellar_free(fit);
}

const cellar_schema *cellar_adjustment_schema(const cellar_adjustment *fit)
{
    return fit->schema;
}

double cellar_adjustment_observed(const cellar_adjustment *fit, uint64_t index)
{
    return index < fit->n && fit->weight[index] > 0 ? fit->observed[index] : NAN;
}

double cellar_adjustment_estimate(const cellar_adjustment *fit, uint64_t index)
{
    return index < fit->n ? fit->estimate[index] : NAN;
}

double cellar_adjustment_total(const cellar_adjustment *fit)
{
    return fit->total;
}

int cellar_adjustment_is_estimated(const cellar_adjustment *fit)
{
    return fit->is_estimated;
}

uint32_t cellar_adjustment_n_iterations(const cellar_adjustment *fit)
{
    return fit->n_iterations;
}

double cellar_adjustment_remainder(const cellar_adjustment *fit)
{
    return fit->remainder;
}

/* cov(e_a'x, e_b'x) = e_a' (E'WE)^-1 e_b: one solution. A combination that the releases do not
 * determine is not in the range of the equations, and the remainder stays large. */
static cellar_status adjustment_covariance(const cellar_adjustment *fit, uint64_t index,
                                           uint64_t other, double *right, double *x, double *out,
                                           cellar_error *err)
{
    cellar_adjustment_solution solution;
    right[index] = 1;
    cellar_aggregate_spread(fit->schema, right);
    adjustment_keep_unknowns(fit, right);
    for (size_t i = 0; i < fit->n; i++)
        if (right[i] != 0 && fit->diagonal[i] == 0)
            return cellar_fail(err, CELLAR_ERR_RULE, "no release covers all of this cell");
    const cellar_status status = cellar_adjustment_solve(fit, right, x, NULL, &solution, err);
    if (status != CELLAR_OK)
        return status;
    if (solution.remainder > 1e-6)
        return cellar_fail(err, CELLAR_ERR_RULE, "the releases do not determine this cell");
    cellar_aggregate_sum(fit->schema, x);
    *out = x[other];
    return CELLAR_OK;
}

cellar_status cellar_adjustment_covariance(const cellar_adjustment *fit, uint64_t index,
                                           uint64_t other, double *out, cellar_error *err)
{
    *out = NAN;
    if (index >= fit->n || other >= fit->n)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the table has no such cell");
    double *right = cellar_alloc(fit->n, sizeof *right), *x = cellar_alloc(fit->n, sizeof *x);
    const cellar_status status = right != NULL && x != NULL
                                     ? adjustment_covariance(fit, index, other, right, x, out, err)
                                     : cellar_fail_memory(err, "a covariance");
    cellar_free(right);
    cellar_free(x);
    return status;
}
