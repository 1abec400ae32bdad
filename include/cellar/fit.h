/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Totals that add: one consistent table from releases whose cells and margins were perturbed on
 * their own.
 *
 * Fitting reads releases only, so it is post-processing: no guarantee in the sense of pure or
 * approximate differential privacy is weakened. The probabilistic guarantee is not kept by
 * post-processing and is withdrawn. Tests and intervals belong to the unfitted releases. */
#ifndef CELLAR_FIT_H
#define CELLAR_FIT_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/progress.h>
#include <cellar/release.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the best linear unbiased estimate -------------------------------------- */

typedef struct cellar_fit cellar_fit;

/* Start from cellar_fit_options_default(). */
typedef struct cellar_fit_options {
    uint64_t max_cells;      /* refuse larger tables, aggregates included [50000000] */
    double tolerance;        /* of the equations' remainder, relative to their size [1e-12] */
    uint32_t max_iterations; /* of their solution [5000] */
    cellar_progress progress;
} cellar_fit_options;

CELLAR_API cellar_fit_options cellar_fit_options_default(void);

/* Weighted least squares over all cells of all releases: of the tables that add up, the one nearest
 * to what was released, each number weighing 1 / (variance of its noise). It is unbiased, and has
 * the smallest variance of all linear unbiased estimates when the variances are exact; where a
 * mechanism's variance depends on the true count it is taken at the released one.
 *
 * The first release names the variables; each other release has some of them, with the same
 * categories, and counts the same people. Refused (CELLAR_ERR_RULE): releases whose negatives were
 * set to zero or which have a threshold (biased), mechanisms without noise, with a bias that
 * depends on the count, or whose cells are not independent. On failure *out is NULL. */
CELLAR_API cellar_status cellar_fit_create(const cellar_release *const *releases, size_t n_releases,
                                           const cellar_fit_options *options, cellar_fit **out,
                                           cellar_error *err);
CELLAR_API void cellar_fit_free(cellar_fit *fit); /* NULL is fine */

/* The fitted table: the variables of the first release with all margins and all levels of their
 * hierarchies. Lives as long as the fit. */
CELLAR_API const cellar_schema *cellar_fit_schema(const cellar_fit *fit);

/* What was released for a cell, known bias taken away; the weighted mean when several releases
 * hold it, NAN when none does. */
CELLAR_API double cellar_fit_observed(const cellar_fit *fit, uint64_t index);
/* The estimate of any cell. An aggregate's is the sum of its cells', to rounding. */
CELLAR_API double cellar_fit_estimate(const cellar_fit *fit, uint64_t index);
/* The covariance of two estimates; of one with itself it is the variance. Takes as long as a fit.
 * Fails with CELLAR_ERR_RULE when the releases do not determine one of them. */
CELLAR_API cellar_status cellar_fit_covariance(const cellar_fit *fit, uint64_t index,
                                               uint64_t other, double *out, cellar_error *err);

/* How the equations were solved: steps, and the remainder relative to their size. */
CELLAR_API uint32_t cellar_fit_n_iterations(const cellar_fit *fit);
CELLAR_API double cellar_fit_remainder(const cellar_fit *fit);

#ifdef __cplusplus
}
#endif

#endif
