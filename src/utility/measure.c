/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One copy against the table. */
#include <math.h>

#include "base/error.h"
#include "utility/additivity.h"
#include "utility/plan.h"
#include "utility/propensity.h"
#include "utility/propensity_models.h"

cellar_status cellar_utility_work_init(utility_work *work, const utility_plan *plan,
                                       cellar_error *err)
{
    size_t n_gaps = plan->gap_schema != NULL ? (size_t) plan->gap_schema->n_indices : 0;
    *work = (utility_work){
        .margin_sums = cellar_alloc(plan->margins.n_cells, sizeof(double)),
        .sums = cellar_alloc(cellar_association_room(&plan->frame), sizeof(double)),
        .gap_sums = cellar_alloc(n_gaps, sizeof(double)),
        .heap = cellar_alloc(plan->top.n, sizeof(int64_t)),
    };
    if (work->margin_sums == NULL || work->sums == NULL || work->gap_sums == NULL ||
        work->heap == NULL)
        return cellar_fail_memory(err, "copies");
    return CELLAR_OK;
}

void cellar_utility_work_clear(utility_work *work)
{
    cellar_utility_cells_clear(&work->released);
    cellar_utility_tally_clear(&work->tally);
    cellar_free(work->margin_sums);
    cellar_free(work->sums);
    cellar_free(work->gap_sums);
    cellar_free(work->heap);
}

/* ---- cell by cell -------------------------------------------------------- */

/* Adds one cell, or `times` of them, to the sums of its stratum. */
static int stratum_add(const utility_plan *plan, utility_work *work, int64_t count,
                       int64_t released, uint64_t times, double *values)
{
    size_t stratum = cellar_utility_plan_stratum(plan, count);
    double away = (double) released - (double) count, size = fabs(away);
    if (stratum == SIZE_MAX)
        return 1;
    values[utility_plan_place(plan, stratum, 0)] += size * (double) times;
    if (count > 0)
        values[utility_plan_place(plan, stratum, 1)] += away / (double) count * (double) times;
    for (size_t r = plan->n_radii; r-- > 0 && size <= (double) plan->radii[r];)
        values[utility_plan_place(plan, stratum, UTILITY_N_PER_STRATUM + r)] += (double) times;
    return stratum == plan->n_counts ||
           cellar_utility_tally_add(&work->tally, stratum, released - count, times);
}

static void losses_add(int64_t count, int64_t released, double *values)
{
    double away = (double) released - (double) count;
    double roots = sqrt((double) count) - (released > 0 ? sqrt((double) released) : 0);
    values[UTILITY_L1] += fabs(away);
    values[UTILITY_L2] += away * away;
    values[UTILITY_L3] += fabs(roots);
    values[UTILITY_HELLINGER_SQUARED] += roots * roots;
    values[UTILITY_TOTAL] += away;
    values[UTILITY_ZERO_POSITIVE] += count == 0 && released > 0;
    values[UTILITY_POSITIVE_ZERO] += count > 0 && released <= 0;
}

/* Sums become means; those of strata without cells do not exist. */
static void strata_finish(const utility_plan *plan, double *values)
{
    for (size_t s = 0; s <= plan->n_counts; s++) {
        double n = (double) plan->stratum_cells[s];
        int is_zero = s < plan->n_counts && plan->counts[s] == 0;
        for (size_t k = 0; k < utility_plan_per_stratum(plan); k++)
            values[utility_plan_place(plan, s, k)] /= n > 0 ? n : NAN;
        if (is_zero || (s == plan->n_counts && plan->n_counts == 0))
            values[utility_plan_place(plan, s, 1)] = NAN; /* nothing is relative to zero */
    }
}

static cellar_status measure_cells(const utility_plan *plan, utility_work *work, double *values,
                                   cellar_error *err)
{
    const utility_frame *frame = &plan->frame;
    utility_walk walk = {0};
    uint64_t n_seen = 0;
    int ok = 1;

    for (; ok && utility_walk_next(&walk, &frame->original, &work->released); n_seen++) {
        losses_add(walk.count, walk.released, values);
        ok = stratum_add(plan, work, walk.count, walk.released, 1, values);
    }
    ok = ok && stratum_add(plan, work, 0, 0, frame->n_cells - n_seen, values);
    if (!ok)
        return cellar_fail_memory(err, "differences");
    values[UTILITY_HELLINGER] = sqrt(values[UTILITY_HELLINGER_SQUARED]);
    values[UTILITY_ABSOLUTE] = values[UTILITY_L1] / (double) frame->n_cells;
    strata_finish(plan, values);
    return CELLAR_OK;
}

