/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Totals that add: one consistent table from releases whose cells and margins were perturbed on
 * their own.
 *
 * Fitting reads releases only, so it is post-processing: no guarantee in the sense of pure or
 * approximate differential privacy is weakened. The probabilistic guarantee is not kept by
 * post-processing and is withdrawn. Tests and intervals belong to the unfitted releases. What is
 * published is an estimate (cellar/estimate.h). */
#ifndef CELLAR_ADJUSTMENT_H
#define CELLAR_ADJUSTMENT_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/estimate.h>
#include <cellar/export.h>
#include <cellar/output.h>
#include <cellar/progress.h>
#include <cellar/release.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the best linear unbiased estimate -------------------------------------- */

typedef struct cellar_adjustment cellar_adjustment;

/* Start from cellar_adjustment_options_default(). */
typedef struct cellar_adjustment_options {
    cellar_margins margins;  /* what to fit besides the margins and hierarchies that the releases
                                hold, in the first release's variables [nothing] */
    uint64_t max_cells;      /* refuse larger tables, aggregates included [5000000] */
    double tolerance;        /* of the equations' remainder, relative to their size [1e-12] */
    uint32_t max_iterations; /* of their solution [5000] */
    cellar_progress progress;
} cellar_adjustment_options;

/* The values in brackets. */
CELLAR_API cellar_adjustment_options cellar_adjustment_options_default(void);

/* Weighted least squares over all cells of all releases: of the tables that add up, the one nearest
 * to what was released, each number weighing 1 / (variance of its noise). It is unbiased, and has
 * the smallest variance of all linear unbiased estimates when the variances are exact; where a
 * mechanism's variance depends on the true count it is taken at the released one.
 *
 * The first release names the variables; each other release has some of them, with the same
 * categories, and counts the same people. Refused (CELLAR_ERR_RULE): releases whose negatives were
 * set to zero or which have a threshold (biased), mechanisms without noise, with a bias that
 * depends on the count, or whose cells are not independent. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_adjustment_create(
    const cellar_release *const *releases, size_t n_releases,
    const cellar_adjustment_options *options, cellar_adjustment **out, cellar_error *err);
CELLAR_API void cellar_adjustment_free(cellar_adjustment *fit); /* NULL is fine */

/* The fitted table: the variables of the first release, with the margins and hierarchies that some
 * release holds or the options ask for. Lives as long as the fit. */
CELLAR_API const cellar_schema *cellar_adjustment_schema(const cellar_adjustment *fit);

/* What was released for a cell, known bias taken away; the weighted mean when several releases
 * hold it, NAN when none does. */
CELLAR_API double cellar_adjustment_observed(const cellar_adjustment *fit, uint64_t index);
/* The estimate of any cell. An aggregate's is the sum of its cells', to rounding. */
CELLAR_API double cellar_adjustment_estimate(const cellar_adjustment *fit, uint64_t index);
/* The estimate of the grand total, whether or not the table has that margin. */
CELLAR_API double cellar_adjustment_total(const cellar_adjustment *fit);
/* The covariance of two estimates; of one with itself it is the variance. Takes as long as a fit.
 * Fails with CELLAR_ERR_RULE when the releases do not determine one of them. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_adjustment_covariance(const cellar_adjustment *fit,
                                                                       uint64_t index,
                                                                       uint64_t other, double *out,
                                                                       cellar_error *err);

/* 1 when the variance of some number depends on its count, and was taken at the released one. */
CELLAR_API int cellar_adjustment_is_estimated(const cellar_adjustment *fit);

/* How the equations were solved: steps, and the remainder relative to their size. */
CELLAR_API uint32_t cellar_adjustment_n_iterations(const cellar_adjustment *fit);
CELLAR_API double cellar_adjustment_remainder(const cellar_adjustment *fit);

/* ---- whole numbers that add ------------------------------------------------- */

/* A table of non-negative whole numbers near a fit. Every aggregate is the sum of its cells. */
typedef struct cellar_rounding cellar_rounding;

/* How sure it is that no other such table is nearer. */
typedef enum cellar_rounding_proof {
    CELLAR_ROUNDING_OPTIMAL, /* proven */
    CELLAR_ROUNDING_GAP,     /* a better one might exist: see the bound */
    CELLAR_ROUNDING_GREEDY   /* too large to search; totals may be further than one away */
} cellar_rounding_proof;

/* "optimal", "gap" or "not searched". */
CELLAR_API const char *cellar_rounding_proof_name(cellar_rounding_proof proof);

