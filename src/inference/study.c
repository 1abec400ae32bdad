/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/study.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "inference/chi_square.h"
#include "inference/engine.h"
#include "inference/simulate.h"
#include "release/draw/draw.h"

enum { GRAIN = 4, N_TESTS = 3 }; /* tables that share a stream; original, naive, aware */

/* One test of one table. */
typedef struct verdict {
    double statistic, p_value;
} verdict;

typedef struct lane {
    cellar_engine plain, aware;
    int64_t *counts, *numbers, *replicate;
    double *means;
} lane;

typedef struct run {
    const cellar_study_spec *spec;
    cellar_noisy *noisy; /* the shape and the channel */
    cellar_mechanism *identity;
    cellar_channel plain;
    cellar_model model;
    uint64_t generators[2];
    cellar_pool *pool;
    lane *lanes;
    int n_lanes;
    verdict *verdicts; /* N_TESTS by table */
    double *means;     /* of all tables; NULL: each has its own */
    unsigned char *failed;
} run;

cellar_study_spec cellar_study_spec_default(void)
{
    return (cellar_study_spec){.n_rows = 10,
                               .n_columns = 10,
                               .eta = 4,
                               .spread = 0.5,
                               .n_tables = 1000,
                               .level = 0.05,
                               .n_replicates = 199,
                               .seed = 1};
}

/* ---- one table ----------------------------------------------------------------------- */

static double draw_effect(cellar_simulator *simulator, double spread)
{
    return spread * (2 * cellar_simulate_uniform(simulator) - 1);
}

/* The means of a table, with new effects. */
static void draw_means(const cellar_study_spec *spec, cellar_simulator *simulator, double *means)
{
    size_t r = spec->n_rows, c = spec->n_columns;
    for (size_t i = 0; i < r * c; i++)
        means[i] = spec->eta;
    for (size_t i = 0; i < r; i++) {
        double alpha = draw_effect(simulator, spec->spread);
        for (size_t j = 0; j < c; j++)
            means[i * c + j] += alpha;
    }
    for (size_t j = 0; j < c; j++) {
        double beta = draw_effect(simulator, spec->spread);
        for (size_t i = 0; i < r; i++)
            means[i * c + j] += beta;
    }
    for (size_t i = 0; i < r * c; i++)
        means[i] = exp(means[i] + spec->dependence * draw_effect(simulator, spec->spread));
}

static cellar_status draw_table(const run *r, cellar_simulator *simulator, const double *means,
                                int64_t *counts, int64_t *numbers, cellar_error *err)
{
    for (size_t i = 0; i < r->noisy->n_cells; i++)
        counts[i] = cellar_simulate_poisson(simulator, means[i]);
    return cellar_simulate_release(simulator, &r->noisy->channel, 1, counts, r->noisy->n_cells,
                                   numbers, err);
}

static cellar_status test_plain(lane *l, const int64_t *numbers, verdict *out, cellar_error *err)
{
    cellar_ratio ratio;
    cellar_status status = cellar_engine_run(&l->plain, numbers, 1, 1, &ratio, err);
    *out = (verdict){ratio.statistic, cellar_chi_square_tail(ratio.statistic, ratio.df)};
    return status;
}

/* The share of tables from the fitted model that exceed the statistic. */
static cellar_status test_bootstrap(const run *r, lane *l, cellar_simulator *simulator,
                                    verdict *out, cellar_error *err)
{
    uint64_t n_above = 1;
    cellar_status status = CELLAR_OK;
    memcpy(l->means, cellar_fitter_means(l->aware.inner), r->noisy->n_cells * sizeof *l->means);
    for (uint64_t b = 0; b < r->spec->n_replicates && status == CELLAR_OK; b++) {
        cellar_ratio ratio;
        status = draw_table(r, simulator, l->means, l->replicate, l->replicate, err);
        if (status == CELLAR_OK)
            status = cellar_engine_run(&l->aware, l->replicate, CELLAR_STARTS, 0, &ratio, err);
        if (status == CELLAR_OK)
            n_above += !ratio.inner.converged || ratio.statistic >= out->statistic;
    }
    out->p_value = (double) n_above / (double) (r->spec->n_replicates + 1);
    return status;
}

