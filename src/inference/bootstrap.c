/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parametric bootstrap with the noise included. A replicate has its own stream of numbers, so
 * that the answer does not depend on which thread drew it. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "inference/engine.h"
#include "inference/simulate.h"
#include "release/draw/draw.h"

enum { GRAIN = 8 }; /* replicates that share a stream */

typedef struct lane {
    cellar_engine engine;
    int64_t *numbers;
} lane;

typedef struct run {
    cellar_bootstrap *asked;
    lane *lanes;
    int n_lanes;
    double *statistics; /* by replicate; NAN: the fit did not converge */
    cellar_pool *pool;
} run;

static cellar_status run_pieces(void *context, size_t first, size_t last, int lane_index,
                                cellar_error *err)
{
    run *r = context;
    lane *l = &r->lanes[lane_index];
    const cellar_noisy *noisy = r->asked->noisy;
    cellar_simulator simulator;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_simulator_init(&simulator, r->asked->seed, first / GRAIN, err));
    for (size_t b = first; b < last; b++) {
        cellar_ratio ratio;
        for (size_t i = 0; i < noisy->n_cells; i++)
            l->numbers[i] = cellar_simulate_poisson(&simulator, r->asked->means[i]);
        CELLAR_TRY(cellar_noisy_draw(noisy, &simulator, l->numbers, err));
        CELLAR_TRY(cellar_engine_run(&l->engine, l->numbers, CELLAR_STARTS, 0, &ratio, err));
        r->statistics[b] = ratio.inner.converged && ratio.outer.converged ? ratio.statistic : NAN;
    }
    if (lane_index == 0 && r->asked->progress.report != NULL &&
        r->asked->progress.report(r->asked->progress.context, "bootstrap",
                                  (double) last / (double) r->asked->n_replicates) != 0)
        status = cellar_fail(err, CELLAR_ERR_CANCELLED, "cancelled");
out:
    cellar_simulator_clear(&simulator);
    cellar_draw_leave(lane_index);
    return status;
}

static cellar_status run_prepare(run *r, cellar_error *err)
{
    const cellar_bootstrap *asked = r->asked;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_pool_create(asked->n_threads, &r->pool, err));
    r->lanes = cellar_alloc((size_t) cellar_pool_n_lanes(r->pool), sizeof *r->lanes);
    r->statistics = cellar_alloc(asked->n_replicates, sizeof *r->statistics);
    if (r->lanes == NULL || r->statistics == NULL)
        return cellar_fail_memory(err, "the bootstrap");
    for (; r->n_lanes < cellar_pool_n_lanes(r->pool); r->n_lanes++) {
        lane *l = &r->lanes[r->n_lanes];
        l->numbers = cellar_alloc(asked->noisy->n_cells, sizeof *l->numbers);
        if (l->numbers == NULL)
            return cellar_fail_memory(err, "the bootstrap");
        status = cellar_engine_init(&l->engine, asked->noisy, &asked->noisy->channel, asked->inner,
                                    asked->outer, err);
        if (status != CELLAR_OK) {
            cellar_engine_clear(&l->engine);
            cellar_free(l->numbers);
            break;
        }
    }
out:
    return status;
}

static void run_clear(run *r)
{
    for (int i = 0; i < r->n_lanes; i++) {
        cellar_engine_clear(&r->lanes[i].engine);
        cellar_free(r->lanes[i].numbers);
    }
    cellar_free(r->lanes);
    cellar_free(r->statistics);
    cellar_pool_free(r->pool);
}

cellar_status cellar_bootstrap_run(cellar_bootstrap *asked, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    run r = {.asked = asked};
    size_t n_above = 0;

    asked->n_failed = 0;
    if (asked->n_replicates == 0 || asked->n_replicates > 100000000)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a bootstrap has 1 to 100000000 replicates");
    CELLAR_TRY(run_prepare(&r, err));
    CELLAR_TRY(cellar_pool_for(r.pool, (size_t) asked->n_replicates, GRAIN, run_pieces, &r, err));
    for (size_t b = 0; b < asked->n_replicates; b++) {
        asked->n_failed += isnan(r.statistics[b]) != 0;
        /* A tie counts as above; a fit that failed does too, which never helps to reject. */
        n_above += !(r.statistics[b] < asked->observed * (1 - 1e-9) - 1e-9);
    }
    asked->p_value = (double) (n_above + 1) / (double) (asked->n_replicates + 1);
out:
    run_clear(&r);
    return status;
}
