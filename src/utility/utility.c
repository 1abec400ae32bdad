/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/utility.h>

#include <string.h>

#include <cellar/cell_key.h>
#include <cellar/dirichlet.h>

#include "base/error.h"
#include "release/forecast.h"
#include "release/release.h"
#include "utility/run.h"

cellar_utility_options cellar_utility_options_default(void)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, radii[] = {0, 1, 2, 3, 4};
    return (cellar_utility_options){.negatives = CELLAR_NEGATIVES_KEEP,
                                    .copies = 100,
                                    .seed = 1,
                                    .counts = counts,
                                    .n_counts = sizeof counts / sizeof *counts,
                                    .radii = radii,
                                    .n_radii = sizeof radii / sizeof *radii,
                                    .max_ways = 3,
                                    .top = 10};
}

/* ---- with a mechanism ----------------------------------------------------- */

/* Weighted sums are protected as whole numbers, under a bound on weights. */
static cellar_status run_round(utility_run *run, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (!cellar_table_is_weighted(run->table))
        return CELLAR_OK;
    if (run->table->max_weight == 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the weights of the table were not clipped, so it cannot be protected; "
                           "tabulate it with a bound");
    status = cellar_table_round_weights(run->table, &run->rounded, err);
    run->table = status == CELLAR_OK ? run->rounded : run->table;
    return status;
}

/* Checks the table, and that copies are not too large to be drawn. */
static cellar_status run_check(utility_run *run, const cellar_utility_options *options,
                               cellar_error *err)
{
    cellar_protection protection;
    cellar_forecast forecast;
    cellar_status status;

    status = run_round(run, err);
    if (status != CELLAR_OK)
        return status;
    run->protect = cellar_protect_options_default();
    run->protect.negatives = options->negatives;
    run->protect.threshold = options->threshold;
    run->protect.per_cell = 1;
    run->protect.domain_public = 1; /* nothing leaves */
    run->protect.accept = CELLAR_ACCEPT_NO_PROTECTION | CELLAR_ACCEPT_LARGE_EPSILON;
    run->protect.date = "2000-01-01"; /* a simulation has none */
    run->protect.n_threads = options->n_threads;
    status = cellar_protection_init(&protection, run->table, &run->protect, err);
    run->law.listing = protection.listing;
    cellar_protection_clear(&protection);
    if (status == CELLAR_OK && run->mechanism != NULL && options->copies > 0) {
        status = cellar_protect_forecast(run->table, run->mechanism, &run->protect, &forecast, err);
        if (status == CELLAR_OK)
            run->zero_share =
                forecast.empty_size / (double) cellar_schema_n_possible(run->table->schema);
    }
    return status;
}

/* Reads the table, and computes expectations. */
static cellar_status run_prepare(utility_run *run, const cellar_schema *gap_schema,
                                 const cellar_utility_options *options, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_utility_plan_init(&run->plan, run->table, gap_schema, options, err));
    run->gaps = run->plan.gap_schema != NULL &&
                cellar_utility_same_aggregates(run->table->schema, gap_schema);
    run->law.mechanism = run->mechanism;
    CELLAR_TRY(cellar_utility_law_init(&run->law, err));
    CELLAR_TRY(cellar_utility_expect_results(&run->plan, &run->law, run->table, run->gaps,
                                             &run->known, err));
out:
    return status;
}

static cellar_status assess_cells(utility_run *run, const char *spec,
                                  const cellar_utility_options *options, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_mechanism_create(spec, &run->mechanism, err));
    CELLAR_TRY(run_check(run, options, err));
    CELLAR_TRY(run_prepare(run, run->table->schema, options, err));
    CELLAR_TRY(
        cellar_utility_outcome_init(&run->outcome, &run->plan, (size_t) options->copies, err));
    if (options->copies > 0)
        CELLAR_TRY(cellar_utility_copies_draw(&run->plan, run->table, run->mechanism,
                                              &run->law.listing, run->zero_share, &run->outcome,
                                              err));
    CELLAR_TRY(cellar_utility_run_finish(run, cellar_mechanism_spec(run->mechanism), err));
out:
    return status;
}

static cellar_status assess_dirichlet(utility_run *run, const char *spec,
                                      const cellar_utility_options *options, cellar_error *err)
{
    cellar_dirichlet *dirichlet = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_protection_refuse_weights(run->table, "multinomial-dirichlet", err));
    CELLAR_TRY(cellar_dirichlet_create(spec, &dirichlet, err));
    CELLAR_TRY(run_check(run, options, err));
    CELLAR_TRY(run_prepare(run, run->table->schema, options, err));
    CELLAR_TRY(
        cellar_utility_outcome_init(&run->outcome, &run->plan, (size_t) options->copies, err));
    CELLAR_TRY(cellar_utility_copies_dirichlet(&run->plan, run->table, spec, &run->protect,
                                               &run->outcome, err));
    CELLAR_TRY(cellar_utility_run_finish(run, cellar_dirichlet_spec(dirichlet), err));
out:
    cellar_dirichlet_free(dirichlet);
    return status;
}

/* The matrix of a cell-key spec as a mechanism: the law over fresh keys. Rows that rotate have no
 * such law. */
static cellar_status open_matrix(utility_run *run, const char *spec, cellar_error *err)
{
    cellar_text text = {0};
    cellar_status status;
    const char *file = strstr(spec, "file="), *end;
    if (file == NULL || strstr(spec, "large=rotate") != NULL)
        return CELLAR_OK;
    end = strchr(file, ',');
    cellar_text_add_string(&text, "ptable:");
    cellar_text_add(&text, file, end != NULL ? (size_t) (end - file) : strlen(file));
    status = text.failed ? cellar_fail_memory(err, "a mechanism")
                         : cellar_mechanism_create(text.bytes, &run->mechanism, err);
    cellar_text_clear(&text);
    run->law.zeros_stay = 1;
    return status;
}