static cellar_status test_table(run *r, lane *l, cellar_simulator *simulator, size_t table,
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    verdict *v = r->verdicts + table * N_TESTS;
    cellar_ratio ratio;
    if (r->means == NULL)
        draw_means(r->spec, simulator, l->means);
    CELLAR_TRY(draw_table(r, simulator, r->means != NULL ? r->means : l->means, l->counts,
                          l->numbers, err));
    CELLAR_TRY(test_plain(l, l->counts, &v[0], err));
    CELLAR_TRY(cellar_engine_run(&l->aware, l->numbers, CELLAR_STARTS, 1, &ratio, err));
    for (size_t i = 0; i < r->noisy->n_cells; i++)
        l->numbers[i] = l->numbers[i] > 0 ? l->numbers[i] : 0;
    CELLAR_TRY(test_plain(l, l->numbers, &v[1], err));
    v[2] = (verdict){ratio.statistic, cellar_chi_square_tail(ratio.statistic, ratio.df)};
    if (r->spec->reference == CELLAR_REFERENCE_BOOTSTRAP)
        CELLAR_TRY(test_bootstrap(r, l, simulator, &v[2], err));
    r->failed[table] = !ratio.inner.converged;
    if (r->failed[table])
        v[2].p_value = 1;
out:
    return status;
}

static cellar_status run_pieces(void *context, size_t first, size_t last, int lane_index,
                                cellar_error *err)
{
    run *r = context;
    const cellar_progress *progress = &r->spec->progress;
    cellar_simulator simulator;
    cellar_status status = cellar_simulator_init(&simulator, r->spec->seed, first / GRAIN, err);
    for (size_t t = first; t < last && status == CELLAR_OK; t++)
        status = test_table(r, &r->lanes[lane_index], &simulator, t, err);
    if (status == CELLAR_OK && lane_index == 0 && progress->report != NULL &&
        progress->report(progress->context, "study", (double) last / (double) r->spec->n_tables) !=
            0)
        status = cellar_fail(err, CELLAR_ERR_CANCELLED, "cancelled");
    cellar_simulator_clear(&simulator);
    cellar_draw_leave(lane_index);
    return status;
}

/* ---- all tables ------------------------------------------------------------------------ */

static cellar_status study_check(const cellar_study_spec *spec, cellar_error *err)
{
    if (spec->n_rows < 2 || spec->n_columns < 2 || spec->n_rows > 1000 || spec->n_columns > 1000)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a study has 2 to 1000 rows and columns");
    if (!(fabs(spec->eta) <= 20) || !(spec->spread >= 0) || !(spec->spread <= 10) ||
        !(fabs(spec->dependence) <= 10))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "eta is at most 20, spread and dependence are at most 10");
    if (spec->n_tables < 2 || spec->n_tables > 100000000)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a study has 2 to 100000000 tables");
    if (!(spec->level > 0) || !(spec->level < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the level lies between 0 and 1, got %g",
                           spec->level);
    return CELLAR_OK;
}

static cellar_status lane_init(const run *r, lane *l, cellar_error *err)
{
    size_t n = r->noisy->n_cells;
    cellar_status status =
        cellar_engine_init(&l->aware, r->noisy, &r->noisy->channel, &r->model, NULL, err);
    if (status == CELLAR_OK)
        status = cellar_engine_init(&l->plain, r->noisy, &r->plain, &r->model, NULL, err);
    if (status != CELLAR_OK)
        return status;
    l->counts = cellar_alloc(n, sizeof *l->counts);
    l->numbers = cellar_alloc(n, sizeof *l->numbers);
    l->replicate = cellar_alloc(n, sizeof *l->replicate);
    l->means = cellar_alloc(n, sizeof *l->means);
    if (l->counts == NULL || l->numbers == NULL || l->replicate == NULL || l->means == NULL)
        return cellar_fail_memory(err, "the study");
    return CELLAR_OK;
}

static cellar_status study_shape(run *r, cellar_error *err)
{
    const size_t levels[2] = {r->spec->n_rows, r->spec->n_columns};
    int64_t *zeros = cellar_alloc(levels[0] * levels[1], sizeof *zeros);
    cellar_noisy_spec shape = cellar_noisy_spec_default();
    cellar_status status;
    shape.n_levels = levels;
    shape.n_variables = 2;
    shape.released = zeros;
    shape.mechanism = r->spec->mechanism;
    shape.negatives = r->spec->negatives;
    status = zeros != NULL ? cellar_noisy_create(&shape, &r->noisy, err)
                           : cellar_fail_memory(err, "the study");
    cellar_free(zeros);
    return status;
}

