/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "utility/plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "utility/additivity.h"
#include "utility/propensity_models.h"

enum { PLAN_ARENA = 1 << 24, PLAN_MAX_LIST = 1000, PLAN_MAX_TOP = 1000 };

/* ---- the list of results --------------------------------------------------------------------- */

static cellar_status plan_add(utility_plan *plan, const char *measure, cellar_utility_result **out,
                              cellar_error *err)
{
    cellar_utility_result *result;
    if (!cellar_grow(&plan->results, &plan->capacity, plan->n_results + 1, sizeof *plan->results))
        return cellar_fail_memory(err, "results");
    result = &plan->results[plan->n_results++];
    *result = (cellar_utility_result){.measure = measure,
                                      .count = -1,
                                      .radius = -1,
                                      .cells = plan->frame.n_cells,
                                      .original = NAN,
                                      .mean = NAN,
                                      .sd = NAN,
                                      .expected = NAN,
                                      .minimum = NAN,
                                      .quartile_1 = NAN,
                                      .median = NAN,
                                      .quartile_3 = NAN,
                                      .maximum = NAN};
    if (out != NULL)
        *out = result;
    return CELLAR_OK;
}

static cellar_status plan_add_all(utility_plan *plan, const char *const *names, size_t n,
                                  const char *variables, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < n && status == CELLAR_OK; i++) {
        cellar_utility_result *result;
        status = plan_add(plan, names[i], &result, err);
        if (status == CELLAR_OK)
            result->variables = variables;
    }
    return status;
}

static const char *const fixed_names[UTILITY_ASSOCIATION] = {
    [UTILITY_L1] = "l1",
    [UTILITY_L2] = "l2",
    [UTILITY_L3] = "l3",
    [UTILITY_HELLINGER] = "hellinger",
    [UTILITY_HELLINGER_SQUARED] = "hellinger_squared",
    [UTILITY_ABSOLUTE] = "absolute_difference",
    [UTILITY_TOTAL] = "total_difference",
    [UTILITY_ZERO_POSITIVE] = "zeros_turned_positive",
    [UTILITY_POSITIVE_ZERO] = "positives_turned_zero",
    [UTILITY_TOP_OVERLAP] = "top_overlap",
    [UTILITY_TOP_TAU] = "top_rank_correlation",
    [UTILITY_PMSE] = "pmse",
    [UTILITY_PMSE_RATIO] = "pmse_ratio",
    [UTILITY_PMSE_STANDARDISED] = "pmse_standardised",
    [UTILITY_VOAS_WILLIAMSON] = "voas_williamson",
    [UTILITY_FREEMAN_TUKEY] = "freeman_tukey",
    [UTILITY_JENSEN_SHANNON] = "jensen_shannon",
};
static const char *const statistic_names[UTILITY_N_STATISTICS] = {
    "chi_square", "df", "g_square", "cramers_v", "p_value_chi_square", "p_value_g_square"};

void cellar_utility_statistics(const cellar_association *a, double *out)
{
    const double values[UTILITY_N_STATISTICS] = {a->chi_square, a->df,           a->g_square,
                                                 a->cramers_v,  a->p_chi_square, a->p_g_square};
    memcpy(out, values, sizeof values);
}

static void plan_set_original(utility_plan *plan, size_t first, const cellar_association *a)
{
    double values[UTILITY_N_STATISTICS];
    cellar_utility_statistics(a, values);
    for (size_t i = 0; i < UTILITY_N_STATISTICS; i++)
        plan->results[first + i].original = values[i];
}

/* ---- strata ---------------------------------------------------------------------------------- */

size_t cellar_utility_plan_stratum(const utility_plan *plan, int64_t count)
{
    size_t low = 0, high = plan->n_counts;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (plan->counts[middle] < (uint64_t) count)
            low = middle + 1;
        else
            high = middle;
    }
    return low == plan->n_counts || plan->counts[low] == (uint64_t) count ? low : SIZE_MAX;
}

/* The k-th result of stratum s. */
static cellar_status plan_add_stratum(utility_plan *plan, size_t s, size_t k, cellar_error *err)
{
    static const char *const names[] = {"absolute_difference", "relative_difference", "within"};
    cellar_utility_result *result;
    cellar_status status =
        plan_add(plan, names[k < UTILITY_N_PER_STRATUM ? k : UTILITY_N_PER_STRATUM], &result, err);
    if (status != CELLAR_OK)
        return status;
    result->is_above = s == plan->n_counts;
    if (plan->n_counts > 0)
        result->count = (int64_t) plan->counts[result->is_above ? s - 1 : s];
    result->cells = plan->stratum_cells[s];
    if (k >= UTILITY_N_PER_STRATUM)
        result->radius = (int64_t) plan->radii[k - UTILITY_N_PER_STRATUM];
    return CELLAR_OK;
}

