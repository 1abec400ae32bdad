/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From copies and laws to results, spreads and notes. */
#include "utility/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void run_clear(utility_run *run)
{
    cellar_utility_outcome_clear(&run->outcome);
    cellar_utility_law_clear(&run->law);
    cellar_utility_plan_clear(&run->plan);
    cellar_mechanism_free(run->mechanism);
    cellar_table_free(run->rounded);
    cellar_utility_foreign_clear(&run->foreign);
    cellar_utility_cells_clear(&run->inner);
    if (run->out == NULL) {
        cellar_free(run->plan.results);
        cellar_arena_free(run->plan.arena);
    }
}

void cellar_utility_run_note(utility_run *run, const char *note)
{
    CELLAR_ASSERT(run->out->n_notes < UTILITY_MAX_NOTES);
    run->out->notes[run->out->n_notes++] = note;
}

/* ---- over copies ---------------------------------------------------------- */

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

/* ---- spreads -------------------------------------------------------------- */

/* What the tally holds of one count. */
static void spread_of_tally(const utility_tally *tally, size_t stratum, int64_t count, int relative,
                            utility_weighted *items, cellar_utility_spread *out)
{
    size_t n = 0;
    *out = (cellar_utility_spread){relative ? "relative_difference" : "absolute_difference",
                                   CELLAR_SPREAD_COPIES,
                                   count,
                                   0,
                                   0,
                                   NAN,
                                   {0}};
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
        *spread =
            (cellar_utility_spread){"total_variation", CELLAR_SPREAD_COPIES, -1, ways, 0, NAN, {0}};
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

/* ---- distances ------------------------------------------------------------ */

int cellar_utility_same_aggregates(const cellar_schema *a, const cellar_schema *b)
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

/* 1 when an index means the same cell in both. */
static int schemas_agree(const cellar_schema *a, const cellar_schema *b)
{
    if (a == b)
        return 1;
    if (!cellar_utility_same_aggregates(a, b))
        return 0;
    for (size_t v = 0; v < a->n_variables; v++)
        for (size_t c = 0; c < a->axes[v].n_categories; c++)
            if (strcmp(cellar_schema_code(a, v, c), cellar_schema_code(b, v, c)) != 0)
                return 0;
    return 1;
}

/* Cells and margins without structural zeros. */
static uint64_t table_n_cells(const cellar_table *table)
{
    const cellar_schema *schema = table->schema;
    uint64_t n = schema->n_possible;
    for (uint64_t i = 0; schema->structural != NULL && i < schema->n_indices; i++)
        n -= (uint64_t) (cellar_schema_has_cell(schema, i) &&
                         cellar_schema_is_structural_zero(schema, i));
    for (size_t i = 0; table->cells.status != NULL && i < table->cells.n; i++)
        n -= (uint64_t) (table->cells.status[i] == CELLAR_CELL_STRUCTURAL_ZERO &&
                         !cellar_schema_is_structural_zero(schema, table_index(table, i)));
    return n;
}

cellar_status cellar_utility_run_distances(utility_run *run, const cellar_schema *schema,
                                           const cellar_cells *listed, cellar_error *err)
{
    utility_cells original = {0}, released = {0};
    cellar_status status = CELLAR_OK;
    if (schemas_agree(run->table->schema, schema)) {
        CELLAR_TRY(cellar_utility_cells_all(&run->table->cells, &original, err));
        CELLAR_TRY(cellar_utility_cells_all(listed, &released, err));
        CELLAR_TRY(cellar_utility_distances(&original, &released, table_n_cells(run->table),
                                            run->out->distances, err));
    } else {
        CELLAR_TRY(cellar_utility_distances(&run->plan.frame.original, &run->inner,
                                            run->plan.frame.n_cells, run->out->distances, err));
        cellar_utility_run_note(run, "the release and the table have other margins or order: "
                                     "distances are of inner cells alone");
    }
    run->out->n_distances = UTILITY_N_DISTANCES;
out:
    cellar_utility_cells_clear(&original);
    cellar_utility_cells_clear(&released);
    return status;
}

/* ---- the end -------------------------------------------------------------- */

static void run_notes(utility_run *run)
{
    const utility_plan *plan = &run->plan;
    cellar_utility_run_note(
        run, "square roots, chi-square, G-square, Cramer's V and total variation take negative "
             "values as zero; empty rows and columns are left out of the degrees of freedom");
    cellar_utility_run_note(run, "p-values are naive: they take released values for true counts; "
                                 "the tests of cellar infer take the noise into account");
    if (plan->frame.n_variables > 2)
        cellar_utility_run_note(
            run, "without variables named, chi-square and G-square test mutual independence; "
                 "pairs are tested in their margins");
    if (plan->frame.n_cells < plan->frame.n_leaves)
        cellar_utility_run_note(
            run, "the table has structural zeros, so independence cannot hold: it is not "
                 "tested");
    if (plan->frame.n_cells < plan->frame.n_leaves && plan->margins.n > 0 && run->known)
        cellar_utility_run_note(
            run, "with structural zeros there is no exact expectation of margin_square");
    if (run->rounded != NULL)
        cellar_utility_run_note(
            run, "the table is weighted: its sums, rounded half up, stand for counts");
    if (!run->known)
        cellar_utility_run_note(run, "no exact expectations: the distribution of single cells is "
                                     "not known here, or takes too many values to be summed");
    if (plan->margins.n_left_out > 0)
        cellar_utility_run_note(
            run, "margins of more than 4194304 cells, or beyond 33554432 cells together, are "
                 "left out");
    if (plan->gaps_left_out)
        cellar_utility_run_note(
            run, "gaps between margins and their cells are left out: the table has more than "
                 "33554432 cells");
    for (size_t v = 0; v < plan->frame.n_variables; v++)
        if (plan->frame.schema->axes[v].domain == CELLAR_DOMAIN_OBSERVED) {
            cellar_utility_run_note(
                run, "categories were read off the data: zeros of others are not counted");
            break;
        }
}

cellar_status cellar_utility_run_finish(utility_run *run, const char *mechanism, cellar_error *err)
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

cellar_status cellar_utility_run_close(utility_run *run, cellar_status status, cellar_utility **out)
{
    run_clear(run);
    *out = run->out;
    if (status != CELLAR_OK) {
        cellar_utility_free(run->out);
        *out = NULL;
    }
    return status;
}
