/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposure: how many people share their values with few others, known exactly, bounded from
 * single columns, or estimated from a sample. All of it is computed from true counts, so it is
 * confidential. Exposure bounds how few share a row; it bounds no attribute disclosure (what a
 * group has in common is known about each of its members), and it is not differential privacy. */
#ifndef CELLAR_EXPOSURE_H
#define CELLAR_EXPOSURE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the curve: Q(t) = share of people in cells with p < t, for every t at once ---- */

/* A step function held in whole numbers: the distinct counts, ascending. */
typedef struct cellar_exposure_curve cellar_exposure_curve;

typedef struct cellar_exposure_step {
    uint64_t count;   /* of each of these cells */
    uint64_t n_cells; /* how many cells have it */
    uint64_t below;   /* people in cells with smaller counts: Q(t) total for t up to count/total */
} cellar_exposure_step;

/* The curve of the columns `variables` of a table, in any order. Free it with
 * cellar_exposure_curve_free(). On failure *out is NULL; so in all functions below. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_exposure_curve_create(const cellar_table *table,
                                                                       const size_t *variables,
                                                                       size_t n,
                                                                       cellar_exposure_curve **out,
                                                                       cellar_error *err);
/* The same from the counts themselves; zeros are left out. `n_possible` is the size of the domain,
 * 0 when it is the cells given. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_exposure_curve_from_counts(const uint64_t *counts, size_t n, uint64_t n_possible,
                                  cellar_exposure_curve **out, cellar_error *err);
/* The same from shares as people type them: decimals of at most 18 places that add up to 1, give
 * or take 1e-6. They are held exactly, in units of 10^-18, and not scaled: what is missing to 1
 * belongs to no cell. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_exposure_curve_from_shares(
    const char *const *shares, size_t n, cellar_exposure_curve **out, cellar_error *err);
/* Proposition 13's example: `n_cells` cells of share t and one with the rest, which must be larger
 * than t. It exposes n t at every threshold just above t, with an entropy of at most -n t ln t +
 * 1/e: so much exposure as the entropy bound allows, but for 1/e. t is a decimal of at most 18
 * places. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_exposure_curve_create_tight(
    const char *threshold, uint64_t n_cells, cellar_exposure_curve **out, cellar_error *err);
CELLAR_API void cellar_exposure_curve_free(cellar_exposure_curve *curve); /* NULL is fine */

/* The steps of the curve, ascending. */
CELLAR_API size_t cellar_exposure_n_steps(const cellar_exposure_curve *curve) CELLAR_NONNULL(1);
CELLAR_API cellar_exposure_step cellar_exposure_step_at(const cellar_exposure_curve *curve,
                                                        size_t step) CELLAR_NONNULL(1);
/* What a count is divided by to become a share: the number of people. */
CELLAR_API uint64_t cellar_exposure_total(const cellar_exposure_curve *curve) CELLAR_NONNULL(1);
/* The cells with somebody in them, and those of the domain (as a double: it may be large). */
CELLAR_API uint64_t cellar_exposure_n_cells(const cellar_exposure_curve *curve) CELLAR_NONNULL(1);
CELLAR_API double cellar_exposure_n_possible(const cellar_exposure_curve *curve) CELLAR_NONNULL(1);

/* The smallest count that is not below a threshold, ceil(t total), from the decimal as typed: p < t
 * exactly when the count is below it. `threshold` lies in [0,1]. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_exposure_cutoff(const cellar_exposure_curve *curve,
                                                                 const char *threshold,
                                                                 uint64_t *cutoff,
                                                                 cellar_error *err);
/* People in cells with fewer than `cutoff` people: with a cutoff of k, those who are not
 * k-anonymous. */
CELLAR_API uint64_t cellar_exposure_below(const cellar_exposure_curve *curve, uint64_t cutoff)
    CELLAR_NONNULL(1);