/* Start from cellar_rounding_options_default(). */
typedef struct cellar_rounding_options {
    size_t max_searched; /* cells; a larger table is rounded from its total downwards; four times
                            as many with one or two variables, which are easier [5000] */
    uint64_t max_work;   /* of the search, when it branches: nodes times cells [200000] */
    double max_move;     /* how far a released value may go from its unbiased estimate before it is
                            rounded, unless nothing else adds up; NAN: four standard deviations of
                            the noisiest number [NAN] */
} cellar_rounding_options;

/* The values in brackets. */
CELLAR_API cellar_rounding_options cellar_rounding_options_default(void);

/* Three steps. First the non-negative table that is nearest in the same weighted sense among those
 * with the unbiased estimate of the grand total (zero if that is negative): lifting negative cells
 * to zero would otherwise inflate the total of a sparse table many times over. If some
 * released value is further than max_move from its unbiased estimate, as small a change as
 * possible brings all within it, or as near to it as can be; tables above max_searched are left as
 * they are, and what is beyond is counted in both cases. Then every cell, the grand total and every
 * aggregate that some release holds goes to one of the two whole numbers around it, so that the sum
 * over cells of the distance is smallest; an aggregate leaves its two whole numbers only when
 * nothing else adds up, and is then counted. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_rounding_create(const cellar_adjustment *fit, const cellar_rounding_options *options,
                       cellar_rounding **out, cellar_error *err);
CELLAR_API void cellar_rounding_free(cellar_rounding *rounding); /* NULL is fine */

/* The whole number of any cell. */
CELLAR_API int64_t cellar_rounding_value(const cellar_rounding *rounding, uint64_t index);
/* The grand total of the whole numbers, whether or not the table has that margin. */
CELLAR_API int64_t cellar_rounding_total(const cellar_rounding *rounding);
/* The non-negative table before it was rounded. */
CELLAR_API double cellar_rounding_before(const cellar_rounding *rounding, uint64_t index);
CELLAR_API cellar_rounding_proof cellar_rounding_proof_of(const cellar_rounding *rounding);
/* The sum of distances over cells, and a lower bound of what it could be with as few aggregates far
 * away. */
CELLAR_API double cellar_rounding_distance(const cellar_rounding *rounding);
CELLAR_API double cellar_rounding_bound(const cellar_rounding *rounding);
/* The bound on moves that was used, and how many released values are beyond it before rounding
 * (which adds less than one). */
CELLAR_API double cellar_rounding_max_move(const cellar_rounding *rounding);
CELLAR_API size_t cellar_rounding_n_beyond(const cellar_rounding *rounding);
/* How many released aggregates are one or more away from the non-negative table, and the largest
 * distance of any released cell from its unbiased estimate. */
CELLAR_API size_t cellar_rounding_n_far(const cellar_rounding *rounding);
CELLAR_API double cellar_rounding_largest_move(const cellar_rounding *rounding);

/* ---- what is published --------------------------------------------------------- */

/* Which of two versions of a table is the official one; the other is named for analysis. */
typedef enum cellar_official {
    CELLAR_OFFICIAL_FITTED,  /* the whole numbers that add; the releases are for analysis */
    CELLAR_OFFICIAL_RELEASED /* the releases; the fitted values are for display */
} cellar_official;

/* The fit as an estimate, which cellar_estimate_write() writes: its values to six decimals, which
 * add exactly, and the whole numbers of `rounding` unless that is NULL. `with_errors` adds the
 * standard errors; they take as long as a fit for each cell. The description says how the values
 * were computed, that this is post-processing, which guarantee is withdrawn and which version is
 * official, and holds the descriptions of the releases. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_estimate_from_fit(
    const cellar_adjustment *fit, const cellar_rounding *rounding,
    const cellar_release *const *releases, size_t n_releases, cellar_official official,
    int with_errors, cellar_estimate **out, cellar_error *err);

/* An estimate whose totals add and which has standard errors, such as a table of a cube, with
 * non-negative whole numbers beside its values: those near the estimates in the sense of
 * cellar_rounding_create(), each value weighing one over its squared standard error. They add
 * within this table and to no other, and the description says so. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_estimate_round(const cellar_estimate *estimate, const cellar_rounding_options *options,
                      cellar_estimate **out, cellar_error *err);

/* Adds a CSV of every cell of the estimate of a fit to `output`: its categories, `observed` (empty
 * where nothing was released), `unbiased`, with standard errors `sd` (empty where the releases do
 * not determine it), with whole numbers `fitted`. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_adjustment_write_comparison(const cellar_adjustment *fit, const cellar_estimate *estimate,
                                   cellar_output *output, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
