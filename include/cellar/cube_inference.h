/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inference from a cube: what its noise leaves open about counts, differences, ratios and
 * proportions, and tables that the tests of cellar/inference.h take.
 *
 * All estimates of a cube are weighted sums of the same measured values, so their errors are
 * correlated; covariances are exact, and intervals come from the distribution of the weighted sum
 * itself. They are about the noise only: the counts of the people who were counted are fixed. */
#ifndef CELLAR_CUBE_INFERENCE_H
#define CELLAR_CUBE_INFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/cube.h>
#include <cellar/export.h>
#include <cellar/inference.h>
#include <cellar/interval.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sums of cells ------------------------------------------------------------- */

/* A set of cells of a cube, added up: those with one of some codes of each variable named, and
 * with any code of all others. Immutable; outlives no cube. */
typedef struct cellar_cube_sum cellar_cube_sum;

/* Reads "sex=F; region=1,2" as cellar_cell_set_parse() does; "" is everybody. Codes are those of
 * any level of the variable. The coarsest table that has the set is used; where the universe has
 * none the set is refused (CELLAR_ERR_RULE), with the nearest tables. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cube_sum_parse(const cellar_cube *cube,
                                                                const char *text,
                                                                cellar_cube_sum **out,
                                                                cellar_error *err);
/* The same from sides, each with the codes of a level (none: all of them); groups are not read. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cube_sum_create(const cellar_cube *cube,
                                                                 const cellar_cube_side *sides,
                                                                 size_t n_sides,
                                                                 cellar_cube_sum **out,
                                                                 cellar_error *err);
CELLAR_API void cellar_cube_sum_free(cellar_cube_sum *sum); /* NULL is fine */

/* The covariance of the errors of two sums, which need not be of one table: with itself the
 * variance. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cube_sum_covariance(const cellar_cube *cube,
                                                                     const cellar_cube_sum *sum,
                                                                     const cellar_cube_sum *other,
                                                                     double *out,
                                                                     cellar_error *err);

/* ---- intervals ------------------------------------------------------------------- */

typedef struct cellar_cube_finding {
    double estimate;     /* NAN: a ratio to an estimate of 0 */
    double se;           /* standard error; of ratios by linearisation, NAN where undetermined */
    double low, high;    /* both infinite where undetermined */
    double p_value;      /* of a difference: how likely noise alone, between equal counts, makes the
                            estimates differ at least so much; else NAN */
    int is_undetermined; /* 1: what a ratio is divided by may be 0 for all the noise shows, so that
                            no bounded interval has the confidence */
} cellar_cube_finding;

/* The interval of a sum, or of two compared (`other` is NULL for CELLAR_COMPARE_NONE), which covers
 * what the true counts give with at least the confidence (up to rounding). Ratios and proportions
 * have the interval of Fieller (1954): all values whose multiple of the second count differs from
 * the first by no more than noise explains. A proportion needs a set within another
 * (CELLAR_ERR_ARGUMENT); its interval is kept within 0..1. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cube_compare(
    const cellar_cube *cube, const cellar_cube_sum *sum, cellar_comparison comparison,
    const cellar_cube_sum *other, double confidence, cellar_cube_finding *out, cellar_error *err);

/* Half the width of the interval of every cell of a table: cell i of the estimate that
 * cellar_cube_ask() answers has estimate +- half_widths[i]. With `simultaneous` all of them
 * together hold with the confidence, whatever the correlations (Bonferroni). `n` is the number of
 * cells (CELLAR_ERR_ARGUMENT when it is not). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cube_half_widths(
    const cellar_cube *cube, const cellar_cube_question *question, double confidence,
    int simultaneous, double *half_widths, size_t n, cellar_error *err);

/* ---- tests ------------------------------------------------------------------------- */

/* A table of a cube for tests: all categories of each side, at its level. Estimates are rounded to
 * whole numbers; the statistic takes their errors for independent discrete Gaussian noise with the
 * variance of the cube's, and the reference is the bootstrap through the whole measurement: noise
 * is drawn again for all measured tables, and estimated as the cube's was. Tests with another
 * reference are refused (CELLAR_ERR_RULE), and so are odds ratios and cellar_interval_run(), which
 * know the noise of independent cells only. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_noisy_from_cube(const cellar_cube *cube,
                                                                 const cellar_cube_side *sides,
                                                                 size_t n_sides, cellar_noisy **out,
                                                                 cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
