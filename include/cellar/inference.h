/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests that know the noise: log-linear models of released tables, and the binomial test. */
#ifndef CELLAR_INFERENCE_H
#define CELLAR_INFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/mechanism.h>
#include <cellar/progress.h>
#include <cellar/release.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- released values and the distribution that made them ---------------------------- */

/* A complete table of released values, cells in canonical order (last variable fastest), with the
 * channel from counts to them. Immutable; threads may share one. */
typedef struct cellar_noisy cellar_noisy;

/* Released values from anywhere. Start from cellar_noisy_spec_default(). */
typedef struct cellar_noisy_spec {
    const size_t *n_levels; /* of each variable */
    size_t n_variables;
    const char *const *names;        /* of the variables; NULL: "1", "2", ... */
    const int64_t *released;         /* every cell */
    const unsigned char *structural; /* 1: the cell is a structural zero; NULL: none is */
    const char *mechanism;           /* the spec, with the parameters of one cell */
    cellar_negatives negatives;
    int64_t threshold; /* 0: none */
} cellar_noisy_spec;

/* No values yet; negatives were kept, and there was no threshold. */
CELLAR_API cellar_noisy_spec cellar_noisy_spec_default(void);

/* Copies what it needs. Mechanisms that draw cells together are refused. On failure *out is NULL.
 */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_noisy_create(const cellar_noisy_spec *spec,
                                                              cellar_noisy **out,
                                                              cellar_error *err);

/* The table of `n` variables of a release (NULL: all of them), which brings its own mechanism. A
 * margin that was released is taken as released; any other is summed from the cells, with the
 * exact convolution of their noise, unless negatives were set to zero or the noise depends on the
 * count: then the distribution of a sum is not known, and it is refused with CELLAR_ERR_RULE
 * (intervals of sums are made from the cells). So are cell keys, tables drawn as a whole, and
 * releases of weighted counts, whose noise is not that of counts. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_noisy_from_release(const cellar_release *release,
                                                                    const size_t *variables,
                                                                    size_t n, cellar_noisy **out,
                                                                    cellar_error *err);
/* The same, every cell estimated from all values of a release with margins or hierarchies together,
 * by generalised least squares. Errors are then correlated: tests compare with the bootstrap only,
 * which draws all of the noise again. Refused (CELLAR_ERR_RULE) where cellar_interval_pooled()
 * is. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_noisy_pooled_from_release(const cellar_release *release, const size_t *variables, size_t n,
                                 cellar_noisy **out, cellar_error *err) CELLAR_NONNULL(1, 4);
CELLAR_API void cellar_noisy_free(cellar_noisy *noisy); /* NULL is fine */

/* The shape of the table: cells, variables, and the levels of each. */
CELLAR_API size_t cellar_noisy_n_cells(const cellar_noisy *noisy) CELLAR_NONNULL(1);
CELLAR_API size_t cellar_noisy_n_variables(const cellar_noisy *noisy) CELLAR_NONNULL(1);
CELLAR_API size_t cellar_noisy_n_levels(const cellar_noisy *noisy, size_t variable)
    CELLAR_NONNULL(1);
CELLAR_API const char *cellar_noisy_variable(const cellar_noisy *noisy, size_t variable)
    CELLAR_NONNULL(1);
/* The code of a level; of numbers from anywhere its position, from 1. */
CELLAR_API const char *cellar_noisy_code(const cellar_noisy *noisy, size_t variable, size_t level);
CELLAR_API int64_t cellar_noisy_released(const cellar_noisy *noisy, size_t cell);
/* 1: the value was below the threshold of a release that suppresses such values; it is held as 0.
 */
CELLAR_API int cellar_noisy_is_suppressed(const cellar_noisy *noisy, size_t cell);
CELLAR_API int cellar_noisy_is_structural(const cellar_noisy *noisy, size_t cell);
CELLAR_API const char *cellar_noisy_mechanism(const cellar_noisy *noisy); /* the canonical spec */
CELLAR_API cellar_negatives cellar_noisy_negatives(const cellar_noisy *noisy);
/* How many released cells each number is the sum of; 1 for numbers as released. */
CELLAR_API uint64_t cellar_noisy_n_summed(const cellar_noisy *noisy) CELLAR_NONNULL(1);

/* ---- log-linear models ------------------------------------------------------- */

/* What the statistic is compared with. */
typedef enum cellar_reference {
    CELLAR_REFERENCE_CHI_SQUARE,
    CELLAR_REFERENCE_BOOTSTRAP /* tables drawn from the fitted model, noise included */
} cellar_reference;

/* Start from cellar_test_options_default(). */
typedef struct cellar_test_options {
    cellar_reference reference; /* [chi-square] */
    uint64_t n_replicates;      /* of the bootstrap [999] */
    uint64_t seed;              /* of the bootstrap [1] */
    int with_residuals;         /* 1: standardised residuals too */
    int n_threads;              /* 0: one per processor; the answer is the same */
    cellar_progress progress;
} cellar_test_options;

/* The values in brackets. */
CELLAR_API cellar_test_options cellar_test_options_default(void);

/* A likelihood ratio test of a model within another. */
typedef struct cellar_test {
    double statistic; /* twice the logarithm of the ratio of maximised likelihoods */
    double pearson;   /* the naive test only: Pearson's chi-square; else NAN */
    double df;
    double p_value;            /* by the reference asked for */
    double chi_square_p_value; /* by chi-square */
    double total;              /* of the numbers tested */
} cellar_test;

