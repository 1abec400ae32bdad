/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/engine.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

cellar_status cellar_engine_init(cellar_engine *engine, const cellar_noisy *noisy,
                                 const cellar_channel *channel, const cellar_model *inner,
                                 const cellar_model *outer, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *engine = (cellar_engine){.noisy = noisy, .inner_model = inner, .outer_model = outer};
    CELLAR_TRY(cellar_likelihood_create(channel, &engine->likelihood, err));
    CELLAR_TRY(
        cellar_fitter_create(inner, noisy->n_levels, noisy->n_variables, &engine->inner, err));
    if (outer != NULL)
        CELLAR_TRY(
            cellar_fitter_create(outer, noisy->n_levels, noisy->n_variables, &engine->outer, err));
    engine->observations = cellar_alloc(noisy->n_cells, sizeof(cellar_observation *));
    if (engine->observations == NULL)
        status = cellar_fail_memory(err, "the test");
out:
    return status;
}

void cellar_engine_clear(cellar_engine *engine)
{
    cellar_fitter_free(engine->inner);
    cellar_fitter_free(engine->outer);
    cellar_free(engine->observations);
    cellar_likelihood_free(engine->likelihood);
    *engine = (cellar_engine){.noisy = NULL};
}

/* Every cell with a mean of its own. */
static cellar_status engine_saturate(const cellar_engine *engine, double *log_likelihood,
                                     cellar_error *err)
{
    *log_likelihood = 0;
    for (size_t i = 0; i < engine->noisy->n_cells; i++) {
        cellar_peak peak;
        cellar_status status;
        if (engine->observations[i] == NULL)
            continue;
        status = cellar_observation_peak(engine->observations[i], &peak, err);
        if (status != CELLAR_OK)
            return status;
        *log_likelihood += peak.log_likelihood;
    }
    return CELLAR_OK;
}

/* A model's likelihood, with the cells that it leaves out at a mean of zero. */
static cellar_status engine_fit(const cellar_engine *engine, cellar_fitter *fitter, int n_starts,
                                cellar_maximum *fit, cellar_error *err)
{
    cellar_status status =
        cellar_fitter_run(fitter, engine->observations, NULL, n_starts, fit, err);
    for (size_t i = 0; i < engine->noisy->n_cells && status == CELLAR_OK; i++) {
        cellar_posterior p;
        if (engine->observations[i] == NULL || !cellar_fitter_leaves_out(fitter, i))
            continue;
        status = cellar_observation_at(engine->observations[i], 0, &p, err);
        fit->log_likelihood += p.log_likelihood;
    }
    return status;
}

/* Cells less parameters, on the cells that are used. */
static cellar_status engine_df(const cellar_engine *engine, cellar_fitter *fitter,
                               const cellar_model *model, double *df, cellar_error *err)
{
    size_t n_used = cellar_fitter_n_used(fitter), rank;
    const cellar_noisy *noisy = engine->noisy;
    cellar_status status;
    if (n_used == noisy->n_cells) {
        *df =
            (double) n_used - cellar_model_n_parameters(model, noisy->n_levels, noisy->n_variables);
        return CELLAR_OK;
    }
    status = cellar_fitter_rank(fitter, &rank, err);
    *df = (double) n_used - (double) rank;
    return status;
}

cellar_status cellar_engine_run(cellar_engine *engine, const int64_t *numbers, int n_starts,
                                int with_df, cellar_ratio *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double outer_df = 0;
    *out = (cellar_ratio){.df = NAN};
    CELLAR_TRY(cellar_noisy_observe(engine->noisy, numbers, engine->likelihood,
                                    engine->observations, err));
    CELLAR_TRY(engine_fit(engine, engine->inner, n_starts, &out->inner, err));
    if (engine->outer != NULL)
        CELLAR_TRY(engine_fit(engine, engine->outer, n_starts, &out->outer, err));
    else {
        out->outer = (cellar_maximum){.converged = 1, .n_starts = n_starts, .n_agreeing = n_starts};
        CELLAR_TRY(engine_saturate(engine, &out->outer.log_likelihood, err));
    }
    out->statistic = fmax(0, 2 * (out->outer.log_likelihood - out->inner.log_likelihood));
    if (with_df) {
        CELLAR_TRY(engine_df(engine, engine->inner, engine->inner_model, &out->df, err));
        if (engine->outer != NULL)
            CELLAR_TRY(engine_df(engine, engine->outer, engine->outer_model, &outer_df, err));
        out->df -= outer_df;
    }
out:
    return status;
}
