/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole numbers beside an estimate that adds already, such as a table of a cube. Weighted least
 * squares would give the estimate itself, so it is taken for the fit, each value weighing one over
 * its squared standard error, and rounded as fits are. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/aggregate.h"
#include "release/adjustment/rounding.h"
#include "release/estimate/estimate.h"
#include "table/schema/schema.h"

static const char whole_meaning[] =
    "non-negative whole numbers near the estimates; they add within this table and to no other, "
    "and have no standard error and no interval of their own";

/* ---- the estimate as a fit ---------------------------------------------------------- */

/* A value without error weighs as much as one with a thousandth of the smallest error. */
static double whole_least_error(const cellar_estimate *estimate)
{
    double least = INFINITY;
    for (size_t i = 0; i < estimate->cells.n; i++) {
        const double se = cellar_estimate_cell(estimate, i).se;
        if (se > 0 && se < least)
            least = se;
    }
    return isinf(least) ? 1 : least / 1000;
}

static cellar_status whole_observe(const cellar_estimate *estimate, cellar_adjustment *fit,
                                   cellar_error *err)
{
    const double least = whole_least_error(estimate);
    for (size_t i = 0; i < estimate->cells.n; i++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(estimate, i);
        const size_t index = (size_t) cell.index;
        const double se = fmax(cell.se, least);
        if (isnan(cell.se))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "whole numbers need the standard error of every value");
        fit->weight[index] = 1 / (se * se);
        if (cell.se == 0)
            fit->exact = fit->weight[index];
        fit->observed[index] = cell.value;
        if (cellar_schema_is_interior(fit->schema, index)) {
            fit->estimate[index] = cell.value;
            fit->total += cell.value;
        }
    }
    cellar_aggregate_sum(fit->schema, fit->estimate);
    return CELLAR_OK;
}

/* Sums of up to a million values with six decimals add to this in doubles. */
static cellar_status whole_check_adds(const cellar_adjustment *fit, cellar_error *err)
{
    for (size_t i = 0; i < fit->n; i++)
        if (fit->weight[i] > 0 && !(fabs(fit->observed[i] - fit->estimate[i]) <= 1e-3))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "whole numbers need an estimate whose totals add");
    return CELLAR_OK;
}

static cellar_status whole_fit(const cellar_estimate *estimate, cellar_adjustment **out,
                               cellar_error *err)
{
    const cellar_adjustment_options usual = cellar_adjustment_options_default();
    cellar_adjustment *fit = cellar_alloc(1, sizeof *fit);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (fit == NULL)
        return cellar_fail_memory(err, "a fit");
    fit->schema = cellar_schema_retain(estimate->schema);
    fit->tolerance = usual.tolerance;
    fit->max_iterations = usual.max_iterations;
    CELLAR_TRY(cellar_adjustment_allocate(fit, err));
    CELLAR_TRY(whole_observe(estimate, fit, err));
    CELLAR_TRY(whole_check_adds(fit, err));
    cellar_adjustment_make_diagonal(fit);
    *out = fit;
    fit = NULL;
out:
    cellar_adjustment_free(fit);
    return status;
}

/* ---- the estimate with whole numbers --------------------------------------------------- */

static json_t *whole_computed(const cellar_estimate *estimate, const cellar_rounding *rounding)
{
    json_t *computed = json_copy(json_object_get(estimate->description, "computed"));
    if (json_object_set_new(computed, "whole", json_string(whole_meaning)) == 0 &&
        json_object_set_new(computed, "rounding", cellar_rounding_json(rounding)) == 0)
        return computed;
    json_decref(computed);
    return NULL;
}

static cellar_status whole_estimate(const cellar_estimate *estimate,
                                    const cellar_rounding *rounding, cellar_estimate **out,
                                    cellar_error *err)
{
    const size_t n = (size_t) estimate->schema->n_indices;
    int64_t *arrays = cellar_alloc(3 * n, sizeof *arrays);
    json_t *computed = whole_computed(estimate, rounding);
    const cellar_estimate_parts parts = {.schema = estimate->schema,
                                         .value = arrays,
                                         .se = arrays != NULL ? arrays + n : NULL,
                                         .whole = arrays != NULL ? arrays + 2 * n : NULL,
                                         .decimals = estimate->decimals,
                                         .computed = computed,
                                         .sources =
                                             json_object_get(estimate->description, "sources")};
    cellar_status status = CELLAR_OK;
    if (arrays == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an estimate"));
    for (size_t i = 0; i < estimate->cells.n; i++) {
        const uint64_t index = estimate->cells.index[i];
        arrays[index] = (int64_t) estimate->cells.count[i];
        arrays[n + index] = (int64_t) estimate->cells.key[i];
        arrays[2 * n + index] = cellar_rounding_value(rounding, index);
    }
    CELLAR_TRY(cellar_estimate_create(&parts, out, err));
out:
    cellar_free(arrays);
    json_decref(computed);
    return status;
}

cellar_status cellar_estimate_round(const cellar_estimate *estimate,
                                    const cellar_rounding_options *options, cellar_estimate **out,
                                    cellar_error *err)
{
    cellar_adjustment *fit = NULL;
    cellar_rounding *rounding = NULL;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    CELLAR_TRY(whole_fit(estimate, &fit, err));
    CELLAR_TRY(cellar_rounding_create(fit, options, &rounding, err));
    CELLAR_TRY(whole_estimate(estimate, rounding, out, err));
out:
    cellar_rounding_free(rounding);
    cellar_adjustment_free(fit);
    return status;
}
