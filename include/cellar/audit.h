/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reconstruction by linear programming: what somebody can work out about the cells of a table from
 * several tables about the same people, released with noise or published as they are. */
#ifndef CELLAR_AUDIT_H
#define CELLAR_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/progress.h>
#include <cellar/release.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The attack, done. Of releases alone it is public; of true counts it is confidential. */
typedef struct cellar_audit cellar_audit;

/* Start from cellar_audit_options_default(). */
typedef struct cellar_audit_options {
    double confidence;  /* with which all limits of released values hold together [0.95] */
    uint64_t max_cells; /* refuse more combinations of the categories of all files [20000] */
    cellar_progress progress;
} cellar_audit_options;

/* The values in brackets. */
CELLAR_API cellar_audit_options cellar_audit_options_default(void);

/* Every combination of the leaves of all variables that some file has is a cell. Every value of a
 * table says exactly what a sum of cells is; every value of a release gives limits of it, the exact
 * confidence limits of its count, so narrow that all of them hold together. A linear programme
 * finds the least and the largest number that each cell can have so, none of them negative.
 * `releases` and `tables` may be NULL when there are none; they count the same people, and
 * variables of one name have the same categories.
 *
 * Refused (CELLAR_ERR_RULE): weighted sums, cell keys and tables drawn as a whole, and files that
 * no table fits. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_audit_create(
    const cellar_release *const *releases, size_t n_releases, const cellar_table *const *tables,
    size_t n_tables, const cellar_audit_options *options, cellar_audit **out, cellar_error *err)
    CELLAR_NONNULL(5, 6);
CELLAR_API void cellar_audit_free(cellar_audit *audit); /* NULL is fine */

/* The variables of all files together, in the order of the files. */
CELLAR_API size_t cellar_audit_n_variables(const cellar_audit *audit) CELLAR_NONNULL(1);
CELLAR_API const char *cellar_audit_variable(const cellar_audit *audit, size_t variable)
    CELLAR_NONNULL(1);

enum { CELLAR_AUDIT_NO_LIMIT = -1 };

/* What is known of a cell. */
typedef struct cellar_audit_cell {
    uint64_t index;
    int64_t low, high; /* of its count, both possible up to rounding to whole numbers of the linear
                          programme's limits; `high` may be CELLAR_AUDIT_NO_LIMIT */
    int64_t guess;     /* of the table whose sums differ least from all values together */
} cellar_audit_cell;

/* Cells by how much is known: first those that are surely not empty and have one possible count,
 * the smallest first; then others that are surely not empty; then the rest, each by width. */
CELLAR_API size_t cellar_audit_n_cells(const cellar_audit *audit) CELLAR_NONNULL(1);
CELLAR_API cellar_audit_cell cellar_audit_cell_at(const cellar_audit *audit, size_t position)
    CELLAR_NONNULL(1);
/* The code of a variable in a cell; it lives as long as the audit. */
CELLAR_API const char *cellar_audit_code(const cellar_audit *audit, uint64_t index, size_t variable)
    CELLAR_NONNULL(1);

typedef struct cellar_audit_summary {
    size_t n_values;         /* that were used, exact ones among them */
    size_t n_exact;          /* that leave their sum no choice */
    size_t n_pinned;         /* cells with one possible count */
    size_t n_pinned_present; /* of these, with a count above 0 */
    size_t n_pinned_ones;    /* and with a count of 1: somebody is singled out */
    size_t n_present;        /* cells that are surely not empty */
    uint64_t n_located;      /* the sum of `low`: so many people have a known cell */
    double mean_width;       /* of high - low, over cells that have limits; NAN without any */
} cellar_audit_summary;

/* Everything that is known, in numbers. */
CELLAR_API cellar_audit_summary cellar_audit_summarize(const cellar_audit *audit) CELLAR_NONNULL(1);

/* How the attack did, against the true counts: confidential. */
typedef struct cellar_audit_score {
    size_t n_present;         /* cells that truly have records */
    size_t n_held;            /* cells whose count lies within the limits */
    size_t n_guessed;         /* cells whose count was guessed */
    size_t n_present_guessed; /* of these, with records */
    double mean_error;        /* of |guess - count| over cells */
} cellar_audit_score;

/* `truth` has all variables of the audit, and may have more. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_audit_compare(const cellar_audit *audit,
                                                               const cellar_table *truth,
                                                               cellar_audit_score *out,
                                                               cellar_error *err)
    CELLAR_NONNULL(1, 2, 3);

#ifdef __cplusplus
}
#endif

#endif
