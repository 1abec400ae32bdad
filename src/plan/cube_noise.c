/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From precisions to noise that can be drawn and certified: few different mechanisms, parameters
 * that are short decimals, and never more than the budget. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mechanism/mechanism.h"
#include "plan/cube_design.h"
#include "release/guarantee/certify.h"
#include "release/protect.h"

int cellar_cube_design_is_pure(const cellar_cube_design *design)
{
    return design->plan->budget.epsilon != NULL && design->plan->budget.delta == NULL;
}

/* ---- which tables -------------------------------------------------------------------------- */

/* A table that adds less than a thousandth to every precision below it is not worth a measurement:
 * where the optimum is 0 the search ends slightly above. */
static int is_negligible(const cube_lattice *l, const double *w, const double *tau, size_t a)
{
    for (size_t k = l->start[a]; k < l->start[a + 1]; k++)
        if (w[a] / l->ratio[k] >= 0.001 * tau[l->below[k]])
            return 0;
    return 1;
}

/* The size of the noise of each table, up to a common factor: sigma, or 1 / epsilon. */
static void sizes_of(const cellar_cube_design *d, const cube_choice *choice, double *size)
{
    const cube_lattice *l = &d->cube->lattice;
    for (size_t a = 0; a < l->n; a++)
        size[a] = d->mechanism_of[a] == CUBE_MEASURED_BEFORE ||
                          is_negligible(l, choice->w, choice->tau, a)
                      ? INFINITY
                      : 1 / sqrt(choice->w[a]);
}

/* ---- few mechanisms -------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

/* At most 32 sizes: those that occur, or as many steps of equal ratio from the smallest to the
 * largest. `room` has as many numbers. Answers how many; they ascend. */
static size_t ladder_of(const double *size, size_t n, double *room,
                        double ladder[CUBE_MECHANISMS_MAX])
{
    size_t n_finite = 0, n_steps = 0;
    for (size_t a = 0; a < n; a++)
        if (isfinite(size[a]))
            room[n_finite++] = size[a];
    qsort(room, n_finite, sizeof *room, compare_doubles);
    for (size_t i = 0; i < n_finite; i++)
        if (n_steps == 0 || room[i] > room[i - 1] * 1.0001) {
            if (n_steps < CUBE_MECHANISMS_MAX)
                ladder[n_steps] = room[i];
            n_steps++;
        }
    if (n_steps <= CUBE_MECHANISMS_MAX)
        return n_steps;
    for (size_t k = 0; k < CUBE_MECHANISMS_MAX; k++)
        ladder[k] =
            room[0] * pow(room[n_finite - 1] / room[0], (double) k / (CUBE_MECHANISMS_MAX - 1));
    return CUBE_MECHANISMS_MAX;
}

/* The smallest step that is not below a size, but for rounding. */
static size_t step_for(const double *ladder, size_t n_steps, double size)
{
    size_t k = 0;
    while (k + 1 < n_steps && ladder[k] * 1.0001 < size)
        k++;
    return k;
}

/* How many tables use each step; steps that none uses are taken out. Answers how many are left. */
static size_t count_uses(const double *size, size_t n, double *ladder, size_t n_steps,
                         size_t *times)
{
    size_t kept = 0;
    for (size_t t = 0; t < n; t++)
        if (isfinite(size[t]))
            times[step_for(ladder, n_steps, size[t])]++;
    for (size_t k = 0; k < n_steps; k++)
        if (times[k] > 0) {
            ladder[kept] = ladder[k];
            times[kept++] = times[k];
        }
    return kept;
}

/* What all of it costs a unit at these sizes: rho, or epsilon. */
static double cost_of(const cellar_cube_design *d, const double *ladder, const size_t *times,
                      size_t n_steps)
{
    const plan_work *work = &d->work;
    const double records = (double) work->per_unit * (double) work->max_weight;
    double cost = 0;
    for (size_t k = 0; k < n_steps; k++)
        cost += cellar_cube_design_is_pure(d) ? (double) times[k] / ladder[k]
                                              : (double) times[k] / (2 * ladder[k] * ladder[k]);
    return (double) work->n_sides * cost *
           (cellar_cube_design_is_pure(d) ? records : records * records);
}

/* ---- mechanisms
 * ---------------------------------------------------------------------------------- */

/* Six digits, so that the noise is not smaller than asked for. */
static void spec_of(const cellar_cube_design *d, double size, char out[64])
{
    const int is_pure = cellar_cube_design_is_pure(d);
    const double value = is_pure ? 1 / size : size;
    const double step = pow(10, floor(log10(value)) - 5);
    const double rounded = is_pure ? floor(value / step) * step : ceil(value / step) * step;
    snprintf(out, 64, is_pure ? "discrete-laplace:epsilon=%.6g" : "discrete-gaussian:sigma=%.6g",
             rounded);
}

static void forget_noise(cellar_cube_design *d)
{
    for (size_t k = 0; k < d->n_mechanisms; k++)
        cellar_mechanism_free(d->mechanisms[k]);
    d->n_mechanisms = 0;
    for (size_t t = 0; t < d->cube->lattice.n; t++) {
        if (d->mechanism_of[t] == CUBE_PUBLISHED || d->mechanism_of[t] == CUBE_MEASURED_BEFORE)
            continue;
        cellar_free(d->cube->tables[t].mechanism);
        d->cube->tables[t].mechanism = NULL;
        d->cube->w[t] = 0;
        d->mechanism_of[t] = CUBE_NOT_MEASURED;
    }
    cellar_certificate_free(d->certificate);
    d->certificate = NULL;
}

