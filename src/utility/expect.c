/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "utility/expect.h"

#include <math.h>

#include "base/error.h"
#include "utility/additivity.h"

/* ---- results ------------------------------------------------------------- */

static void expect_losses(utility_plan *plan, const utility_expectations *e)
{
    cellar_utility_result *r = plan->results;
    double sums[UTILITY_N_FIXED] = {0};
    for (size_t i = 0; i < e->n; i++) {
        const utility_moments *m = &e->moments[i];
        sums[UTILITY_L1] += m->times * m->absolute;
        sums[UTILITY_L2] += m->times * m->square;
        sums[UTILITY_L3] += m->times * m->root;
        sums[UTILITY_HELLINGER_SQUARED] += m->times * m->root_square;
        sums[UTILITY_TOTAL] += m->times * m->bias;
        sums[UTILITY_ZERO_POSITIVE] += m->count == 0 ? m->times * m->positive : 0;
        sums[UTILITY_POSITIVE_ZERO] += m->count > 0 ? m->times * m->not_positive : 0;
    }
    sums[UTILITY_ABSOLUTE] = sums[UTILITY_L1] / (double) plan->frame.n_cells;
    for (size_t i = 0; i < UTILITY_TOP_OVERLAP; i++)
        if (i != UTILITY_HELLINGER) /* the mean of a root is no root of a mean */
            r[i].expected = sums[i];
}

/* Means over the cells of a stratum; for a single count, the law's whether or not cells have it. */
static void expect_stratum(utility_plan *plan, const utility_expectations *e, size_t s)
{
    cellar_utility_result *results = plan->results;
    int above = s == plan->n_counts;
    size_t first = above ? 0 : cellar_utility_find(e, (int64_t) plan->counts[s]);
    size_t last = above ? e->n : first + 1;
    double n = 0;

    for (size_t k = 0; k < utility_plan_per_stratum(plan); k++)
        results[utility_plan_place(plan, s, k)].expected = 0;
    for (size_t i = first; i < last; i++) {
        const utility_moments *m = &e->moments[i];
        double times = above ? m->times : 1;
        if (above && (times == 0 || cellar_utility_plan_stratum(plan, m->count) != s))
            continue;
        n += times;
        results[utility_plan_place(plan, s, 0)].expected += times * m->absolute;
        results[utility_plan_place(plan, s, 1)].expected +=
            m->count > 0 ? times * m->bias / (double) m->count : NAN;
        for (size_t k = 0; k < plan->n_radii; k++)
            results[utility_plan_place(plan, s, UTILITY_N_PER_STRATUM + k)].expected +=
                times * e->within[i * e->n_radii + k];
    }
    for (size_t k = 0; k < utility_plan_per_stratum(plan); k++)
        results[utility_plan_place(plan, s, k)].expected /= n > 0 ? n : NAN;
}

static cellar_status expect_margins(utility_plan *plan, const utility_expectations *e,
                                    cellar_error *err)
{
    double *squares = cellar_alloc(plan->margins.n, sizeof *squares);
    cellar_status status;
    if (squares == NULL)
        return cellar_fail_memory(err, "margins");
    status = cellar_utility_margins_expect(&plan->margins, &plan->frame, e, squares, err);
    for (size_t m = 0; m < plan->margins.n && status == CELLAR_OK; m++)
        plan->results[plan->first_margin + m * UTILITY_N_PER_MARGIN + 1].expected = squares[m];
    cellar_free(squares);
    return status;
}

/* The counts that are looked at, and those of aggregates. */
static cellar_status expect_counts(const utility_plan *plan, const cellar_table *table, int gaps,
                                   uint64_t **out, size_t *n, cellar_error *err)
{
    *out = cellar_alloc(plan->n_counts + (gaps ? table->cells.n : 0), sizeof **out);
    if (*out == NULL)
        return cellar_fail_memory(err, "counts");
    for (*n = 0; *n < plan->n_counts; ++*n)
        (*out)[*n] = plan->counts[*n];
    if (gaps)
        *n += cellar_additivity_counts(table, *out + *n);
    return CELLAR_OK;
}

cellar_status cellar_utility_expect_results(utility_plan *plan, utility_law *law,
                                            const cellar_table *table, int gaps, int *known,
                                            cellar_error *err)
{
    utility_expectations e = {0};
    uint64_t *counts = NULL;
    size_t n_counts;
    cellar_status status = CELLAR_OK;

    *known = 0;
    if (law->mechanism == NULL)
        return CELLAR_OK;
    CELLAR_TRY(expect_counts(plan, table, gaps, &counts, &n_counts, err));
    CELLAR_TRY(cellar_utility_expect(law, &plan->frame, counts, n_counts, plan->radii,
                                     plan->n_radii, &e, err));
    *known = e.exists;
    if (!e.exists)
        goto out;
    expect_losses(plan, &e);
    for (size_t s = 0; s <= plan->n_counts; s++)
        expect_stratum(plan, &e, s);
    CELLAR_TRY(expect_margins(plan, &e, err));
    if (gaps && !law->zeros_stay) /* under cell keys, margins depend on their cells */
        CELLAR_TRY(
            cellar_additivity_expect(table, &e, &plan->results[plan->first_gap + 2].expected, err));
out:
    cellar_utility_expectations_clear(&e);
    cellar_free(counts);
    return status;
}

/* ---- spreads ------------------------------------------------------------- */

/* A law without end has no largest value. */
static void spread_ends(const utility_law *law, int64_t count, cellar_utility_spread out[2])
{
    int64_t low, high;
    cellar_mechanism_support(law->mechanism, count, 0, &low, &high);
    if (count == 0 && law->zeros_stay)
        return;
    if (high == INT64_MAX)
        out[0].quantiles[CELLAR_UTILITY_N_LEVELS - 1] =
            out[1].quantiles[CELLAR_UTILITY_N_LEVELS - 1] = NAN;
    if (low == INT64_MIN && law->listing.negatives != CELLAR_NEGATIVES_ZERO)
        out[1].quantiles[0] = NAN;
}

cellar_status cellar_utility_law_spreads(utility_law *law, int64_t count,
                                         cellar_utility_spread out[2], int *known,
                                         cellar_error *err)
{
    utility_row row;
    utility_weighted *items;
    cellar_status status = cellar_utility_law_row(law, count, &row, err);

    *known = 0;
    if (status != CELLAR_OK || row.n == 0)
        return status;
    items = cellar_alloc(row.n, sizeof *items);
    if (items == NULL)
        return cellar_fail_memory(err, "the distribution of a mechanism");
    for (int relative = 0; relative < 2; relative++) {
        cellar_utility_spread *spread = &out[relative];
        *spread = (cellar_utility_spread){relative ? "relative_difference" : "absolute_difference",
                                          CELLAR_SPREAD_DISTRIBUTION,
                                          count,
                                          0,
                                          NAN,
                                          NAN,
                                          {0}};
        for (size_t i = 0; i < row.n; i++) {
            double away =
                (double) utility_law_released(law, row.first + (int64_t) i) - (double) count;
            items[i] = (utility_weighted){relative ? away / (double) count : fabs(away), row.p[i]};
        }
        if (!relative || count > 0)
            cellar_utility_spread_fill(items, row.n, spread);
        if (relative && utility_law_is_symmetric(law))
            spread->mean = 0;
    }
    spread_ends(law, count, out);
    cellar_free(items);
    *known = 1;
    return CELLAR_OK;
}
