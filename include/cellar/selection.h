/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which columns can be published together, and which values to redact so that few people stand out.
 * Computed from true counts, so confidential. */
#ifndef CELLAR_SELECTION_H
#define CELLAR_SELECTION_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/exposure.h>
#include <cellar/status.h>
#include <cellar/table.h>
#include <cellar/tabulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- profiles: the distinct rows of a file, and how many people have each ---- */

/* Unlike a table's, the domains' product may be as large as it likes. */
typedef struct cellar_profiles cellar_profiles;

/* The profiles of the columns `variables` of a table. On failure *out is NULL; so below. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_profiles_create(const cellar_table *table,
                                                                 const size_t *variables, size_t n,
                                                                 cellar_profiles **out,
                                                                 cellar_error *err);
/* The profiles of a data file. Of `spec` the path, the reader, the variables, missing values,
 * conditions, threads and progress are used; weights, units, record keys, margins and rules are
 * refused. `report` may be NULL. The result does not depend on the number of threads. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_profiles_read(const cellar_tabulate_spec *spec,
                                                               cellar_profiles **out,
                                                               cellar_row_report *report,
                                                               cellar_error *err) CELLAR_NONNULL(1);
CELLAR_API void cellar_profiles_free(cellar_profiles *profiles); /* NULL is fine */
CELLAR_API size_t cellar_profiles_n_columns(const cellar_profiles *profiles) CELLAR_NONNULL(1);
CELLAR_API const char *cellar_profiles_column(const cellar_profiles *profiles, size_t column)
    CELLAR_NONNULL(1);
CELLAR_API size_t cellar_profiles_n_levels(const cellar_profiles *profiles, size_t column)
    CELLAR_NONNULL(1);
CELLAR_API const char *cellar_profiles_level(const cellar_profiles *profiles, size_t column,
                                             size_t level) CELLAR_NONNULL(1);
CELLAR_API size_t cellar_profiles_n_rows(const cellar_profiles *profiles) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_profiles_n_people(const cellar_profiles *profiles) CELLAR_NONNULL(1);

/* The exposure curve of some of the columns, in any order. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_exposure_curve_from_profiles(
    const cellar_profiles *profiles, const size_t *columns, size_t n, cellar_exposure_curve **out,
    cellar_error *err) CELLAR_NONNULL(1);

/* ---- columns ---- */

typedef enum cellar_selection_measure {
    CELLAR_SELECTION_KNOWN,      /* exposure itself, at t = k/n */
    CELLAR_SELECTION_BOUNDED,    /* the bound from single columns: looks at nothing else */
    CELLAR_SELECTION_ESTIMATED,  /* statistical exposure of `population` other people */
    CELLAR_SELECTION_INDEPENDENT /* from single columns, if they are independent but for the
                                    tolerance: cellar_exposure_independent(), but no less than the
                                    most exposed column and no more than cellar_exposure_bounds() */
} cellar_selection_measure;

typedef struct cellar_selection_options {
    cellar_selection_measure measure;
    uint64_t k;               /* required, from 1 */
    double exposure;          /* at most this; required: NAN until the caller decides */
    uint64_t population;      /* estimated: of how many people [as many as there are] */
    double tolerance;         /* independent: from 0 to below 1 */
    const double *weights;    /* how useful each column is, above 0; NULL: all alike */
    uint64_t must, must_not;  /* masks of columns */
    size_t n_runners_up;      /* how many of the next best sets to report */
    uint64_t max_evaluations; /* of an exposure, then the search stops [1000000 when 0] */
    int n_threads;            /* 0: one per processor; the answer is the same */
    cellar_progress progress;
} cellar_selection_options;

/* The values in brackets; k and exposure are required. */
CELLAR_API cellar_selection_options cellar_selection_options_default(void);

typedef struct cellar_selection_set {
    uint64_t columns; /* a mask */
    double weight;
    double exposure;
} cellar_selection_set;

typedef struct cellar_selection cellar_selection;

