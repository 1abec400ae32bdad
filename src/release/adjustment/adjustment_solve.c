/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Solving the equations of a fit.
 *
 * E'WE is never formed: with a grand total in it, it is dense. Multiplying with it costs one sum
 * and one spread over the cube, and conjugate gradients need few products: a table of t variables
 * whose noise has one variance in each margin has at most 2^t different eigenvalues (one for each
 * choice of "mean" or "contrast" in each variable), and conjugate gradients end after as many
 * steps. (Hestenes and Stiefel 1952, with the diagonal as preconditioner.) */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/aggregate.h"
#include "release/adjustment/adjustment.h"

typedef struct adjustment_solver {
    const cellar_adjustment *fit;
    double *residual, *direction, *product;
} adjustment_solver;

static cellar_status adjustment_solver_init(adjustment_solver *solver, const cellar_adjustment *fit,
                                            cellar_error *err)
{
    *solver = (adjustment_solver){.fit = fit};
    solver->residual = cellar_alloc(fit->n, sizeof *solver->residual);
    solver->direction = cellar_alloc(fit->n, sizeof *solver->direction);
    solver->product = cellar_alloc(fit->n, sizeof *solver->product);
    if (solver->residual == NULL || solver->direction == NULL || solver->product == NULL)
        return cellar_fail_memory(err, "a fit");
    return CELLAR_OK;
}

static void adjustment_solver_clear(adjustment_solver *solver)
{
    cellar_free(solver->residual);
    cellar_free(solver->direction);
    cellar_free(solver->product);
}

/* product = E'WE direction, on the unknowns. */
static void adjustment_solver_multiply(adjustment_solver *solver)
{
    const cellar_adjustment *fit = solver->fit;
    double *out = solver->product;
    memcpy(out, solver->direction, fit->n * sizeof *out);
    cellar_aggregate_sum(fit->schema, out);
    for (size_t i = 0; i < fit->n; i++)
        out[i] *= fit->weight[i];
    cellar_aggregate_spread(fit->schema, out);
    for (size_t i = 0; i < fit->n; i++)
        if (fit->diagonal[i] == 0)
            out[i] = 0;
}

static double adjustment_dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The residual's squared length in the metric of the inverse diagonal. */
static double adjustment_solver_length(const adjustment_solver *solver)
{
    const cellar_adjustment *fit = solver->fit;
    double sum = 0;
    for (size_t i = 0; i < fit->n; i++)
        if (fit->diagonal[i] > 0)
            sum += solver->residual[i] * solver->residual[i] / fit->diagonal[i];
    return sum;
}

/* direction = preconditioned residual + keep * direction. */
static void adjustment_solver_turn(adjustment_solver *solver, double keep)
{
    const cellar_adjustment *fit = solver->fit;
    for (size_t i = 0; i < fit->n; i++)
        if (fit->diagonal[i] > 0)
            solver->direction[i] =
                solver->residual[i] / fit->diagonal[i] + keep * solver->direction[i];
}

static void adjustment_solver_step(adjustment_solver *solver, double step, double *x)
{
    for (size_t i = 0; i < solver->fit->n; i++) {
        x[i] += step * solver->direction[i];
        solver->residual[i] -= step * solver->product[i];
    }
}

static cellar_status adjustment_report(const cellar_progress *progress, double remainder,
                                       double tolerance, cellar_error *err)
{
    if (progress == NULL || progress->report == NULL)
        return CELLAR_OK;
    const double done = log(fmin(remainder, 1)) / log(tolerance);
    if (progress->report(progress->context, "fitting", fmin(done, 1)) != 0)
        return cellar_fail(err, CELLAR_ERR_CANCELLED, "the fit was cancelled");
    return CELLAR_OK;
}

cellar_status cellar_adjustment_solve(const cellar_adjustment *fit, const double *right, double *x,
                                      const cellar_progress *progress,
                                      cellar_adjustment_solution *out, cellar_error *err)
{
    adjustment_solver solver;
    cellar_status status = adjustment_solver_init(&solver, fit, err);
    *out = (cellar_adjustment_solution){0};
    if (status != CELLAR_OK)
        goto out;
    memcpy(solver.residual, right, fit->n * sizeof *right);
    const double start = adjustment_solver_length(&solver);
    double length = start;
    adjustment_solver_turn(&solver, 0);
    while (length > start * fit->tolerance * fit->tolerance &&
           out->n_iterations < fit->max_iterations) {
        adjustment_solver_multiply(&solver);
        const double curvature = adjustment_dot(solver.direction, solver.product, fit->n);
        if (!(curvature > 0))
            break; /* nothing is left but rounding */
        adjustment_solver_step(&solver, length / curvature, x);
        const double shorter = adjustment_solver_length(&solver);
        adjustment_solver_turn(&solver, shorter / length);
        length = shorter;
        out->n_iterations++;
        CELLAR_TRY(adjustment_report(progress, sqrt(length / start), fit->tolerance, err));
    }
    out->remainder = start > 0 ? sqrt(length / start) : 0;
out:
    adjustment_solver_clear(&solver);
    return status;
}
