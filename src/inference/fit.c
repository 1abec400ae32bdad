/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Newton's method on ln(mean), guarded.
 *
 * The parameters are the effects of the generators' margins, more than needed: a ridge of 1e-9 of
 * the diagonal picks one of the many equal solutions, and no reference category can be an empty
 * one. With theta = ln mean, gradient and curvature of a cell are E[a|x] - mean and
 * Var[a|x] - mean (likelihood.h). The likelihood need not be concave in theta: a cell that bends
 * the wrong way gets the weight of complete data, as in EM, so that every direction climbs. A line
 * search takes what climbs; where nothing does, an EM step (E[a|x], then proportional fitting of
 * its margins) cannot fall. */
#include "inference/fit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/fit_parts.h"
#include "math/cholesky.h"

/* Dense curvatures up to this many effects; larger models climb by EM alone. */
enum { EFFECTS_MAX = 3000, ITERATIONS_MAX = 500, EM_MAX = 20000, HALVINGS_MAX = 14 };
static const double RIDGE = 1e-9, LONGEST_STEP = 4, CLOSE_ENOUGH = 1e-10;

/* ---- where it stands -------------------------------------------------------------- */

/* All cells at their theta. */
static cellar_status fit_evaluate(cellar_fitter *f, const double *theta, double *log_likelihood,
                                  cellar_error *err)
{
    double sum = 0;
    for (size_t i = 0; i < f->n_cells; i++) {
        cellar_status status;
        if (!f->used[i])
            continue;
        f->means[i] = exp(theta[i]);
        status = cellar_observation_at(f->observations[i], f->means[i], &f->posteriors[i], err);
        if (status != CELLAR_OK)
            return status;
        sum += f->posteriors[i].log_likelihood;
    }
    *log_likelihood = sum;
    return CELLAR_OK;
}

/* The effects' gradient, and X'WX with its ridge. `guarded` gives cells that bend the wrong way the
 * weight of complete data. */
static void fit_differentiate(cellar_fitter *f, int guarded)
{
    size_t p = f->n_effects, n_generators = f->n_generators;
    memset(f->gradient, 0, p * sizeof *f->gradient);
    memset(f->curvature, 0, p * p * sizeof *f->curvature);
    for (size_t i = 0; i < f->n_cells; i++) {
        const uint32_t *columns = f->columns + i * n_generators;
        double mean, weight, score;
        if (!f->used[i])
            continue;
        mean = f->means[i];
        score = f->posteriors[i].mean - mean;
        weight = mean - f->posteriors[i].variance;
        if (guarded && weight < 1e-3 * mean)
            weight = mean;
        for (size_t g = 0; g < n_generators; g++) {
            f->gradient[columns[g]] += score;
            for (size_t h = 0; h <= g; h++) /* later generators have larger columns */
                f->curvature[columns[g] * p + columns[h]] += weight;
        }
    }
    for (size_t c = 0; c < p; c++)
        f->curvature[c * p + c] += RIDGE * fabs(f->curvature[c * p + c]);
}

/* The change of every theta for a change of the effects. */
static double fit_spread(const cellar_fitter *f, const double *effects, double *change)
{
    double largest = 0;
    for (size_t i = 0; i < f->n_cells; i++) {
        const uint32_t *columns = f->columns + i * f->n_generators;
        double sum = 0;
        for (size_t g = 0; f->used[i] && g < f->n_generators; g++)
            sum += effects[columns[g]];
        change[i] = sum;
        largest = fmax(largest, fabs(sum));
    }
    return largest;
}

/* ---- one step ----------------------------------------------------------------------- */

/* Newton's direction; answers what it promises, gradient'direction. */
static double fit_direct(cellar_fitter *f)
{
    double promise = 0, largest;
    fit_differentiate(f, 0);
    if (cellar_cholesky_factor(f->curvature, f->n_effects, 1e-13) < f->n_effects) {
        fit_differentiate(f, 1);
        cellar_cholesky_factor(f->curvature, f->n_effects, 1e-13);
    }
    memcpy(f->effects, f->gradient, f->n_effects * sizeof *f->effects);
    cellar_cholesky_solve(f->curvature, f->n_effects, f->effects);
    for (size_t c = 0; c < f->n_effects; c++)
        promise += f->gradient[c] * f->effects[c];
    largest = fit_spread(f, f->effects, f->change);
    if (largest > LONGEST_STEP)
        for (size_t i = 0; i < f->n_cells; i++)
            f->change[i] *= LONGEST_STEP / largest;
    return promise;
}

/* Goes along f->change as far as it climbs. Answers 0 when it does not. */
static cellar_status fit_search(cellar_fitter *f, double promise, double *log_likelihood,
                                int *climbed, cellar_error *err)
{
    double length = 1, slack = 1e-13 * (1 + fabs(*log_likelihood)), reached;
    for (int h = 0; h < HALVINGS_MAX; h++) {
        cellar_status status;
        length = h > 0 ? length / 2 : 1;
        for (size_t i = 0; i < f->n_cells; i++)
            f->trial[i] = f->theta[i] + length * f->change[i];
        status = fit_evaluate(f, f->trial, &reached, err);
        if (status != CELLAR_OK)
            return status;
        if (reached >= *log_likelihood + 1e-4 * length * promise - slack) {
            double *swap = f->theta;
            f->theta = f->trial;
            f->trial = swap;
            *log_likelihood = reached;
            *climbed = 1;
            return CELLAR_OK;
        }
    }
    *climbed = 0;
    return fit_evaluate(f, f->theta, &reached, err); /* back where it was */
}

