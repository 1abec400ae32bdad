/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals for counts behind released values: cells, margins, and two of them compared. */
#ifndef CELLAR_INTERVAL_H
#define CELLAR_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/inference.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sets of cells ------------------------------------------------------------ */

typedef struct cellar_cell_set cellar_cell_set;

/* Reads "sex=F; region=1,2": the cells with one of these codes of each variable named; variables
 * that are not named are summed over, and "" is every cell. Codes that hold a separator stand in
 * double quotes, a doubled quote in them stands for one. Structural zeros are left out. On failure
 * *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cell_set_parse(const cellar_noisy *noisy,
                                                                const char *text,
                                                                cellar_cell_set **out,
                                                                cellar_error *err);
/* The variables of a release that such a text names, added to those in `variables` (room for
 * CELLAR_MAX_VARIABLES) each once: the table to ask for. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cell_set_variables(const cellar_release *release,
                                                                    const char *text,
                                                                    size_t *variables, size_t *n,
                                                                    cellar_error *err);
/* One cell by its position. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cell_set_create_one(const cellar_noisy *noisy,
                                                                     size_t cell,
                                                                     cellar_cell_set **out,
                                                                     cellar_error *err)
    CELLAR_NONNULL(1);
CELLAR_API void cellar_cell_set_free(cellar_cell_set *set); /* NULL is fine */
CELLAR_API size_t cellar_cell_set_n_cells(const cellar_cell_set *set) CELLAR_NONNULL(1);

/* The table that holds the sets of one or two such texts (`other` may be NULL): the margin of the
 * variables they name as it was released, or the cells where its distribution is not known. Free it
 * with cellar_noisy_free(). On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_noisy_for_sets(const cellar_release *release,
                                                                const char *of, const char *other,
                                                                cellar_noisy **out,
                                                                cellar_error *err)
    CELLAR_NONNULL(1);

/* ---- intervals ------------------------------------------------------------------ */

/* What the interval is for. */
typedef enum cellar_interval_target {
    CELLAR_TARGET_TABLE,     /* the counts themselves: only the noise is uncertain */
    CELLAR_TARGET_POPULATION /* the means that made the counts: noise and sampling */
} cellar_interval_target;

typedef enum cellar_prior {
    CELLAR_PRIOR_NONE,      /* a confidence interval */
    CELLAR_PRIOR_UNIFORM,   /* every count 0, 1, 2, ... is as likely as any other */
    CELLAR_PRIOR_RECIPROCAL /* count a has weight 1/(a+1): small ones are likelier */
} cellar_prior;

typedef enum cellar_comparison {
    CELLAR_COMPARE_NONE,       /* the count of a set */
    CELLAR_COMPARE_DIFFERENCE, /* of two sets */
    CELLAR_COMPARE_RATIO,      /* of two sets without common cells */
    CELLAR_COMPARE_PROPORTION  /* of a set within another */
} cellar_comparison;

/* Start from cellar_interval_options_default(). */
typedef struct cellar_interval_options {
    cellar_interval_target target; /* [table] */
    cellar_prior prior;            /* [none]; others are for counts of the table */
    double confidence;             /* [0.95] */
    uint64_t n_simultaneous;       /* intervals that shall hold together (Sidak) [1] */
} cellar_interval_options;

typedef struct cellar_interval {
    double estimate;              /* NAN: with a suppressed cell the released values give none */
    double low, high;             /* counts: both ends belong to it; high may be infinite */
    double confidence;            /* of this interval, when several hold together */
    double naive;                 /* what the released values say, taken for counts; NAN when one is
                                     suppressed */
    double naive_low, naive_high; /* target population: the naive interval; else NAN */
    uint64_t n_noises;            /* released values that were summed */
    int conservative;             /* 1: from limits of the parts, wider than need be */
} cellar_interval;

/* The values in brackets. */
CELLAR_API cellar_interval_options cellar_interval_options_default(void);

/* The interval of a set, or of two compared (`other` is NULL for CELLAR_COMPARE_NONE). Confidence
 * intervals for the table cover with at least the confidence, whatever the counts, by the exact
 * distribution of the noise. Where negatives were set to zero, or the noise depends on the count,
 * the distribution of a sum depends on its parts: intervals of sums and of comparisons are then
 * made from limits of the parts, for the table and for the population, and cover with at least the
 * confidence too. With a prior each of these parts has the prior; elsewhere the sum has it. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_interval_run(
    const cellar_noisy *noisy, const cellar_cell_set *set, cellar_comparison comparison,
    const cellar_cell_set *other, const cellar_interval_options *options, cellar_interval *out,
    cellar_error *err);

/* The interval of a set of inner cells (less those of `minus`; NULL: none) from all values of a
 * release with margins or hierarchies together, by generalised least squares: narrower than from
 * the values of one margin. Covers with at least the confidence, by the distribution of the
 * weighted noise. For the table, without a prior. Refused (CELLAR_ERR_RULE): releases without
 * margins, that set small values to zero, with weights, or with other noise than discrete-laplace
 * and discrete-gaussian. The naive values are NAN. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_interval_pooled(const cellar_release *release, const char *of, const char *minus,
                       const cellar_interval_options *options, cellar_interval *out,
                       cellar_error *err) CELLAR_NONNULL(1, 2);
/* The same from several releases of the same people, as cellar_adjustment_create() takes them: the
 * first has all variables. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_interval_fitted(const cellar_release *const *releases, size_t n_releases, const char *of,
                       const char *minus, const cellar_interval_options *options,
                       cellar_interval *out, cellar_error *err) CELLAR_NONNULL(1, 3);

/* The same straight from a release, with sets as texts: of one cell or sum "sex=F; region=1", or of
 * two compared. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_release_interval(const cellar_release *release, const char *of, cellar_comparison comparison,
                        const char *other, const cellar_interval_options *options,
                        cellar_interval *out, cellar_error *err) CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
