/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A copy has a stream of the seed of its own, so it does not matter which thread draws it. */
#include "utility/copies.h"

#include "base/error.h"
#include "base/threads.h"
#include "release/draw/draw.h"
#include "release/release.h"

/* As for releases: up to so many indices every cell is visited, beyond only the listed zeros. */
#define COPIES_DENSE UINT64_C(67108864)
#define COPIES_MAX_VALUES ((size_t) 1 << 28) /* of all copies: 2 GiB */
static const double COPIES_DENSE_SHARE = 0.125;

cellar_status cellar_utility_outcome_init(utility_outcome *outcome, const utility_plan *plan,
                                          size_t n_copies, cellar_error *err)
{
    *outcome = (utility_outcome){.n_copies = n_copies};
    if (n_copies > COPIES_MAX_VALUES / plan->n_results)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%zu measures of so many copies are too much to keep; ask for fewer",
                           plan->n_results);
    outcome->values = cellar_alloc(n_copies * plan->n_results, sizeof *outcome->values);
    return outcome->values != NULL ? CELLAR_OK : cellar_fail_memory(err, "copies");
}

void cellar_utility_outcome_clear(utility_outcome *outcome)
{
    cellar_free(outcome->values);
    cellar_utility_tally_clear(&outcome->tally);
}

/* ---- cell by cell -------------------------------------------------------- */

typedef struct copies_run {
    const utility_plan *plan;
    const cellar_table *table;
    const cellar_mechanism *mechanism;
    cellar_listing listing;
    cellar_zeros *zeros; /* NULL: every cell is visited */
    utility_outcome *outcome;
    utility_work *works; /* one per lane */
} copies_run;

/* Draws one copy on this thread alone. */
static cellar_status copy_draw(const copies_run *run, size_t copy, cells_builder *out,
                               cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_rng *rng = NULL;
    cellar_draw draw = {.table = run->table,
                        .mechanism = run->mechanism,
                        .listing = run->listing,
                        .zeros = run->zeros,
                        .rngs = &rng};

    CELLAR_TRY(cellar_rng_create_seeded(run->plan->options->seed, copy, &rng, err));
    CELLAR_TRY(cellar_pool_create(1, &draw.pool, err));
    status = run->zeros == NULL ? cellar_draw_dense(&draw, err) : cellar_draw_sparse(&draw, err);
out:
    *out = draw.out;
    cellar_pool_free(draw.pool);
    cellar_rng_free(rng);
    return status;
}

static cellar_status copy_measure(copies_run *run, size_t copy, int lane, cellar_error *err)
{
    utility_work *work = &run->works[lane];
    cells_builder drawn = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(copy_draw(run, copy, &drawn, err));
    CELLAR_TRY(cellar_utility_frame_pick(&run->plan->frame, &drawn.cells, &work->released, err));
    CELLAR_TRY(cellar_utility_measure(run->plan, work, &drawn.cells,
                                      run->outcome->values + copy * run->plan->n_results, err));
out:
    cellar_cells_clear(&drawn.cells);
    return status;
}

static cellar_status copies_report(const utility_plan *plan, double fraction, cellar_error *err)
{
    const cellar_progress *progress = &plan->options->progress;
    if (progress->report == NULL ||
        progress->report(progress->context, "simulating copies", fraction) == 0)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_CANCELLED, "cancelled");
}

static cellar_status copies_range(void *context, size_t first, size_t last, int lane,
                                  cellar_error *err)
{
    copies_run *run = context;
    cellar_status status = CELLAR_OK;
    for (size_t copy = first; copy < last && status == CELLAR_OK; copy++) {
        status = copy_measure(run, copy, lane, err);
        if (lane == 0 && status == CELLAR_OK)
            status = copies_report(run->plan, (double) copy / (double) run->outcome->n_copies, err);
    }
    cellar_draw_leave(lane);
    return status;
}

static cellar_status copies_works(copies_run *run, size_t n, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    run->works = cellar_alloc(n, sizeof *run->works);
    if (run->works == NULL)
        return cellar_fail_memory(err, "copies");
    for (size_t i = 0; i < n && status == CELLAR_OK; i++)
        status = cellar_utility_work_init(&run->works[i], run->plan, err);
    return status;
}