static cellar_status assess_cell_keys(utility_run *run, const char *spec,
                                      const cellar_utility_options *options, cellar_error *err)
{
    cellar_release *release = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_protection_refuse_weights(run->table, "cell-key", err));
    CELLAR_TRY(run_check(run, options, err));
    CELLAR_TRY(cellar_release_protect_cell_keys(run->table, spec, &run->protect, &release, err));
    CELLAR_TRY(open_matrix(run, spec, err));
    CELLAR_TRY(run_prepare(run, run->table->schema, options, err));
    CELLAR_TRY(cellar_utility_outcome_init(&run->outcome, &run->plan, 1, err));
    CELLAR_TRY(cellar_utility_copies_release(&run->plan, release, &run->outcome, &run->inner, err));
    CELLAR_TRY(cellar_utility_run_finish(run, cellar_release_mechanism(release), err));
    CELLAR_TRY(
        cellar_utility_run_distances(run, cellar_release_schema(release), &release->cells, err));
    cellar_utility_run_note(
        run, "cell keys: the one copy that the records' keys determine; expectations are over "
             "keys drawn afresh");
out:
    cellar_release_free(release);
    return status;
}

cellar_status cellar_utility_assess(const cellar_table *table, const char *spec,
                                    const cellar_utility_options *options, cellar_utility **out,
                                    cellar_error *err)
{
    utility_run run = {.table = table};
    cellar_status status;
    if (cellar_mechanism_spec_is(spec, "cell-key"))
        status = assess_cell_keys(&run, spec, options, err);
    else if (cellar_mechanism_spec_is(spec, "multinomial-dirichlet"))
        status = assess_dirichlet(&run, spec, options, err);
    else
        status = assess_cells(&run, spec, options, err);
    return cellar_utility_run_close(&run, status, out);
}

/* ---- with a release ------------------------------------------------------- */

/* The mechanism that the release names, if it can be made here: a matrix may be elsewhere. */
static cellar_status open_released(utility_run *run, const cellar_release *release,
                                   cellar_error *err)
{
    const char *spec = cellar_release_mechanism(release);
    cellar_status status;
    if (cellar_mechanism_spec_is(spec, "cell-key") ||
        cellar_mechanism_spec_is(spec, "multinomial-dirichlet"))
        return CELLAR_OK;
    status = cellar_mechanism_create(spec, &run->mechanism, err);
    return status == CELLAR_ERR_MEMORY ? status : CELLAR_OK;
}

cellar_status cellar_utility_compare(const cellar_table *table, const cellar_release *release,
                                     const cellar_utility_options *options, cellar_utility **out,
                                     cellar_error *err)
{
    utility_run run = {.table = table};
    cellar_utility_options own = *options;
    cellar_status status = CELLAR_OK;

    own.negatives = cellar_release_negatives(release);
    own.threshold = cellar_release_threshold(release);
    own.copies = 0;
    if (cellar_release_is_weighted(release) != cellar_table_is_weighted(table)) {
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "either the table or the release is weighted, but not both");
        goto out;
    }
    if (cellar_release_below(release) == CELLAR_BELOW_SUPPRESS) {
        status =
            cellar_fail(err, CELLAR_ERR_RULE,
                        "values of the release below %lld are suppressed, and losses compare "
                        "values: measure its mechanism with that threshold instead, where they "
                        "count as 0",
                        (long long) cellar_release_threshold(release));
        goto out;
    }
    CELLAR_TRY(open_released(&run, release, err));
    CELLAR_TRY(run_check(&run, &own, err));
    CELLAR_TRY(run_prepare(&run, cellar_release_schema(release), &own, err));
    CELLAR_TRY(cellar_utility_outcome_init(&run.outcome, &run.plan, 1, err));
    CELLAR_TRY(cellar_utility_copies_release(&run.plan, release, &run.outcome, &run.inner, err));
    CELLAR_TRY(cellar_utility_run_finish(&run, cellar_release_mechanism(release), err));
    CELLAR_TRY(
        cellar_utility_run_distances(&run, cellar_release_schema(release), &release->cells, err));
out:
    return cellar_utility_run_close(&run, status, out);
}

/* ---- with a file of another program ---------------------------------------- */

cellar_status cellar_utility_compare_file(const cellar_table *table, const char *path,
                                          const char *column, const cellar_utility_options *options,
                                          cellar_utility **out, cellar_error *err)
{
    utility_run run = {0};
    cellar_utility_options own = *options;
    cellar_status status = CELLAR_OK;

    own.negatives = CELLAR_NEGATIVES_KEEP;
    own.threshold = 0;
    own.copies = 0;
    CELLAR_TRY(cellar_utility_foreign_read(table, path, column, &run.foreign, err));
    run.table = run.foreign.table;
    CELLAR_TRY(run_check(&run, &own, err));
    CELLAR_TRY(run_prepare(&run, run.table->schema, &own, err));
    CELLAR_TRY(cellar_utility_outcome_init(&run.outcome, &run.plan, 1, err));
    CELLAR_TRY(cellar_utility_copies_listed(&run.plan, &run.foreign.cells, &run.outcome, err));
    CELLAR_TRY(cellar_utility_run_finish(&run, "not known", err));
    CELLAR_TRY(cellar_utility_run_distances(&run, run.table->schema, &run.foreign.cells, err));
    cellar_utility_run_note(&run, "the file has no certificate: nothing is known about how it was "
                                  "made; cells that it does not list are taken for zero");
out:
    return cellar_utility_run_close(&run, status, out);
}