static cellar_status plan_add_strata(utility_plan *plan, cellar_error *err)
{
    const utility_frame *frame = &plan->frame;
    size_t stratum = cellar_utility_plan_stratum(plan, 0);
    cellar_status status = CELLAR_OK;

    plan->first_stratum = plan->n_results;
    plan->stratum_cells = cellar_alloc(plan->n_counts + 1, sizeof *plan->stratum_cells);
    if (plan->stratum_cells == NULL)
        return cellar_fail_memory(err, "results");
    if (stratum != SIZE_MAX)
        plan->stratum_cells[stratum] = frame->n_cells - frame->original.n;
    for (size_t i = 0; i < frame->original.n; i++) {
        stratum = cellar_utility_plan_stratum(plan, frame->original.value[i]);
        if (stratum != SIZE_MAX)
            plan->stratum_cells[stratum]++;
    }
    for (size_t k = 0; k < utility_plan_per_stratum(plan); k++)
        for (size_t s = 0; s <= plan->n_counts && status == CELLAR_OK; s++)
            status = plan_add_stratum(plan, s, k, err);
    return status;
}

/* ---- margins --------------------------------------------------------------------------------- */

/* The names of a margin's variables, with commas. */
static cellar_status plan_name(utility_plan *plan, const utility_margin *margin, const char **out,
                               cellar_error *err)
{
    cellar_text text = {0};
    for (size_t k = 0; k < margin->n_ways; k++) {
        if (k > 0)
            cellar_text_add_string(&text, ",");
        cellar_text_add_string(&text,
                               cellar_schema_variable(plan->frame.schema, margin->variables[k]));
    }
    *out = text.failed ? NULL : cellar_arena_copy(plan->arena, text.bytes, text.length);
    cellar_text_clear(&text);
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(err, "results");
}

static cellar_status plan_add_ways(utility_plan *plan, cellar_error *err)
{
    static const char *const names[UTILITY_MAX_WAYS][UTILITY_N_PER_WAYS] = {
        {"total_variation_1way", "total_variation_1way_largest"},
        {"total_variation_2way", "total_variation_2way_largest"},
        {"total_variation_3way", "total_variation_3way_largest"}};
    cellar_status status = CELLAR_OK;
    plan->first_ways = plan->n_results;
    plan->n_ways = plan->margins.n > 0 ? plan->margins.items[plan->margins.n - 1].n_ways : 0;
    for (size_t w = 0; w < plan->n_ways && status == CELLAR_OK; w++)
        status = plan_add_all(plan, names[w], UTILITY_N_PER_WAYS, NULL, err);
    return status;
}

static cellar_status plan_add_margins(utility_plan *plan, cellar_error *err)
{
    static const char *const names[UTILITY_N_PER_MARGIN] = {"total_variation", "margin_square"};
    cellar_status status = CELLAR_OK;
    const char *name;
    plan->first_margin = plan->n_results;
    for (size_t m = 0; m < plan->margins.n; m++) {
        CELLAR_TRY(plan_name(plan, &plan->margins.items[m], &name, err));
        CELLAR_TRY(plan_add_all(plan, names, UTILITY_N_PER_MARGIN, name, err));
    }
    plan->first_pair = plan->n_results;
    for (size_t m = 0; m < plan->margins.n && plan->frame.n_variables > 2; m++) {
        if (plan->margins.items[m].n_ways != 2)
            continue;
        CELLAR_TRY(plan_name(plan, &plan->margins.items[m], &name, err));
        CELLAR_TRY(plan_add_all(plan, statistic_names, UTILITY_N_STATISTICS, name, err));
    }
out:
    return status;
}

static cellar_status plan_add_gaps(utility_plan *plan, cellar_error *err)
{
    static const char *const names[UTILITY_N_GAPS] = {"additivity_gap", "additivity_gap_largest",
                                                      "additivity_gap_squared"};
    plan->first_gap = plan->n_results;
    return plan->gap_schema != NULL ? plan_add_all(plan, names, UTILITY_N_GAPS, NULL, err)
                                    : CELLAR_OK;
}

static cellar_status plan_add_models(utility_plan *plan, cellar_error *err)
{
    static const char *const logistic[] = {"pmse_logistic", "pmse_logistic_ratio",
                                           "pmse_logistic_standardised"};
    static const char *const tree[] = {"pmse_tree", "pmse_tree_ratio"};
    const unsigned asked = plan->options->propensity;
    const uint64_t n = cellar_utility_logistic_parameters(&plan->frame);
    cellar_status status = CELLAR_OK;
    plan->first_model = plan->n_results;
    if ((asked & CELLAR_PROPENSITY_LOGISTIC) != 0 && n > UTILITY_LOGISTIC_MAX)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a logistic model of main effects and pairs of this table has "
                               "%" PRIu64 " parameters, and at most %d are fitted: ask for a "
                               "tree, or for a table of fewer variables",
                               n, UTILITY_LOGISTIC_MAX));
    if ((asked & CELLAR_PROPENSITY_LOGISTIC) != 0)
        CELLAR_TRY(plan_add_all(plan, logistic, UTILITY_N_LOGISTIC, NULL, err));
    if ((asked & CELLAR_PROPENSITY_TREE) != 0)
        CELLAR_TRY(plan_add_all(plan, tree, UTILITY_N_TREE, NULL, err));
