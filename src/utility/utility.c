/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/utility.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/cell_key.h>
#include <cellar/dirichlet.h>

#include "base/error.h"
#include "base/text.h"
#include "release/forecast.h"
#include "release/protect.h"
#include "release/release.h"
#include "utility/additivity.h"
#include "utility/copies.h"
#include "utility/expect.h"

enum { UTILITY_MAX_NOTES = 16 };

struct cellar_utility {
    cellar_arena *arena; /* holds strings */
    const char *mechanism;
    cellar_association original;
    uint64_t n_copies, n_cells;
    cellar_utility_result *results;
    size_t n_results;
    cellar_utility_spread *spreads;
    size_t n_spreads;
    const char *notes[UTILITY_MAX_NOTES];
    size_t n_notes;
};

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

/* ---- an assessment being made
 * ---------------------------------------------------------------------- */

typedef struct utility_run {
    const cellar_table *table;
    cellar_table *rounded; /* of a weighted table: its sums as they are protected */
    utility_plan plan;
    utility_law law;
    utility_outcome outcome;
    cellar_mechanism *mechanism;
    cellar_protect_options protect;
    double zero_share;
    int gaps;  /* 1: the table has the aggregates that the gaps are about */
    int known; /* 1: there are expectations */
    cellar_utility *out;
} utility_run;

static void run_clear(utility_run *run)
{
    cellar_utility_outcome_clear(&run->outcome);
    cellar_utility_law_clear(&run->law);
    cellar_utility_plan_clear(&run->plan);
    cellar_mechanism_free(run->mechanism);
    cellar_table_free(run->rounded);
    if (run->out == NULL) {
        cellar_free(run->plan.results);
        cellar_arena_free(run->plan.arena);
    }
}

static void run_note(utility_run *run, const char *note)
{
    CELLAR_ASSERT(run->out->n_notes < UTILITY_MAX_NOTES);
    run->out->notes[run->out->n_notes++] = note;
}

/* ---- over copies
 * -------------------------------------------------------------------------------------
 */

static void summarise(double *values, size_t n, cellar_utility_result *result)
{
    double sum = 0, squares = 0;
    if (n == 0)
        return;
    qsort(values, n, sizeof *values, cellar_utility_order);
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    result->mean = sum / (double) n;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - result->mean) * (values[i] - result->mean);
    if (n > 1)
        result->sd = sqrt(squares / (double) (n - 1));
    result->minimum = values[0];
    result->quartile_1 = cellar_utility_quantile(values, n, 0.25);
    result->median = cellar_utility_quantile(values, n, 0.5);
    result->quartile_3 = cellar_utility_quantile(values, n, 0.75);
    result->maximum = values[n - 1];
}

/* Copies in which a measure does not exist are left out of it. */
static cellar_status run_summarise(utility_run *run, cellar_error *err)
{
    const utility_outcome *outcome = &run->outcome;
    double *column = cellar_alloc(outcome->n_copies, sizeof *column);
    if (column == NULL)
        return cellar_fail_memory(err, "copies");
    for (size_t i = 0; i < run->plan.n_results; i++) {
        size_t n = 0;
        for (size_t copy = 0; copy < outcome->n_copies; copy++) {
            column[n] = outcome->values[copy * run->plan.n_results + i];
            n += isnan(column[n]) ? 0 : 1;
        }
        summarise(column, n, &run->plan.results[i]);
        run->plan.results[i].copies = n;
    }
    cellar_free(column);
    return CELLAR_OK;
}

/* ---- spreads
 * -------------------------------------------------------------------------------------------
 */

/* What the tally holds of one count. */
static void spread_of_tally(const utility_tally *tally, size_t stratum, int64_t count, int relative,
                            utility_weighted *items, cellar_utility_spread *out)
{
    size_t n = 0;
    *out = (cellar_utility_spread){
        relative ? "relative_difference" : "absolute_difference", "copies", count, 0, 0, NAN, {0}};
    for (size_t i = 0; i < tally->size; i++) {
        const utility_tally_entry *entry = &tally->entries[i];
        double away = (double) entry->away;
        if (entry->times == 0 || entry->stratum != stratum)
            continue;
        out->n += (double) entry->times;
        items[n++] = (utility_weighted){relative ? away / (double) count : fabs(away),
                                        (double) entry->times};
    }
    cellar_utility_spread_fill(items, n, out);
}

static cellar_status run_spread_counts(utility_run *run, utility_weighted *items, cellar_error *err)
{
    cellar_utility *out = run->out;
    for (size_t s = 0; s < run->plan.n_counts; s++) {
        int64_t count = (int64_t) run->plan.counts[s];
        cellar_utility_spread law[2];
        int known = 0;
        cellar_status status = cellar_utility_law_spreads(&run->law, count, law, &known, err);
        if (status != CELLAR_OK)
            return status;
        for (int relative = 0; relative < (count > 0 ? 2 : 1); relative++) {
            if (run->outcome.n_copies > 0 && run->plan.stratum_cells[s] > 0)
                spread_of_tally(&run->outcome.tally, s, count, relative, items,
                                &out->spreads[out->n_spreads++]);
            if (known)
                out->spreads[out->n_spreads++] = law[relative];
        }
    }
    return CELLAR_OK;
}