/* How far the maximisation can be trusted, and the chi-square reference. */
typedef struct cellar_test_quality {
    int converged;            /* both fits */
    int same_from_all_starts; /* every starting point led to the same maximum */
    size_t n_iterations;
    double smallest_expected; /* of the model's means */
    double information;       /* what the noise leaves of the information of the counts, 0..1 */
    size_t n_failed;          /* replicates of the bootstrap that did not converge */
    int chi_square_is_off; /* 1: not a reference to rely on (docs/inference.md): less than 95 % of
                              the information is left, or fewer than 5 are expected somewhere */
} cellar_test_quality;

typedef struct cellar_loglinear cellar_loglinear;

/* Tests the hierarchical log-linear model `model`, such as "a*b + c", within `against` (NULL: the
 * saturated model). Names with other characters than letters, digits, '_', '.' and '-' stand in
 * double quotes; "1" is the model without variables. The naive test beside it takes the numbers,
 * negatives as zeros, for counts. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_loglinear_create(
    const cellar_noisy *noisy, const char *model, const char *against,
    const cellar_test_options *options, cellar_loglinear **out, cellar_error *err);
CELLAR_API void cellar_loglinear_free(cellar_loglinear *test); /* NULL is fine */

/* The test that knows the noise, the naive one, and how far both can be trusted. */
CELLAR_API cellar_test cellar_loglinear_aware(const cellar_loglinear *test) CELLAR_NONNULL(1);
CELLAR_API cellar_test cellar_loglinear_naive(const cellar_loglinear *test) CELLAR_NONNULL(1);
CELLAR_API cellar_test_quality cellar_loglinear_quality(const cellar_loglinear *test)
    CELLAR_NONNULL(1);

/* A cell under the model. Residuals are NAN unless asked for, and where nothing is left to differ.
 */
typedef struct cellar_loglinear_cell {
    double expected;       /* the count the model expects */
    double residual;       /* standardised: the score for a mean of its own, over its sd */
    double naive_expected; /* the same for the naive fit */
    double naive_residual;
} cellar_loglinear_cell;

/* A cell by its position. */
CELLAR_API cellar_loglinear_cell cellar_loglinear_cell_at(const cellar_loglinear *test, size_t cell)
    CELLAR_NONNULL(1);

/* The level of a variable with the largest total of released values: what others are compared
 * with. */
CELLAR_API size_t cellar_noisy_largest_level(const cellar_noisy *noisy, size_t variable);

/* ---- association in two-way tables -------------------------------------------- */

/* An estimate with an interval; ends may be infinite. */
typedef struct cellar_interval_estimate {
    double value, low, high;
} cellar_interval_estimate;

/* The odds ratio of rows i and `row`, columns j and `column`, by the profile of the likelihood of
 * the four cells. `naive` takes the numbers for counts (Woolf, with 1/2 added if one is not
 * positive). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_odds_ratio(
    const cellar_noisy *noisy, const size_t rows[2], const size_t columns[2], double confidence,
    cellar_interval_estimate *aware, cellar_interval_estimate *naive, cellar_error *err);

/* Cramer's V of the means: the maximum likelihood value less its bias, with an interval, both from
 * `options->n_replicates` seeded tables drawn from the fitted means, noise included. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cramers_v(const cellar_noisy *noisy,
                                                           double confidence,
                                                           const cellar_test_options *options,
                                                           cellar_interval_estimate *aware,
                                                           double *naive, cellar_error *err);

/* ---- the binomial test ---------------------------------------------------------- */

typedef struct cellar_binomial_spec {
    uint64_t n_trials;
    double null;        /* the probability tested */
    double alternative; /* compute the power there; NAN: do not */
    double level;       /* of the test whose power it is [0.05] */
    double critical;    /* reject above this value; NAN: the one whose level is nearest */
    const char *mechanism;
    cellar_negatives negatives;
} cellar_binomial_spec;

typedef struct cellar_binomial_test {
    double statistic;
    double p_value;       /* by chi-square with one degree of freedom */
    double exact_p_value; /* P(a statistic at least as large), by enumeration of all numbers */
    double estimate;      /* of the probability */
} cellar_binomial_test;

typedef struct cellar_binomial {
    cellar_binomial_test aware, naive;
    /* By enumeration. Power is that at the alternative, NAN without one. */
    double critical_value;                     /* the aware test rejects above it */
    double exact_level, power;                 /* of the aware test with the critical value */
    double chi_square_critical;                /* the quantile of chi-square */
    double chi_square_level, chi_square_power; /* of the aware test with chi-square's quantile */
    double naive_level, naive_power;           /* of the naive test with chi-square's quantile */
} cellar_binomial;

/* a ~ Binomial(n_trials, p), at most 1000000 trials, was released as `released`: tests p = null by
 * the likelihood ratio that knows the noise, with its exact distribution ("Confidentiality and
 * differential privacy in the dissemination of frequency tables", section 6.2). Numbers that are
 * less likely than 1e-17 are left out. What is enumerated is NAN where that would take more than
 * seconds: noise that depends on the count and more than about 3000 trials, or noise as wide. */
CELLAR_API cellar_binomial_spec cellar_binomial_spec_default(void);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_binomial_run(const cellar_binomial_spec *spec,
                                                              int64_t released,
                                                              cellar_binomial *out,
                                                              cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