/* ---- margins and statistics ---------------------------------------------- */

static void measure_margins(const utility_plan *plan, utility_work *work, double *values)
{
    const utility_margins *margins = &plan->margins;
    double n[UTILITY_MAX_WAYS] = {0};
    double *ways = values + plan->first_ways;
    cellar_utility_margins_sum(margins, &plan->frame, &work->released, work->margin_sums);
    for (size_t m = 0; m < margins->n; m++) {
        const utility_margin *margin = &margins->items[m];
        double *own = values + plan->first_margin + m * UTILITY_N_PER_MARGIN;
        double *of_ways = ways + (margin->n_ways - 1) * UTILITY_N_PER_WAYS;
        own[0] = cellar_utility_total_variation(margin, margins->original, work->margin_sums);
        own[1] = cellar_utility_margin_square(margin, margins->original, work->margin_sums);
        of_ways[0] += own[0];
        of_ways[1] = of_ways[1] > own[0] ? of_ways[1] : own[0]; /* a NAN stays in the mean */
        n[margin->n_ways - 1]++;
    }
    for (size_t w = 0; w < plan->n_ways; w++)
        ways[w * UTILITY_N_PER_WAYS] /= n[w];
}

static void measure_associations(const utility_plan *plan, utility_work *work, double *values)
{
    const utility_frame *frame = &plan->frame;
    double *out = values + plan->first_pair;
    cellar_association a = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    int known = frame->n_cells == frame->n_leaves;

    if (known)
        cellar_association_of_cells(frame, &work->released, work->sums, &a);
    cellar_utility_statistics(&a, values + UTILITY_ASSOCIATION);
    for (size_t m = 0; m < plan->margins.n && utility_plan_has_pairs(plan); m++) {
        const utility_margin *margin = &plan->margins.items[m];
        if (margin->n_ways != 2)
            continue;
        if (known)
            cellar_association_of_pair(work->margin_sums + margin->first,
                                       frame->radix[margin->variables[0]],
                                       frame->radix[margin->variables[1]], work->sums, &a);
        cellar_utility_statistics(&a, out);
        out += UTILITY_N_STATISTICS;
    }
}

/* The propensity models that were asked for. */
static cellar_status measure_models(const utility_plan *plan, const utility_work *work,
                                    double *values, cellar_error *err)
{
    const unsigned asked = plan->options->propensity;
    cellar_status status = CELLAR_OK;
    utility_pooled pooled = {0};
    if (asked == 0)
        return CELLAR_OK;
    CELLAR_TRY(cellar_utility_pooled_init(&pooled, &plan->frame, &work->released, err));
    if ((asked & CELLAR_PROPENSITY_LOGISTIC) != 0) {
        CELLAR_TRY(cellar_utility_logistic(&pooled, values, err));
        values += UTILITY_N_LOGISTIC;
    }
    if ((asked & CELLAR_PROPENSITY_TREE) != 0)
        CELLAR_TRY(cellar_utility_tree(&pooled, plan->options->seed, values, err));
out:
    cellar_utility_pooled_clear(&pooled);
    return status;
}

cellar_status cellar_utility_measure(const utility_plan *plan, utility_work *work,
                                     const cellar_cells *listed, double *values, cellar_error *err)
{
    cellar_status status;
    for (size_t i = 0; i < plan->n_results; i++)
        values[i] = 0;
    status = measure_cells(plan, work, values, err);
    if (status != CELLAR_OK)
        return status;
    values[UTILITY_TOP_OVERLAP] =
        cellar_utility_top_overlap(&plan->top, &plan->frame, &work->released, work->heap);
    values[UTILITY_TOP_TAU] = cellar_utility_top_tau(&plan->top, &work->released, work->heap);
    cellar_utility_propensity(&plan->frame.original, &work->released, values + UTILITY_PMSE);
    measure_margins(plan, work, values);
    measure_associations(plan, work, values);
    if (plan->gap_schema != NULL) {
        utility_gaps gaps;
        cellar_additivity_gaps(plan->gap_schema, listed, work->gap_sums, &gaps);
        values[plan->first_gap] = gaps.mean;
        values[plan->first_gap + 1] = gaps.largest;
        values[plan->first_gap + 2] = gaps.square;
    }
    return measure_models(plan, work, values + plan->first_model, err);
}