out:
    return status;
}

/* ---- the true table -------------------------------------------------------------------------- */

static cellar_status plan_associate(utility_plan *plan, cellar_error *err)
{
    const utility_frame *frame = &plan->frame;
    size_t result = plan->first_pair;
    double *sums;

    plan->original = (cellar_association){frame->total, NAN, NAN, NAN, NAN, NAN, NAN};
    if (frame->n_cells < frame->n_leaves)
        return CELLAR_OK; /* structural zeros: independence cannot hold */
    sums = cellar_alloc(cellar_association_room(frame), sizeof *sums);
    if (sums == NULL)
        return cellar_fail_memory(err, "sums");
    cellar_association_of_cells(frame, &frame->original, sums, &plan->original);
    plan_set_original(plan, UTILITY_ASSOCIATION, &plan->original);
    for (size_t m = 0; m < plan->margins.n && utility_plan_has_pairs(plan); m++) {
        const utility_margin *margin = &plan->margins.items[m];
        cellar_association pair;
        if (margin->n_ways != 2)
            continue;
        cellar_association_of_pair(plan->margins.original + margin->first,
                                   frame->radix[margin->variables[0]],
                                   frame->radix[margin->variables[1]], sums, &pair);
        plan_set_original(plan, result, &pair);
        result += UTILITY_N_STATISTICS;
    }
    cellar_free(sums);
    return CELLAR_OK;
}

/* ---- the whole
 * ------------------------------------------------------------------------------------
 */

static int is_ascending(const uint64_t *list, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (list[i] <= list[i - 1])
            return 0;
    return 1;
}

static cellar_status plan_check(const cellar_utility_options *options, cellar_error *err)
{
    if (options->n_counts > PLAN_MAX_LIST || options->n_radii > PLAN_MAX_LIST)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "at most %d counts, and as many distances",
                           PLAN_MAX_LIST);
    if (!is_ascending(options->counts, options->n_counts) ||
        !is_ascending(options->radii, options->n_radii))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "counts and distances are given once each, in ascending order");
    for (size_t i = 0; i < options->n_counts; i++)
        if (options->counts[i] >> 62 != 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a count is too large");
    if (options->max_ways > UTILITY_MAX_WAYS)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "margins of at most %d variables",
                           UTILITY_MAX_WAYS);
    if (options->top > PLAN_MAX_TOP)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "at most the %d largest cells", PLAN_MAX_TOP);
    return CELLAR_OK;
}

cellar_status cellar_utility_plan_init(utility_plan *plan, const cellar_table *table,
                                       const cellar_schema *gap_schema,
                                       const cellar_utility_options *options, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *plan = (utility_plan){.options = options,
                           .counts = options->counts,
                           .n_counts = options->n_counts,
                           .radii = options->radii,
                           .n_radii = options->n_radii};
    CELLAR_TRY(plan_check(options, err));
    if (gap_schema != NULL && cellar_additivity_is_known(gap_schema))
        plan->gap_schema = gap_schema;
    plan->gaps_left_out = gap_schema != NULL && plan->gap_schema == NULL &&
                          !cellar_schema_has_no_aggregate(gap_schema);
    plan->arena = cellar_arena_create(PLAN_ARENA);
    if (plan->arena == NULL) {
        status = cellar_fail_memory(err, "results");
        goto out;
    }
    CELLAR_TRY(cellar_utility_frame_init(&plan->frame, table, err));
    CELLAR_TRY(cellar_utility_margins_init(&plan->margins, &plan->frame, options->max_ways, err));
    CELLAR_TRY(cellar_utility_top_init(&plan->top, &plan->frame, options->top, err));
    CELLAR_TRY(plan_add_all(plan, fixed_names, UTILITY_ASSOCIATION, NULL, err));
    CELLAR_TRY(plan_add_all(plan, statistic_names, UTILITY_N_STATISTICS, NULL, err));
    CELLAR_TRY(plan_add_strata(plan, err));
    CELLAR_TRY(plan_add_ways(plan, err));
    CELLAR_TRY(plan_add_margins(plan, err));
    CELLAR_TRY(plan_add_gaps(plan, err));
    CELLAR_TRY(plan_add_models(plan, err));
    CELLAR_TRY(plan_associate(plan, err));
out:
    return status;
}

void cellar_utility_plan_clear(utility_plan *plan)
{
    cellar_utility_frame_clear(&plan->frame);
    cellar_utility_margins_clear(&plan->margins);
    cellar_utility_top_clear(&plan->top);
    cellar_free(plan->stratum_cells);
}