/* Margins of the same number of variables, of all copies. */
static void run_spread_margins(utility_run *run, utility_weighted *items)
{
    const utility_plan *plan = &run->plan;
    for (size_t ways = 1; ways <= plan->n_ways && run->outcome.n_copies > 0; ways++) {
        cellar_utility_spread *spread = &run->out->spreads[run->out->n_spreads++];
        size_t n = 0;
        *spread = (cellar_utility_spread){"total_variation", "copies", -1, ways, 0, NAN, {0}};
        for (size_t copy = 0; copy < run->outcome.n_copies; copy++)
            for (size_t m = 0; m < plan->margins.n; m++) {
                double value = run->outcome.values[copy * plan->n_results + plan->first_margin +
                                                   m * UTILITY_N_PER_MARGIN];
                if (plan->margins.items[m].n_ways == ways && !isnan(value))
                    items[n++] = (utility_weighted){value, 1};
            }
        spread->n = (double) n;
        cellar_utility_spread_fill(items, n, spread);
    }
}

static cellar_status run_spreads(utility_run *run, cellar_error *err)
{
    size_t n = 4 * run->plan.n_counts + UTILITY_MAX_WAYS;
    size_t n_items = run->outcome.tally.n + run->outcome.n_copies * run->plan.margins.n;
    utility_weighted *items = cellar_alloc(n_items, sizeof *items);
    cellar_status status;

    run->out->spreads = cellar_alloc(n, sizeof *run->out->spreads);
    if (items == NULL || run->out->spreads == NULL) {
        cellar_free(items);
        return cellar_fail_memory(err, "quantiles");
    }
    status = run_spread_counts(run, items, err);
    if (status == CELLAR_OK)
        run_spread_margins(run, items);
    cellar_free(items);
    return status;
}

/* ---- the end
 * --------------------------------------------------------------------------------------------
 */

static void run_notes(utility_run *run)
{
    const utility_plan *plan = &run->plan;
    run_note(run,
             "square roots, chi-square, G-square, Cramer's V and total variation take negative "
             "numbers as zero; empty rows and columns leave the degrees of freedom");
    run_note(run,
             "p-values are naive: they take released numbers for true ones; cellar infer knows "
             "the noise");
    if (plan->frame.n_variables > 2)
        run_note(run, "without variables named, chi-square and G-square test mutual independence; "
                      "pairs are tested in their margins");
    if (plan->frame.n_cells < plan->frame.n_leaves)
        run_note(run, "the table has structural zeros, so independence cannot hold: it is not "
                      "tested");
    if (plan->frame.n_cells < plan->frame.n_leaves && plan->margins.n > 0 && run->known)
        run_note(run, "with structural zeros there is no exact expectation of margin_square");
    if (run->rounded != NULL)
        run_note(run, "the table is weighted: its sums, rounded half up, stand for counts");
    if (!run->known)
        run_note(run, "no exact expectations: the law of single cells is not known here, or too "
                      "wide to be summed");
    if (plan->margins.n_left_out > 0)
        run_note(run, "margins of more than 4194304 cells, or beyond 33554432 cells together, are "
                      "left out");
    if (plan->gaps_left_out)
        run_note(run, "gaps between margins and their cells are left out: the table has more than "
                      "33554432 cells");
    for (size_t v = 0; v < plan->frame.n_variables; v++)
        if (plan->frame.schema->axes[v].domain == CELLAR_DOMAIN_OBSERVED) {
            run_note(run, "categories were read off the data: zeros of others are not counted");
            break;
        }
}

/* Puts everything together; the plan gives its results and strings on. */
static cellar_status run_finish(utility_run *run, const char *mechanism, cellar_error *err)
{
    cellar_utility *out;
    cellar_status status = run_summarise(run, err);
    if (status != CELLAR_OK)
        return status;
    mechanism = cellar_arena_copy(run->plan.arena, mechanism, strlen(mechanism));
    out = cellar_alloc(1, sizeof *out);
    if (mechanism == NULL || out == NULL) {
        cellar_free(out);
        return cellar_fail_memory(err, "an assessment");
    }
    *out = (cellar_utility){.arena = run->plan.arena,
                            .mechanism = mechanism,
                            .original = run->plan.original,
                            .n_copies = run->outcome.n_copies,
                            .n_cells = run->plan.frame.n_cells,
                            .results = run->plan.results,
                            .n_results = run->plan.n_results};
    run->out = out;
    run_notes(run);
    return run_spreads(run, err);
}

static cellar_status run_close(utility_run *run, cellar_status status, cellar_utility **out)
{
    run_clear(run);
    *out = run->out;
    if (status != CELLAR_OK) {
        cellar_utility_free(run->out);
        *out = NULL;
    }
    return status;
}

/* ---- with a mechanism
 * ---------------------------------------------------------------------------------
 */