static cellar_status make_mechanisms(cellar_cube_design *d, const double *ladder, size_t n_steps,
                                     cellar_error *err)
{
    for (size_t k = 0; k < n_steps; k++) {
        char spec[64];
        cellar_status status;
        spec_of(d, ladder[k], spec);
        status = cellar_mechanism_create(spec, &d->mechanisms[k], err);
        if (status != CELLAR_OK)
            return status;
        d->n_mechanisms = k + 1;
    }
    return CELLAR_OK;
}

/* The largest sigma, or 1 / epsilon, that mechanisms allow, and the exponent of the least noise:
 * a count that is changed with a probability of 2 exp(-28), about 1e-12, is published as it is. */
enum { LARGEST_SIGMA = 10000, LARGEST_SCALE = 1000000, LEAST_EXPONENT = 28 };

/* Refuses a budget whose noise cannot be drawn or is none. Sizes go with one over the root of rho,
 * or over epsilon, so that the least budget follows from this one. */
static cellar_status check_sizes(const cellar_cube_design *d, double smallest, double largest,
                                 double budget, cellar_error *err)
{
    const int is_pure = cellar_cube_design_is_pure(d);
    const double over = largest / (is_pure ? LARGEST_SCALE : LARGEST_SIGMA);
    double least = budget * (is_pure ? over : over * over), step;
    cellar_status status;
    if ((is_pure ? 1 / smallest : 1 / (2 * smallest * smallest)) > LEAST_EXPONENT) {
        status = cellar_plan_fail_at(d->plan, "budget", err,
                                     "the budget is so large that there would be no noise in "
                                     "practice, only true counts: give a smaller one");
    } else {
        if (over <= 1)
            return CELLAR_OK;
        step = pow(10, floor(log10(least)) - 2);
        least = (floor(least / step) + 1) * step;
        status = cellar_plan_fail_at(d->plan, "budget", err,
                                     "the budget is too small for this universe, its noise would "
                                     "be too large to draw: at least %s: %.3g is needed",
                                     is_pure ? "epsilon" : "rho", least);
    }
    return status == CELLAR_ERR_MEMORY ? status : CELLAR_ERR_RULE;
}

static cellar_status plan_measures(cellar_cube_design *d, const double *size, const double *ladder,
                                   size_t n_steps, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t t = 0; t < d->cube->lattice.n; t++) {
        double mean, variance;
        size_t k;
        if (!isfinite(size[t]))
            continue;
        k = step_for(ladder, n_steps, size[t]);
        d->mechanism_of[t] = (uint8_t) k;
        cellar_mechanism_mean_variance(d->mechanisms[k], 0, &mean, &variance);
        CELLAR_TRY(cellar_cube_plan_measure(
            d->cube, (uint32_t) t, cellar_mechanism_spec(d->mechanisms[k]), variance, err));
    }
    CELLAR_TRY(cellar_cube_settle(d->cube, err));
out:
    return status;
}

/* ---- the certificate
 * ------------------------------------------------------------------------------- */

/* While noise is searched for only the first delta matters. */
cellar_status cellar_cube_design_certify(const cellar_cube_design *d,
                                         const cellar_certify_part *parts, size_t n, int is_search,
                                         cellar_certificate **out, cellar_error *err)
{
    const cellar_protect_options protect = cellar_plan_protect_options(&d->work, NULL);
    cellar_release_facts facts = cellar_protection_facts(&protect, 1);
    cellar_question question;
    facts.unit = d->plan->unit.name;
    facts.delta = d->delta;
    cellar_question_init(&question, &facts);
    question.options.effort = CELLAR_CUBE_EFFORT;
    question.options.invariants = d->n_exact > 0 ? d->invariants : NULL;
    if (is_search) {
        question.options.n_epsilons = 0;
        question.options.n_deltas = 1;
    }
    for (size_t v = 0; v < d->cube->n_variables; v++)
        cellar_question_add_domains(&question, d->domains[v]);
    return cellar_certify(parts, n, &question.options, out, err);
}

/* One cell of each measured table: what a record touches. */
static cellar_status certify(cellar_cube_design *d, const size_t *times, int is_search,
                             cellar_error *err)
{
    cellar_certify_part parts[CUBE_MECHANISMS_MAX];
    for (size_t k = 0; k < d->n_mechanisms; k++)
        parts[k] = (cellar_certify_part){d->mechanisms[k], times[k]};
    return cellar_cube_design_certify(d, parts, d->n_mechanisms, is_search, &d->certificate, err);
}

cellar_status cellar_cube_design_noise(cellar_cube_design *d, const cube_choice *choice,
                                       double budget, int is_search, cellar_error *err)
{
    const size_t n = d->cube->lattice.n;
    double *size = cellar_alloc(2 * n, sizeof *size), ladder[CUBE_MECHANISMS_MAX], factor;
    size_t times[CUBE_MECHANISMS_MAX] = {0}, n_steps;
    cellar_status status = CELLAR_OK;

    if (size == NULL)
        return cellar_fail_memory(err, "the noise of a cube");
    forget_noise(d);
    sizes_of(d, choice, size);
    n_steps = ladder_of(size, n, size + n, ladder);
    n_steps = count_uses(size, n, ladder, n_steps, times);
    factor = cost_of(d, ladder, times, n_steps) / budget;
    if (!cellar_cube_design_is_pure(d))
        factor = sqrt(factor);
    for (size_t t = 0; t < n; t++)
        size[t] *= factor;
    for (size_t k = 0; k < n_steps; k++)
        ladder[k] *= factor;
    if (n_steps > 0)
        CELLAR_TRY(check_sizes(d, ladder[0], ladder[n_steps - 1], budget, err));
    CELLAR_TRY(make_mechanisms(d, ladder, n_steps, err));
    CELLAR_TRY(plan_measures(d, size, ladder, n_steps, err));
    CELLAR_TRY(certify(d, times, is_search, err));
out:
    cellar_free(size);
    return status;
}
