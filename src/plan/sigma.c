/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gaussian noise for a budget of epsilon and delta: the tables' shares of rho are those of the
 * split, so that the sigmas have known ratios, and the smallest common factor is taken whose joint
 * certificate keeps the budget. */
#include "plan/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "math/rational.h"
#include "release/guarantee/calibrate.h"

enum { SIGMA_MAX = 10000 }; /* that the mechanisms allow */

typedef struct sigma_search {
    plan_work trial; /* the plan's, with mechanisms of its own */
    double *ratios;  /* of each table's sigma to the smallest */
} sigma_search;

/* A table whose cells cost the share x of rho has a sigma in proportion to 1/sqrt(x). */
static void find_ratios(const plan_work *work, double *ratios)
{
    double largest = 0;
    fmpq_t size;
    fmpq_init(size);
    for (size_t t = 0; t < work->n; t++) {
        cellar_plan_relative_size(work, &work->pieces[t], size);
        ratios[t] = cellar_rational_double(size);
        largest = fmax(largest, ratios[t]);
    }
    fmpq_clear(size);
    for (size_t t = 0; t < work->n; t++)
        ratios[t] = sqrt(largest / ratios[t]);
}

/* In the Euclidean norm, for noise of sigma times the table's ratio. */
static double find_sensitivity(const plan_work *work, const double *ratios)
{
    double sum = 0;
    for (size_t t = 0; t < work->n; t++)
        sum += (double) work->pieces[t].d / (ratios[t] * ratios[t]);
    return sqrt((double) work->n_sides * sum) * (double) work->per_unit * (double) work->max_weight;
}

/* Six digits, rounded up; the certificate is that of the decimal. */
static double round_up(double sigma)
{
    const double step = pow(10, floor(log10(sigma)) - 5);
    return ceil(sigma / step * (1 - 1e-12)) * step;
}

static char *make_spec(const sigma_search *search, size_t t, const char *sigma)
{
    char text[CELLAR_SIGMA_TEXT];
    snprintf(text, sizeof text, "%s", sigma);
    if (search->ratios[t] > 1)
        snprintf(text, sizeof text, "%.6g",
                 fmin(round_up(strtod(sigma, NULL) * search->ratios[t]), SIGMA_MAX));
    return cellar_plan_spec_with(search->trial.pieces[t].table->mechanism, "sigma", text);
}

static void forget_mechanisms(plan_work *trial)
{
    for (size_t t = 0; t < trial->n; t++) {
        cellar_mechanism_free(trial->pieces[t].mechanism);
        trial->pieces[t].mechanism = NULL;
    }
}

static cellar_status try_sigma(void *context, const char *sigma, cellar_error *err)
{
    sigma_search *search = context;
    plan_work *trial = &search->trial;
    const plan_budget *budget = &trial->plan->budget;
    cellar_certificate *certificate = NULL;
    cellar_status status = CELLAR_OK;
    for (size_t t = 0; t < trial->n && status == CELLAR_OK; t++) {
        char *spec = make_spec(search, t, sigma);
        status = spec != NULL ? cellar_mechanism_create(spec, &trial->pieces[t].mechanism, err)
                              : cellar_fail_memory(err, "a mechanism");
        cellar_free(spec);
    }
    if (status == CELLAR_OK)
        status = cellar_plan_certify_delta(trial, budget->delta, &certificate, err);
    if (status == CELLAR_OK)
        status = cellar_calibrate_check(certificate, budget->epsilon, err);
    cellar_certificate_free(certificate);
    forget_mechanisms(trial);
    return status;
}

cellar_status cellar_plan_find_sigmas(const plan_work *work, char **specs, cellar_error *err)
{
    const plan_budget *budget = &work->plan->budget;
    sigma_search search = {.trial = *work};
    char sigma[CELLAR_SIGMA_TEXT];
    cellar_status status = CELLAR_OK;
    search.ratios = cellar_alloc(work->n, sizeof *search.ratios);
    search.trial.pieces = cellar_alloc(work->n, sizeof *search.trial.pieces);
    if (search.ratios == NULL || search.trial.pieces == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a budget"));
    memcpy(search.trial.pieces, work->pieces, work->n * sizeof *work->pieces);
    find_ratios(work, search.ratios);
    status = cellar_calibrate_sigma(find_sensitivity(work, search.ratios), budget->epsilon,
                                    budget->delta, try_sigma, &search, sigma, err);
    if (status == CELLAR_ERR_RULE)
        CELLAR_TRY(cellar_plan_fail_at(work->plan, "budget", err,
                                       "no sigma up to %d keeps epsilon %.40s at delta %.40s for "
                                       "all tables together; allow more or release fewer margins",
                                       (int) SIGMA_MAX, budget->epsilon, budget->delta));
    CELLAR_TRY(status);
    for (size_t t = 0; t < work->n; t++) {
        specs[t] = make_spec(&search, t, sigma);
        if (specs[t] == NULL)
            CELLAR_TRY(cellar_fail_memory(err, "a mechanism"));
    }
out:
    cellar_free(search.trial.pieces);
    cellar_free(search.ratios);
    return status;
}