/* Means for all tables, from a stream that no table has. */
static cellar_status study_fix_means(run *r, cellar_error *err)
{
    cellar_simulator simulator;
    cellar_status status = cellar_simulator_init(&simulator, r->spec->seed, UINT64_MAX, err);
    if (status == CELLAR_OK)
        r->means = cellar_alloc(r->noisy->n_cells, sizeof *r->means);
    if (status == CELLAR_OK && r->means == NULL)
        status = cellar_fail_memory(err, "the study");
    if (status == CELLAR_OK)
        draw_means(r->spec, &simulator, r->means);
    if (simulator.status != CELLAR_OK)
        status = cellar_fail(err, simulator.status, "the source of random numbers failed");
    cellar_simulator_clear(&simulator);
    return status;
}

static cellar_status study_prepare(run *r, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(study_shape(r, err));
    if (r->spec->fixed_effects)
        CELLAR_TRY(study_fix_means(r, err));
    CELLAR_TRY(cellar_mechanism_create("identity", &r->identity, err));
    r->plain = (cellar_channel){r->identity, CELLAR_NEGATIVES_KEEP, 0, NULL};
    r->generators[0] = 1;
    r->generators[1] = 2;
    r->model = (cellar_model){r->generators, 2};
    CELLAR_TRY(cellar_pool_create(r->spec->n_threads, &r->pool, err));
    r->lanes = cellar_alloc((size_t) cellar_pool_n_lanes(r->pool), sizeof *r->lanes);
    r->verdicts = cellar_alloc(r->spec->n_tables * N_TESTS, sizeof *r->verdicts);
    r->failed = cellar_alloc(r->spec->n_tables, sizeof *r->failed);
    if (r->lanes == NULL || r->verdicts == NULL || r->failed == NULL)
        return cellar_fail_memory(err, "the study");
    r->n_lanes = cellar_pool_n_lanes(r->pool);
    for (int i = 0; i < r->n_lanes && status == CELLAR_OK; i++)
        status = lane_init(r, &r->lanes[i], err);
out:
    return status;
}

static void study_clear(run *r)
{
    for (int i = 0; i < r->n_lanes; i++) {
        lane *l = &r->lanes[i];
        cellar_engine_clear(&l->aware);
        cellar_engine_clear(&l->plain);
        cellar_free(l->counts);
        cellar_free(l->numbers);
        cellar_free(l->replicate);
        cellar_free(l->means);
    }
    cellar_free(r->lanes);
    cellar_free(r->verdicts);
    cellar_free(r->means);
    cellar_free(r->failed);
    cellar_pool_free(r->pool);
    cellar_mechanism_free(r->identity);
    cellar_noisy_free(r->noisy);
}

static void study_summarise(const run *r, size_t test, cellar_study_result *out)
{
    double n = (double) r->spec->n_tables, statistics = 0, p_values = 0;
    *out = (cellar_study_result){0};
    for (size_t t = 0; t < r->spec->n_tables; t++) {
        const verdict *v = &r->verdicts[t * N_TESTS + test];
        out->rejected += (v->p_value <= r->spec->level) / n;
        out->statistic += v->statistic / n;
        out->p_value += v->p_value / n;
    }
    for (size_t t = 0; t < r->spec->n_tables; t++) {
        const verdict *v = &r->verdicts[t * N_TESTS + test];
        statistics += (v->statistic - out->statistic) * (v->statistic - out->statistic);
        p_values += (v->p_value - out->p_value) * (v->p_value - out->p_value);
    }
    out->rejected_se = sqrt(out->rejected * (1 - out->rejected) / n);
    out->statistic_se = sqrt(statistics / (n - 1) / n);
    out->p_value_se = sqrt(p_values / (n - 1) / n);
}

cellar_status cellar_study_run(const cellar_study_spec *spec, cellar_study *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    run r = {.spec = spec};

    *out = (cellar_study){.n_failed = 0};
    CELLAR_TRY(study_check(spec, err));
    CELLAR_TRY(study_prepare(&r, err));
    CELLAR_TRY(cellar_pool_for(r.pool, (size_t) spec->n_tables, GRAIN, run_pieces, &r, err));
    study_summarise(&r, 0, &out->original);
    study_summarise(&r, 1, &out->naive);
    study_summarise(&r, 2, &out->aware);
    for (size_t t = 0; t < spec->n_tables; t++)
        out->n_failed += r.failed[t];
out:
    study_clear(&r);
    return status;
}
