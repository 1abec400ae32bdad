/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fit as an estimate: values, standard errors, whole numbers, and how they were computed. */
#include <math.h>

#include <jansson.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/aggregate.h"
#include "release/adjustment/rounding.h"
#include "release/estimate/estimate.h"
#include "table/schema/schema.h"

static const char describe_method[] =
    "weighted least squares over all released values, each weighing one over the variance of its "
    "noise";
static const char describe_whole[] =
    "the nearest non-negative table with the estimated total; then whole numbers that add in every "
    "margin";
static const char describe_processing[] =
    "computed from the releases alone: post-processing, which weakens neither pure nor approximate "
    "differential privacy; the guarantee is that of the releases together";
static const char describe_withdrawn[] =
    "withdrawn: the probabilistic guarantee is not kept by post-processing";

static const char *const describe_proofs[] = {
    [CELLAR_ROUNDING_OPTIMAL] = "optimal",
    [CELLAR_ROUNDING_GAP] = "gap",
    [CELLAR_ROUNDING_GREEDY] = "not searched",
};

const char *cellar_rounding_proof_name(cellar_rounding_proof proof)
{
    return describe_proofs[proof];
}

/* null where a number is not known. */
static json_t *describe_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cellar_rounding_json(const cellar_rounding *rounding)
{
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:I, s:o, s:I, s:o}", "method", describe_whole, "proof",
        describe_proofs[rounding->proof], "distance", describe_real(rounding->distance), "bound",
        describe_real(rounding->bound), "aggregates_far", (json_int_t) rounding->n_far, "max_move",
        describe_real(rounding->max_move), "beyond_max_move", (json_int_t) rounding->n_beyond,
        "largest_move", describe_real(rounding->largest_move));
}

/* The estimated total, and that of the whole numbers. */
static json_t *describe_total(const cellar_adjustment *fit, const cellar_rounding *rounding)
{
    json_t *total = json_pack("{s:o}", "unbiased", describe_real(fit->total));
    if (rounding != NULL &&
        json_object_set_new(total, "fitted", json_integer(cellar_rounding_total(rounding))) != 0) {
        json_decref(total);
        return NULL;
    }
    return total;
}

static json_t *describe_fit(const cellar_adjustment *fit, const cellar_rounding *rounding,
                            cellar_official official)
{
    const int fitted = official == CELLAR_OFFICIAL_FITTED;
    json_t *computed = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:I, s:o}, s:o}", "by", "fit", "method",
        describe_method, "post_processing", describe_processing, "probabilistic",
        describe_withdrawn, "variances",
        fit->is_estimated ? "taken at the released counts where they depend on them" : "exact",
        "official", fitted ? "the fitted whole numbers" : "the releases",
        fitted ? "for_analysis" : "for_display",
        fitted ? "the releases; tests and intervals belong to them"
               : "the fitted whole numbers; tests and intervals belong to the releases",
        "equations", "steps", (json_int_t) fit->n_iterations, "remainder",
        describe_real(fit->remainder), "total", describe_total(fit, rounding));
    if (computed != NULL && rounding != NULL &&
        json_object_set_new(computed, "rounding", cellar_rounding_json(rounding)) != 0) {
        json_decref(computed);
        return NULL;
    }
    return computed;
}

/* ---- values, errors and whole numbers ----------------------------------------- */

/* The arrays of an estimate while it is made, by index. */
typedef struct fit_arrays {
    double *units;
    int64_t *value, *se, *whole;
} fit_arrays;

static cellar_status fit_arrays_init(fit_arrays *arrays, size_t n, cellar_error *err)
{
    *arrays = (fit_arrays){.units = cellar_alloc(n, sizeof *arrays->units),
                           .value = cellar_alloc(n, sizeof *arrays->value),
                           .se = cellar_alloc(n, sizeof *arrays->se),
                           .whole = cellar_alloc(n, sizeof *arrays->whole)};
    return arrays->units != NULL && arrays->value != NULL && arrays->se != NULL &&
                   arrays->whole != NULL
               ? CELLAR_OK
               : cellar_fail_memory(err, "an estimate");
}

