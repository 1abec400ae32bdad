/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an analyst loses: how far released values are from the true ones, cell by cell, in margins
 * and in statistics. Everything computed here is an assessment: confidential. */
#ifndef CELLAR_UTILITY_H
#define CELLAR_UTILITY_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/mechanism.h>
#include <cellar/progress.h>
#include <cellar/release.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_utility cellar_utility; /* an assessment; immutable */

/* Propensity models beside the saturated one; they may be added. */
enum {
    CELLAR_PROPENSITY_LOGISTIC = 1, /* main effects and pairs */
    CELLAR_PROPENSITY_TREE = 2      /* a regression tree */
};

/* Start from cellar_utility_options_default(). Arrays stay the caller's. */
typedef struct cellar_utility_options {
    cellar_negatives negatives; /* of simulated copies [keep] */
    int64_t threshold;          /* released values below it become 0; needs negatives zero [0] */
    uint64_t copies;            /* simulated copies; 0: exact expectations only [100] */
    uint64_t seed;              /* [1] */
    const uint64_t *counts;     /* original counts that are looked at one by one, ascending; */
    size_t n_counts;            /* larger ones are taken together [0..10] */
    const uint64_t *radii;      /* the r of P(|b-a| <= r), ascending [0..4] */
    size_t n_radii;
    size_t max_ways;     /* margins of up to so many variables, at most 3 [3] */
    unsigned propensity; /* fit these models to each copy, CELLAR_PROPENSITY_... [0] */
    size_t top;          /* how many of the largest cells are ranked, at most 1000 [10] */
    int n_threads;       /* 0: one per processor; the result is the same */
    cellar_progress progress;
} cellar_utility_options;

/* The values in brackets. */
CELLAR_API cellar_utility_options cellar_utility_options_default(void);

/* Draws seeded copies of the table with the mechanism of `spec` (for each cell), compares each with
 * the table, and adds exact expectations where a sum over the distribution gives them. Of a
 * weighted table the sums, rounded half up, stand for counts; one whose weights have no bound is
 * refused (CELLAR_ERR_RULE). Takes joint mechanisms of unweighted tables, too:
 * "multinomial-dirichlet:..." has no expectations, and "cell-key:..." makes the one copy that the
 * keys of the table's records determine, beside the expectations over fresh keys. On failure *out
 * is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_utility_assess(
    const cellar_table *table, const char *spec, const cellar_utility_options *options,
    cellar_utility **out, cellar_error *err);

/* Compares a release with the table it was made from: one copy, and the expectations of its
 * mechanism. Variables may come in another order; their categories must be the same, by code.
 * Negatives, threshold, copies and seed of `options` are ignored. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_utility_compare(
    const cellar_table *table, const cellar_release *release, const cellar_utility_options *options,
    cellar_utility **out, cellar_error *err);

/* The same for perturbed counts that another program wrote, without a certificate: a CSV file with
 * a column for each variable of the table and `column` with whole numbers (NULL: `count`, or the
 * only other column), separated by commas, semicolons or tabs. Cells that it does not list are
 * zero. Totals may be _T, Total, Tot, All, nothing or the code list's; margins and upper levels are
 * compared with the true ones. There are no expectations. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_utility_compare_file(
    const cellar_table *table, const char *path, const char *column,
    const cellar_utility_options *options, cellar_utility **out, cellar_error *err);
CELLAR_API void cellar_utility_free(cellar_utility *utility); /* NULL is fine */

/* ---- what was found -------------------------------------------------------------- */

/* Of the true table: Pearson's chi-square, G-square and Cramer's V of the independence of two
 * variables, or of the mutual independence of more (without V). Empty rows and columns leave the
 * degrees of freedom. NAN where there is nothing to test. */
typedef struct cellar_association {
    double total;
    double chi_square, g_square, df, cramers_v;
    double p_chi_square, p_g_square;
} cellar_association;
CELLAR_API cellar_association cellar_utility_original(const cellar_utility *utility)
    CELLAR_NONNULL(1);

/* The canonical spec; the copies that were compared; cells of leaves, structural zeros left out. */
CELLAR_API const char *cellar_utility_mechanism(const cellar_utility *utility) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_utility_n_copies(const cellar_utility *utility) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_utility_n_cells(const cellar_utility *utility) CELLAR_NONNULL(1);

/* A measure and its values in the copies (docs/utility.md defines each). Numbers that do not exist
 * are NAN. Strings live as long as the assessment. */