/* The same as a share: Q(t). */
CELLAR_API double cellar_exposure_value(const cellar_exposure_curve *curve, uint64_t cutoff)
    CELLAR_NONNULL(1);

/* ---- entropy ---- */

/* H = E[-ln p], in nats. */
CELLAR_API double cellar_exposure_entropy(const cellar_exposure_curve *curve);
/* The same the other way round: the integral of Q(t)/t from 0 to 1 (Proposition 9), step by step.
 */
CELLAR_API double cellar_exposure_integral(const cellar_exposure_curve *curve);
/* What H says about Q(t): at most -H/ln t, and 1. Proposition 13 attains it, in the limit from
 * above. */
CELLAR_API double cellar_exposure_entropy_bound(double entropy, double threshold);

/* ---- statistical exposure: other people, drawn from the same shares ---- */

/* Q_p(n,k): the chance that somebody among `population` people drawn from the shares has fewer
 * than k with the same values, itself included. */
typedef struct cellar_exposure_pair {
    uint64_t population, k; /* k from 1; a population of at least 1 */
    double value;           /* filled in */
    double complement;      /* 1 - value, computed for itself: exact where value is nearly 1 */
} cellar_exposure_pair;

/* Fills in all pairs. Each distinct count is evaluated once per pair; the result does not depend on
 * the number of threads (0: all processors). */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_exposure_statistical(const cellar_exposure_curve *curve, cellar_exposure_pair *pairs,
                            size_t n, int n_threads, cellar_error *err);

/* ---- a model: single columns are known, and taken for independent ---- */

typedef struct cellar_exposure_model {
    uint64_t population, k; /* of whom, and of which groups; both from 1 */
    double tolerance; /* the share of people, from 0 to below 1, about whom nothing is assumed */
} cellar_exposure_model;

/* The share of `population` people, whose columns have these shares, expected in groups of fewer
 * than k, when the columns are independent of each other but for the tolerance, about which nothing
 * is assumed. The number of others in somebody's group is taken for binomial, and rounded down by
 * up to 0.2 percent a column; worth nothing if columns are not independent. Adding a column never
 * lowers it. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_exposure_independent(const cellar_exposure_curve *const *columns, size_t n,
                            const cellar_exposure_model *model, double *value, cellar_error *err);

/* ---- estimates: the curve is that of a sample ---- */

typedef struct cellar_exposure_band {
    double lower, upper;
} cellar_exposure_band;

/* The radius within which every share of the sample lies of the true one, all at once, with
 * probability 1 - delta: sqrt(ln(2|V|/delta) / 2s) (Theorem 5, with the factor 2 of a two-sided
 * Hoeffding bound). s is the number of people in the curve, |V| the size of the domain: of an
 * observed one the guarantee is void. delta lies in (0,1). */
CELLAR_API double cellar_exposure_radius(const cellar_exposure_curve *curve, double delta)
    CELLAR_NONNULL(1);

/* Theorem 5: Q'(t - radius) - radius |V| <= Q(t) <= Q'(t + radius) + radius |V|, for all t at
 * once. */
CELLAR_API cellar_exposure_band cellar_exposure_band_published(const cellar_exposure_curve *curve,
                                                               double threshold, double radius)
    CELLAR_NONNULL(1);
/* The smallest and largest sum of x 1{x < t} with every x within the radius of its share: never
 * wider than Theorem 5. */
CELLAR_API cellar_exposure_band cellar_exposure_band_rigorous(const cellar_exposure_curve *curve,
                                                              double threshold, double radius);
/* The same for statistical exposure: sums of the smallest and the largest x P(Bin(n-1,x) <= k-2)
 * with x within the radius of each share. */
CELLAR_API cellar_exposure_band cellar_exposure_statistical_band(const cellar_exposure_curve *curve,
                                                                 uint64_t population, uint64_t k,
                                                                 double radius);
/* Theorem 8 as published, the constant of its Appendix G: half the width of a band around the
 * estimate. It fails for skewed shares (docs/errata.md): for comparison only. */