static int spec_is(const char *spec, const char *name)
{
    size_t length = strlen(name);
    return strncmp(spec, name, length) == 0 && (spec[length] == ':' || spec[length] == '\0');
}

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
    run->protect.negatives = (int) options->negatives;
    run->protect.threshold = options->threshold;
    run->protect.per_cell = 1;
    run->protect.domain_public = 1;   /* nothing leaves */
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

/* 1 when both have the same variables, in order, with as many categories and the same margins. */
static int has_same_aggregates(const cellar_schema *a, const cellar_schema *b)
{
    if (a->n_variables != b->n_variables || a->n_margins != b->n_margins ||
        memcmp(a->margins, b->margins, a->n_margins * sizeof *a->margins) != 0)
        return 0;
    for (size_t v = 0; v < a->n_variables; v++)
        if (strcmp(a->axes[v].name, b->axes[v].name) != 0 ||
            a->axes[v].n_categories != b->axes[v].n_categories)
            return 0;
    return 1;
}

/* Reads the table, and computes expectations. */
static cellar_status run_prepare(utility_run *run, const cellar_schema *gap_schema,
                                 const cellar_utility_options *options, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_utility_plan_init(&run->plan, run->table, gap_schema, options, err));
    run->gaps = run->plan.gap_schema != NULL && has_same_aggregates(run->table->schema, gap_schema);
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
    CELLAR_TRY(run_finish(run, cellar_mechanism_spec(run->mechanism), err));
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
    CELLAR_TRY(run_finish(run, cellar_dirichlet_spec(dirichlet), err));
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
    CELLAR_TRY(cellar_release_cell_keys(run->table, spec, &run->protect, &release, err));
    CELLAR_TRY(open_matrix(run, spec, err));
    CELLAR_TRY(run_prepare(run, run->table->schema, options, err));
    CELLAR_TRY(cellar_utility_outcome_init(&run->outcome, &run->plan, 1, err));
    CELLAR_TRY(cellar_utility_copies_release(&run->plan, release, &run->outcome, err));
    CELLAR_TRY(run_finish(run, cellar_release_mechanism(release), err));
    run_note(run, "cell keys: the one copy that the records' keys determine; expectations are over "
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
    if (spec_is(spec, "cell-key"))
        status = assess_cell_keys(&run, spec, options, err);
    else if (spec_is(spec, "multinomial-dirichlet"))
        status = assess_dirichlet(&run, spec, options, err);
    else
        status = assess_cells(&run, spec, options, err);
    return run_close(&run, status, out);
}

/* ---- with a release
 * ------------------------------------------------------------------------------------
 */

/* The mechanism that the release names, if it can be made here: a matrix may be elsewhere. */
static cellar_status open_released(utility_run *run, const cellar_release *release,
                                   cellar_error *err)
{
    const char *spec = cellar_release_mechanism(release);
    cellar_status status;
    if (spec_is(spec, "cell-key") || spec_is(spec, "multinomial-dirichlet"))
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
                             "of the table and the release one is weighted and the other is not");
        goto out;
    }
    CELLAR_TRY(open_released(&run, release, err));
    CELLAR_TRY(run_check(&run, &own, err));
    CELLAR_TRY(run_prepare(&run, cellar_release_schema(release), &own, err));
    CELLAR_TRY(cellar_utility_outcome_init(&run.outcome, &run.plan, 1, err));
    CELLAR_TRY(cellar_utility_copies_release(&run.plan, release, &run.outcome, err));
    CELLAR_TRY(run_finish(&run, cellar_release_mechanism(release), err));
out:
    return run_close(&run, status, out);
}

/* ---- queries
 * --------------------------------------------------------------------------------------------
 */

void cellar_utility_free(cellar_utility *utility)
{
    if (utility == NULL)
        return;
    cellar_free(utility->results);
    cellar_free(utility->spreads);
    cellar_arena_free(utility->arena);
    cellar_free(utility);
}

cellar_association cellar_utility_original(const cellar_utility *utility)
{
    return utility->original;
}

const char *cellar_utility_mechanism(const cellar_utility *utility)
{
    return utility->mechanism;
}

uint64_t cellar_utility_n_copies(const cellar_utility *utility)
{
    return utility->n_copies;
}

uint64_t cellar_utility_n_cells(const cellar_utility *utility)
{
    return utility->n_cells;
}

size_t cellar_utility_n_results(const cellar_utility *utility)
{
    return utility->n_results;
}

const cellar_utility_result *cellar_utility_result_at(const cellar_utility *utility, size_t index)
{
    CELLAR_ASSERT(index < utility->n_results);
    return &utility->results[index];
}

size_t cellar_utility_n_spreads(const cellar_utility *utility)
{
    return utility->n_spreads;
}

const cellar_utility_spread *cellar_utility_spread_at(const cellar_utility *utility, size_t index)
{
    CELLAR_ASSERT(index < utility->n_spreads);
    return &utility->spreads[index];
}

size_t cellar_utility_n_notes(const cellar_utility *utility)
{
    return utility->n_notes;
}

const char *cellar_utility_note(const cellar_utility *utility, size_t index)
{
    CELLAR_ASSERT(index < utility->n_notes);
    return utility->notes[index];
}