/* An EM step whose M-step is a cycle of proportional fitting: it raises the expected complete
 * likelihood, which is enough. */
static cellar_status fit_em(cellar_fitter *f, double *log_likelihood, cellar_error *err)
{
    for (size_t i = 0; i < f->n_cells; i++)
        f->change[i] = f->used[i] ? f->posteriors[i].mean : 0;
    cellar_fitter_scale(f, f->change);
    return fit_evaluate(f, f->theta, log_likelihood, err);
}

/* ---- the climb ------------------------------------------------------------------------ */

static cellar_status fit_climb_newton(cellar_fitter *f, cellar_maximum *fit, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (int n = 0; n < ITERATIONS_MAX && status == CELLAR_OK; n++) {
        double promise = fit_direct(f), before = fit->log_likelihood;
        int climbed = 0;
        fit->n_iterations++;
        status = fit_search(f, promise, &fit->log_likelihood, &climbed, err);
        if (status == CELLAR_OK && promise < CLOSE_ENOUGH) {
            fit->converged = 1;
            break;
        }
        if (status == CELLAR_OK && !climbed) {
            status = fit_em(f, &fit->log_likelihood, err);
            if (fit->log_likelihood - before < 1e-12 * (1 + fabs(before)) && promise < 1e-6) {
                fit->converged = 1;
                break;
            }
        }
    }
    return status;
}

static cellar_status fit_climb_em(cellar_fitter *f, cellar_maximum *fit, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double gain = INFINITY, rate = 0;
    for (int n = 0; n < EM_MAX && status == CELLAR_OK; n++) {
        double before = fit->log_likelihood, last = gain;
        fit->n_iterations++;
        status = fit_em(f, &fit->log_likelihood, err);
        gain = fit->log_likelihood - before;
        rate = fmax(0, fmin(gain / last, 0.9999)); /* what is left, were the gains geometric */
        if (gain / (1 - rate) < CLOSE_ENOUGH) {
            fit->converged = 1;
            break;
        }
    }
    return status;
}

/* Starts where the margins are those of `data` (positive), and climbs. */
static cellar_status fit_from(cellar_fitter *f, double *data, cellar_maximum *fit,
                              cellar_error *err)
{
    cellar_status status;
    *fit = (cellar_maximum){0};
    for (size_t i = 0; i < f->n_cells; i++)
        f->theta[i] = f->offset != NULL ? f->offset[i] : 0;
    for (size_t i = 0; i < f->n_cells; i++)
        f->means[i] = f->used[i] ? exp(f->theta[i]) : 0;
    for (int cycle = 0; cycle < 3; cycle++)
        cellar_fitter_scale(f, data);
    status = fit_evaluate(f, f->theta, &fit->log_likelihood, err);
    if (status != CELLAR_OK)
        return status;
    return f->n_effects <= EFFECTS_MAX ? fit_climb_newton(f, fit, err) : fit_climb_em(f, fit, err);
}

/* Numbers that start the climb: the released ones, or for the second start all the same. */
static void fit_data(const cellar_fitter *f, int start, double *data)
{
    double total = 0;
    for (size_t i = 0; i < f->n_cells; i++) {
        double x = f->used[i] ? (double) cellar_observation_released(f->observations[i]) : 0;
        data[i] = f->used[i] ? fmax(x, 0) + 0.5 : 0;
        total += data[i];
    }
    for (size_t i = 0; start > 0 && i < f->n_cells; i++)
        data[i] = f->used[i] ? total / (double) f->n_used : 0;
}

cellar_status cellar_fitter_run(cellar_fitter *f, cellar_observation *const *observations,
                                const double *offset, int n_starts, cellar_maximum *out,
                                cellar_error *err)
{
    cellar_status status = cellar_fitter_prepare(f, observations, err);
    cellar_maximum other = {0};
    f->offset = offset;
    *out = (cellar_maximum){0};
    if (status != CELLAR_OK)
        return status;
    if (f->n_used == 0) {
        *out = (cellar_maximum){.converged = 1, .n_starts = 1, .n_agreeing = 1};
        return CELLAR_OK;
    }
    fit_data(f, 0, f->data);
    status = fit_from(f, f->data, out, err);
    out->n_starts = out->n_agreeing = 1;
    if (status != CELLAR_OK || n_starts < 2)
        return status;
    memcpy(f->best, f->theta, f->n_cells * sizeof *f->best);
    fit_data(f, 1, f->data);
    status = fit_from(f, f->data, &other, err);
    if (status != CELLAR_OK)
        return status;
    other.n_starts = 2;
    other.n_agreeing = 1 + (fabs(other.log_likelihood - out->log_likelihood) <
                            1e-7 * (1 + fabs(out->log_likelihood)));
    other.n_iterations += out->n_iterations;
    if (other.log_likelihood > out->log_likelihood + 1e-9) {
        *out = other;
        return CELLAR_OK;
    }
    out->n_starts = 2;
    out->n_agreeing = other.n_agreeing;
    out->n_iterations = other.n_iterations;
    memcpy(f->theta, f->best, f->n_cells * sizeof *f->theta);
    return fit_evaluate(f, f->theta, &out->log_likelihood, err);
}
