/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/exposure/exposure_minimum.h"

/* Theorems 2 and 3 are one problem. In Theorem 2 a threshold t_j costs |V_j| t_j more, except for
 * j*. In Theorem 3 no threshold costs anything, but there is one more, c, which costs c and belongs
 * to a column without exposure: one share, 1. */

enum { DEFAULT_NODES = 100000 };

/* Beyond this an excess over the minimum is told; below, it is rounding. */
static const double bound_rounding = 1e-12;

typedef struct bound_problem {
    minimum_column columns[MINIMUM_MAX_COLUMNS];
    double *numbers; /* what the columns point to */
    size_t n;
    double log_t;
    uint64_t max_nodes;
} bound_problem;

static const double one_share = 1, one_log = 0, one_below = 0;

/* ---- columns ---------------------------------------------------------------- */

static cellar_status problem_make(bound_problem *problem,
                                  const cellar_exposure_curve *const *curves, size_t n,
                                  cellar_error *err)
{
    size_t n_steps = 0, at = 0;
    for (size_t j = 0; j < n; j++)
        n_steps += curves[j]->n_steps;
    problem->numbers = cellar_alloc(3 * n_steps, sizeof *problem->numbers);
    if (problem->numbers == NULL)
        return cellar_fail_memory(err, "exposure bounds");
    for (size_t j = 0; j < n; j++) {
        size_t steps = curves[j]->n_steps;
        double *share = problem->numbers + at, *log_share = share + steps,
               *below = log_share + steps;
        for (size_t i = 0; i < steps; i++) {
            share[i] = curve_share(curves[j], i);
            log_share[i] = log(share[i]);
            below[i] = (double) curves[j]->steps[i].below / (double) curves[j]->total;
        }
        problem->columns[j] = (minimum_column){steps, share, log_share, below, 0};
        at += 3 * steps;
    }
    problem->columns[n] = (minimum_column){1, &one_share, &one_log, &one_below, 1};
    problem->n = n;
    return CELLAR_OK;
}

static double column_support(const cellar_exposure_curve *curve, cellar_exposure_support support)
{
    return support == CELLAR_SUPPORT_OCCURRING ? (double) curve->n_cells : curve->n_possible;
}

/* ---- the theorems ----------------------------------------------------------- */

static cellar_exposure_bound bound_vacuous(int theorem)
{
    cellar_exposure_bound bound = {.theorem = theorem, .value = 1, .c = NAN};
    for (size_t j = 0; j < CELLAR_MAX_VARIABLES; j++)
        bound.thresholds[j] = NAN;
    return bound;
}

/* Takes over a solution that is better than the bound so far. */
static void bound_improve(cellar_exposure_bound *bound, const minimum_solution *solution, size_t n)
{
    if (!(solution->value < bound->value))
        return;
    bound->value = solution->value;
    for (size_t j = 0; j < n; j++)
        bound->thresholds[j] = solution->thresholds[j];
}

/* `lower` is below every cost that the searches considered or left out. */
static void bound_finish(cellar_exposure_bound *bound, double lower)
{
    double gap = bound->value - lower;
    bound->gap = gap > bound_rounding ? gap : 0;
}

static cellar_status bound_theorem_3(bound_problem *problem, cellar_exposure_bound *bound,
                                     cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    minimum_solution solution;

    for (size_t j = 0; j < problem->n; j++)
        problem->columns[j].weight = 0;
    CELLAR_TRY(cellar_exposure_minimise(problem->columns, problem->n + 1, problem->log_t,
                                        bound->value, problem->max_nodes, &solution, err));
    bound->n_nodes = solution.n_nodes;
    if (solution.value < bound->value)
        bound->c = solution.thresholds[problem->n];
    bound_improve(bound, &solution, problem->n);
    bound_finish(bound, solution.lower);
out:
    return status;
}

static cellar_status bound_theorem_2(bound_problem *problem, const double *supports,
                                     cellar_exposure_bound *bound, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double lower = INFINITY;

    for (size_t free_column = 0; free_column < problem->n; free_column++) {
        minimum_solution solution;
        for (size_t j = 0; j < problem->n; j++)
            problem->columns[j].weight = j == free_column ? 0 : supports[j];
        CELLAR_TRY(cellar_exposure_minimise(problem->columns, problem->n, problem->log_t,
                                            bound->value, problem->max_nodes, &solution, err));
        bound->n_nodes += solution.n_nodes;
        lower = fmin(lower, solution.lower);
        if (solution.value < bound->value)
            bound->free_column = free_column;
        bound_improve(bound, &solution, problem->n);
    }
    bound_finish(bound, lower);
out:
    return status;
}

cellar_exposure_bound_options cellar_exposure_bound_options_default(void)
{
    return (cellar_exposure_bound_options){.max_nodes = DEFAULT_NODES};
}

cellar_status cellar_exposure_bounds(const cellar_exposure_curve *const *columns, size_t n,
                                     double threshold, const cellar_exposure_bound_options *options,
                                     cellar_exposure_bound bounds[2], cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_exposure_bound_options plain = cellar_exposure_bound_options_default();
    bound_problem problem = {.log_t = log(threshold)};
    cellar_exposure_bound two = bound_vacuous(2), three = bound_vacuous(3);
    double supports[CELLAR_MAX_VARIABLES];

    if (options == NULL)
        options = &plain;
    if (n == 0 || n > CELLAR_MAX_VARIABLES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a bound needs 1 to %d columns, not %zu",
                           CELLAR_MAX_VARIABLES, n);
    if (!(threshold > 0 && threshold <= 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a threshold lies above 0 and up to 1, not %g",
                           threshold);
    problem.max_nodes = options->max_nodes > 0 ? options->max_nodes : DEFAULT_NODES;
    CELLAR_TRY(problem_make(&problem, columns, n, err));
    for (size_t j = 0; j < n; j++)
        supports[j] = column_support(columns[j], options->support);
    CELLAR_TRY(bound_theorem_2(&problem, supports, &two, err));
    CELLAR_TRY(bound_theorem_3(&problem, &three, err));
    bounds[0] = two.value <= three.value ? two : three;
    bounds[1] = two.value <= three.value ? three : two;
out:
    cellar_free(problem.numbers);
    return status;
}

double cellar_exposure_lower_bound(const cellar_exposure_curve *const *columns, size_t n,
                                   double threshold)
{
    double largest = 0;
    for (size_t j = 0; j < n; j++) {
        double cutoff = ceil(threshold * (double) columns[j]->total * (1 - 1e-15));
        if (cutoff > 0)
            largest =
                fmax(largest, cellar_exposure_value(columns[j], cutoff < 0x1p64 ? (uint64_t) cutoff
                                                                                : UINT64_MAX));
    }
    return largest;
}

cellar_status cellar_exposure_within(const cellar_exposure_curve *const *columns, size_t n,
                                     double threshold, double *value, cellar_error *err)
{
    cellar_exposure_bound bounds[2];
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_exposure_bounds(columns, n, threshold, NULL, bounds, err));
    *value = fmax(*value, cellar_exposure_lower_bound(columns, n, threshold));
    *value = fmin(*value, bounds[0].value);
out:
    return status;
}