cellar_status cellar_utility_copies_draw(const utility_plan *plan, const cellar_table *table,
                                         const cellar_mechanism *mechanism,
                                         const cellar_listing *listing, double zero_share,
                                         utility_outcome *outcome, cellar_error *err)
{
    copies_run run = {.plan = plan,
                      .table = table,
                      .mechanism = mechanism,
                      .listing = *listing,
                      .outcome = outcome};
    cellar_pool *pool = NULL;
    size_t n_lanes = 0;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_pool_create(plan->options->n_threads, &pool, err));
    n_lanes = (size_t) cellar_pool_n_lanes(pool);
    CELLAR_TRY(copies_works(&run, n_lanes, err));
    if (cellar_schema_n_indices(table->schema) > COPIES_DENSE && zero_share < COPIES_DENSE_SHARE)
        CELLAR_TRY(cellar_zeros_create(mechanism, *listing, &run.zeros, err));
    CELLAR_TRY(cellar_pool_for(pool, outcome->n_copies, 1, copies_range, &run, err));
    for (size_t i = 0; i < n_lanes && status == CELLAR_OK; i++)
        if (!cellar_utility_tally_merge(&outcome->tally, &run.works[i].tally))
            status = cellar_fail_memory(err, "differences");
out:
    for (size_t i = 0; run.works != NULL && i < n_lanes; i++)
        cellar_utility_work_clear(&run.works[i]);
    cellar_free(run.works);
    cellar_zeros_free(run.zeros);
    cellar_pool_free(pool);
    return status;
}

/* ---- whole releases
 * ---------------------------------------------------------------------------------
 */

static cellar_status release_measure(const utility_plan *plan, const cellar_release *release,
                                     utility_work *work, double *values, cellar_error *err)
{
    cellar_status status = cellar_utility_frame_match(&plan->frame, release, &work->released, err);
    return status == CELLAR_OK ? cellar_utility_measure(plan, work, &release->cells, values, err)
                               : status;
}

/* Gives the tally on. */
static void outcome_take(utility_outcome *outcome, utility_work *work)
{
    outcome->tally = work->tally;
    work->tally = (utility_tally){0};
}

cellar_status cellar_utility_copies_dirichlet(const utility_plan *plan, const cellar_table *table,
                                              const char *spec,
                                              const cellar_protect_options *options,
                                              utility_outcome *outcome, cellar_error *err)
{
    utility_work work;
    cellar_status status = cellar_utility_work_init(&work, plan, err);

    for (size_t copy = 0; copy < outcome->n_copies && status == CELLAR_OK; copy++) {
        cellar_protect_options own = *options;
        cellar_release *release = NULL;
        status = cellar_rng_create_seeded(plan->options->seed, copy, &own.rng, err);
        if (status == CELLAR_OK)
            status = cellar_release_protect_dirichlet(table, spec, &own, &release, err);
        if (status == CELLAR_OK)
            status = release_measure(plan, release, &work, outcome->values + copy * plan->n_results,
                                     err);
        if (status == CELLAR_OK)
            status = copies_report(plan, (double) copy / (double) outcome->n_copies, err);
        cellar_release_free(release);
        cellar_rng_free(own.rng);
    }
    outcome_take(outcome, &work);
    cellar_utility_work_clear(&work);
    return status;
}

cellar_status cellar_utility_copies_release(const utility_plan *plan, const cellar_release *release,
                                            utility_outcome *outcome, utility_cells *inner,
                                            cellar_error *err)
{
    utility_work work;
    cellar_status status = cellar_utility_work_init(&work, plan, err);
    if (status == CELLAR_OK)
        status = release_measure(plan, release, &work, outcome->values, err);
    *inner = work.released;
    work.released = (utility_cells){0};
    outcome_take(outcome, &work);
    cellar_utility_work_clear(&work);
    return status;
}

cellar_status cellar_utility_copies_listed(const utility_plan *plan, const cellar_cells *listed,
                                           utility_outcome *outcome, cellar_error *err)
{
    utility_work work;
    cellar_status status = cellar_utility_work_init(&work, plan, err);
    if (status == CELLAR_OK)
        status = cellar_utility_frame_pick(&plan->frame, listed, &work.released, err);
    if (status == CELLAR_OK)
        status = cellar_utility_measure(plan, &work, listed, outcome->values, err);
    outcome_take(outcome, &work);
    cellar_utility_work_clear(&work);
    return status;
}
