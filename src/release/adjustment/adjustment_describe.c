/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said about fitted numbers. */
#include <math.h>

#include <jansson.h>

#include "base/error.h"
#include "release/adjustment/rounding.h"
#include "table/formats/extension.h"

static const char describe_method[] =
    "weighted least squares over all released numbers, each weighing one over the variance of its "
    "noise; then the nearest non-negative table; then whole numbers that add in every margin";
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

static json_t *describe_rounding(const cellar_rounding *rounding)
{
    return json_pack(
        "{s:s, s:o, s:o, s:I, s:o, s:I, s:o}", "proof", describe_proofs[rounding->proof],
        "distance", describe_real(rounding->distance), "bound", describe_real(rounding->bound),
        "aggregates_far", (json_int_t) rounding->n_far, "max_move",
        describe_real(rounding->max_move), "beyond_max_move", (json_int_t) rounding->n_beyond,
        "largest_move", describe_real(rounding->largest_move));
}

static json_t *describe_fit(const cellar_adjustment *fit, const cellar_rounding *rounding,
                            cellar_official official)
{
    const int fitted = official == CELLAR_OFFICIAL_FITTED;
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:{s:I, s:o}, s:o}", "method", describe_method,
        "post_processing", describe_processing, "probabilistic", describe_withdrawn, "variances",
        fit->is_estimated ? "taken at the released counts where they depend on them" : "exact",
        "official", fitted ? "these fitted numbers" : "the releases",
        fitted ? "for_analysis" : "for_display",
        fitted ? "the releases; tests and intervals belong to them"
               : "these fitted numbers; tests and intervals belong to the releases",
        "equations", "steps", (json_int_t) fit->n_iterations, "remainder",
        describe_real(fit->remainder), "rounding", describe_rounding(rounding));
}

cellar_status cellar_adjustment_describe(const cellar_adjustment *fit,
                                         const cellar_rounding *rounding,
                                         const cellar_release *const *releases, size_t n_releases,
                                         cellar_official official, char **out, cellar_error *err)
{
    json_t *sources = json_array(), *all;
    for (size_t r = 0; r < n_releases; r++)
        json_array_append(sources, releases[r]->description);
    all = json_pack("{s:o, s:o}", "fit", describe_fit(fit, rounding, official), "sources", sources);
    *out = all != NULL && json_array_size(sources) == n_releases
               ? cellar_json_text(all, JSON_COMPACT)
               : NULL;
    json_decref(all);
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(err, "the description of a fit");
}