typedef struct cellar_utility_result {
    const char *measure;
    const char *variables; /* of a margin or pair, "a,b"; or NULL */
    int64_t count;         /* the original count; -1: any */
    int is_above;          /* 1: original counts above `count` */
    int64_t radius;        /* r; -1: none */
    uint64_t cells;        /* cells with that count; else all */
    uint64_t copies;       /* in which the measure exists */
    double original;       /* of the true table, for statistics */
    double mean, sd;       /* over copies; sd needs two */
    double expected;       /* exactly, over all copies */
    double minimum, quartile_1, median, quartile_3, maximum; /* over copies, interpolated */
} cellar_utility_result;
CELLAR_API size_t cellar_utility_n_results(const cellar_utility *utility) CELLAR_NONNULL(1);
CELLAR_API const cellar_utility_result *cellar_utility_result_at(const cellar_utility *utility,
                                                                 size_t index) CELLAR_NONNULL(1);

/* How values spread over cells (of one original count) or margins: what a box plot shows. */
enum { CELLAR_UTILITY_N_LEVELS = 7 };
/* 0, 0.05, 0.25, 0.5, 0.75, 0.95, 1. */
CELLAR_API double cellar_utility_level(size_t index);
/* What the values of a spread come from. */
typedef enum cellar_spread_source {
    CELLAR_SPREAD_COPIES,      /* all cells of all copies */
    CELLAR_SPREAD_DISTRIBUTION /* the distribution of the mechanism, exactly */
} cellar_spread_source;
/* The name in the JSON contract of docs/utility.md. */
CELLAR_API const char *cellar_spread_source_name(cellar_spread_source source);

typedef struct cellar_utility_spread {
    const char *measure; /* "absolute_difference", "relative_difference", "total_variation" */
    cellar_spread_source source;
    int64_t count; /* the original count; -1: any */
    size_t ways;   /* of margins; else 0 */
    double n;      /* values; NAN for a distribution */
    double mean;
    double quantiles[CELLAR_UTILITY_N_LEVELS]; /* the least value with so much at or below it */
} cellar_utility_spread;
/* The spreads that were computed. */
CELLAR_API size_t cellar_utility_n_spreads(const cellar_utility *utility) CELLAR_NONNULL(1);
CELLAR_API const cellar_utility_spread *cellar_utility_spread_at(const cellar_utility *utility,
                                                                 size_t index) CELLAR_NONNULL(1);

/* How far cells are from the true ones, margins included where the table has them, when one copy is
 * compared (a release, a file, cell keys); none for simulations. d1 is |b-a|, d2 |b-a|/a, d3
 * |sqrt(b)-sqrt(a)|, with b below zero taken for zero in d3. Cells with a = 0 have no d2, but for
 * those with b = 0 too, whose d2 is 0. */
enum { CELLAR_UTILITY_N_DISTANCE_LEVELS = 13 };
/* 0, 0.1, 0.2, ..., 0.9, 0.95, 0.99, 1. */
CELLAR_API double cellar_utility_distance_level(size_t index);
typedef struct cellar_utility_distance {
    const char *measure; /* "d1", "d2" or "d3" */
    int is_all;          /* 1: of all cells; 0: of those not released as zero */
    uint64_t n;          /* cells */
    double mean;
    double quantiles[CELLAR_UTILITY_N_DISTANCE_LEVELS]; /* interpolated */
} cellar_utility_distance;
CELLAR_API size_t cellar_utility_n_distances(const cellar_utility *utility);
CELLAR_API const cellar_utility_distance *cellar_utility_distance_at(const cellar_utility *utility,
                                                                     size_t index);

/* Sentences about what the numbers mean, for the reader. */
CELLAR_API size_t cellar_utility_n_notes(const cellar_utility *utility) CELLAR_NONNULL(1);
CELLAR_API const char *cellar_utility_note(const cellar_utility *utility, size_t index)
    CELLAR_NONNULL(1);

/* ---- grids at equal delta --------------------------------------------------------- */

/* The spec of a mechanism with an epsilon, completed so that its delta at that epsilon is at most
 * `delta`: truncated mechanisms get the smallest m, Gaussian ones are calibrated, those with a pure
 * epsilon stay as they are. Others, and specs that fix m or delta themselves, are refused. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_utility_equal_delta(const char *spec,
                                                                     const char *delta, char *out,
                                                                     size_t size,
                                                                     cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