/* The set of columns with the largest sum of weights whose exposure is allowed, by branch and
 * bound: adding a column never lowers any of the measures. At most 64 columns. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_selection_create(const cellar_profiles *profiles, const cellar_selection_options *options,
                        cellar_selection **out, cellar_error *err);
/* The same when nothing is known but single columns: the curves of n columns of the same people.
 * The measure must be CELLAR_SELECTION_BOUNDED or CELLAR_SELECTION_INDEPENDENT. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_selection_from_curves(
    const cellar_exposure_curve *const *curves, size_t n, const cellar_selection_options *options,
    cellar_selection **out, cellar_error *err);
CELLAR_API void cellar_selection_free(cellar_selection *selection); /* NULL is fine */
/* 0 when not even the columns that must be there are allowed. The best set comes first, then the
 * runners-up: sets to which no column can be added. */
CELLAR_API size_t cellar_selection_n_sets(const cellar_selection *selection) CELLAR_NONNULL(1);
CELLAR_API cellar_selection_set cellar_selection_set_at(const cellar_selection *selection,
                                                        size_t position) CELLAR_NONNULL(1);
/* How much heavier than the best set found an allowed set may be: 0 when the search ended. */
CELLAR_API double cellar_selection_gap(const cellar_selection *selection) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_selection_n_evaluations(const cellar_selection *selection)
    CELLAR_NONNULL(1);
/* The exposure of the best set with one more column; NAN for a column that is in it. */
CELLAR_API double cellar_selection_with(const cellar_selection *selection, size_t column)
    CELLAR_NONNULL(1);

/* ---- local suppression and randomised redaction (section 8.1) ---- */

typedef struct cellar_suppression_options {
    uint64_t k;               /* required, from 1 */
    double exposure;          /* at most this; required: NAN until the caller decides */
    double hide;              /* in (0,1]: of the redactions of a column at most this share may come
                                 from the rules, on average, the others being random; 1: none are
                                 random. Required: NAN until the caller decides */
    uint64_t max_evaluations; /* [100000 when 0] */
    cellar_progress progress;
} cellar_suppression_options;

/* The values in brackets; k, exposure and hide are required. */
CELLAR_API cellar_suppression_options cellar_suppression_options_default(void);

/* "Whoever has this value in this column redacts it." */
typedef struct cellar_suppression_rule {
    size_t column, level;
    uint64_t n_people; /* who have it */
} cellar_suppression_rule;

typedef struct cellar_suppression_summary {
    double before;          /* exposure with nothing redacted, a redacted entry being a level */
    double after_rules;     /* after the rules and the columns that everybody redacts */
    double after;           /* expected, after the random redactions as well */
    uint64_t lost_to_rules; /* entries */
    double lost_to_chance;  /* entries, expected; with those of columns that everybody redacts */
    double gap;             /* no redactions that will do lose fewer entries, by rules and chance
                               together, by more than this; 0: these are the fewest */
    int met;                /* 1: `after` is at most what was asked for. 0 only when there are fewer
                               than k people: then nothing helps, and nothing is redacted */
    uint64_t n_evaluations;
} cellar_suppression_summary;

typedef struct cellar_suppression cellar_suppression;

/* Redactions that lose as few entries as possible. Finding the fewest is NP-hard: without random
 * redactions the search is exact for up to 64 pairs of column and value, with them for up to 64
 * pairs and columns, as long as max_evaluations do, and its gap is reported in any case. With them
 * the chance of a column is the least that hides its rules; where that would be 1 or more, the
 * column has no rules and everybody redacts it (its chance is 1), so that a redaction reveals
 * nothing. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_suppression_create(
    const cellar_profiles *profiles, const cellar_suppression_options *options,
    cellar_suppression **out, cellar_error *err);
CELLAR_API void cellar_suppression_free(cellar_suppression *suppression); /* NULL is fine */
CELLAR_API cellar_suppression_summary
cellar_suppression_summarise(const cellar_suppression *suppression) CELLAR_NONNULL(1);
CELLAR_API size_t cellar_suppression_n_rules(const cellar_suppression *suppression)
    CELLAR_NONNULL(1);
CELLAR_API cellar_suppression_rule cellar_suppression_rule_at(const cellar_suppression *suppression,
                                                              size_t position) CELLAR_NONNULL(1);
/* The probability with which everybody else redacts the column too. */
CELLAR_API double cellar_suppression_chance(const cellar_suppression *suppression, size_t column)
    CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