static void fit_arrays_clear(fit_arrays *arrays)
{
    cellar_free(arrays->units);
    cellar_free(arrays->value);
    cellar_free(arrays->se);
    cellar_free(arrays->whole);
}

/* Inner cells are rounded to units and then summed, so that totals add exactly. */
static cellar_status fit_fill_values(const cellar_adjustment *fit, fit_arrays *arrays,
                                     cellar_error *err)
{
    for (size_t i = 0; i < fit->n; i++)
        arrays->units[i] = cellar_schema_is_interior(fit->schema, i)
                               ? cellar_estimate_units(fit->estimate[i], CELLAR_ESTIMATE_DECIMALS)
                               : 0;
    cellar_aggregate_sum(fit->schema, arrays->units);
    for (size_t i = 0; i < fit->n; i++) {
        if (!(fabs(arrays->units[i]) <= 0x1p53))
            return cellar_fail(err, CELLAR_ERR_OVERFLOW, "an estimate is too large for %d decimals",
                               (int) CELLAR_ESTIMATE_DECIMALS);
        arrays->value[i] = (int64_t) arrays->units[i];
    }
    return CELLAR_OK;
}

/* One solution of the equations for each cell; unknown where the releases do not determine it. */
static cellar_status fit_fill_errors(const cellar_adjustment *fit, int64_t *se, cellar_error *err)
{
    for (size_t i = 0; i < fit->n; i++) {
        double variance;
        cellar_status status = CELLAR_OK;
        se[i] = CELLAR_SHEET_NO_ERROR;
        if (!cellar_schema_has_cell(fit->schema, i) ||
            cellar_schema_is_structural_zero(fit->schema, i))
            continue;
        status = cellar_adjustment_covariance(fit, i, i, &variance, err);
        if (status == CELLAR_OK)
            se[i] = (int64_t) cellar_estimate_units(sqrt(variance), CELLAR_ESTIMATE_DECIMALS);
        else if (status != CELLAR_ERR_RULE)
            return status;
    }
    return CELLAR_OK;
}

/* ---- the estimate --------------------------------------------------------------- */

static json_t *describe_sources(const cellar_release *const *releases, size_t n_releases)
{
    json_t *sources = json_array();
    for (size_t r = 0; r < n_releases; r++)
        if (json_array_append(sources, releases[r]->description) != 0) {
            json_decref(sources);
            return NULL;
        }
    return sources;
}

cellar_status cellar_estimate_from_fit(const cellar_adjustment *fit,
                                       const cellar_rounding *rounding,
                                       const cellar_release *const *releases, size_t n_releases,
                                       cellar_official official, int with_errors,
                                       cellar_estimate **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    json_t *computed = describe_fit(fit, rounding, official);
    json_t *sources = describe_sources(releases, n_releases);
    fit_arrays arrays;

    *out = NULL;
    CELLAR_TRY(fit_arrays_init(&arrays, fit->n, err));
    CELLAR_TRY(fit_fill_values(fit, &arrays, err));
    if (with_errors)
        CELLAR_TRY(fit_fill_errors(fit, arrays.se, err));
    for (size_t i = 0; rounding != NULL && i < fit->n; i++)
        arrays.whole[i] = (int64_t) rounding->value[i];
    const cellar_estimate_parts parts = {.schema = fit->schema,
                                         .value = arrays.value,
                                         .se = with_errors ? arrays.se : NULL,
                                         .whole = rounding != NULL ? arrays.whole : NULL,
                                         .decimals = CELLAR_ESTIMATE_DECIMALS,
                                         .computed = computed,
                                         .sources = sources};
    CELLAR_TRY(cellar_estimate_create(&parts, out, err));
out:
    fit_arrays_clear(&arrays);
    json_decref(computed);
    json_decref(sources);
    return status;
}