CELLAR_API double cellar_exposure_statistical_published(double n_possible, uint64_t population,
                                                        double radius);
/* Theorem 6: whatever the estimator and however large the sample, the worst case of its mean error
 * over all distributions on so many values and all thresholds is at least this. */
CELLAR_API double cellar_exposure_floor(double n_possible);

/* ---- bounds from single columns ---- */

/* Which support sizes |V_j| Theorem 2 counts: those of the declared domains, or the values that
 * occur (the paper's; never larger). Both are valid. */
typedef enum cellar_exposure_support {
    CELLAR_SUPPORT_DECLARED,
    CELLAR_SUPPORT_OCCURRING
} cellar_exposure_support;

/* Start from cellar_exposure_bound_options_default(). */
typedef struct cellar_exposure_bound_options {
    cellar_exposure_support support;
    uint64_t max_nodes; /* of the search, per theorem and choice of j* [100000, also when 0] */
} cellar_exposure_bound_options;

/* Declared domains, and searches of at most 100,000 nodes. */
CELLAR_API cellar_exposure_bound_options cellar_exposure_bound_options_default(void);

/* The minimum of a theorem's right hand side over all its thresholds. */
typedef struct cellar_exposure_bound {
    int theorem;                             /* 2 or 3 */
    double value;                            /* valid, at most 1 */
    double gap;                              /* value is at most so far above the true minimum */
    size_t free_column;                      /* Theorem 2: j*, a position in `columns` */
    double c;                                /* Theorem 3 (else NAN) */
    double thresholds[CELLAR_MAX_VARIABLES]; /* the minimising t_j; NAN where the bound is vacuous
                                                (value 1) */
    uint64_t n_nodes;                        /* of the search */
} cellar_exposure_bound;

/* Both theorems at a threshold in (0,1], from the curves of the n columns alone: bounds[0] is the
 * smaller of the two, bounds[1] the other. A gap above 1e-12 means that the search was cut short;
 * the value is a bound all the same. `options` may be NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_exposure_bounds(const cellar_exposure_curve *const *columns, size_t n, double threshold,
                       const cellar_exposure_bound_options *options,
                       cellar_exposure_bound bounds[2], cellar_error *err);
/* The bounds of all thresholds, as steps: each holds for every threshold above (first-1)/n and up
 * to last/n, n being the number of people. */
typedef struct cellar_exposure_bound_step {
    uint64_t first, last; /* in people: k */
    int theorem;          /* the one that gives the value */
    double value;         /* the smaller of the two theorems at last/n */
    double excess;        /* the bound at a threshold of the step is less by at most this */
    double lower;         /* the largest Q_j at first/n: a lower bound for all of the step */
} cellar_exposure_bound_step;

typedef struct cellar_exposure_bound_curve cellar_exposure_bound_curve;

/* Steps from k = 1 to n, with an excess of at most `tolerance` each (0: every k has its step). All
 * columns are of the same people. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_exposure_bound_curve_create(const cellar_exposure_curve *const *columns, size_t n,
                                   const cellar_exposure_bound_options *options, double tolerance,
                                   cellar_exposure_bound_curve **out, cellar_error *err);
CELLAR_API void cellar_exposure_bound_curve_free(cellar_exposure_bound_curve *curve); /* or NULL */
CELLAR_API size_t cellar_exposure_bound_curve_n_steps(const cellar_exposure_bound_curve *curve)
    CELLAR_NONNULL(1);
CELLAR_API cellar_exposure_bound_step
cellar_exposure_bound_curve_step(const cellar_exposure_bound_curve *curve, size_t step);

/* What single columns show from below: the largest Q_j(t). */
CELLAR_API double cellar_exposure_lower_bound(const cellar_exposure_curve *const *columns, size_t n,
                                              double threshold);

#ifdef __cplusplus
}
#endif

#endif
