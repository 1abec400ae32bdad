/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transition matrices (perturbation tables): for each true count the exact probabilities of all
 * released values, and the ranges of cell keys that stand for them. */
#ifndef CELLAR_MATRIX_H
#define CELLAR_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/mechanism.h>
#include <cellar/output.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_matrix cellar_matrix; /* immutable; threads may share one */

/* How a matrix is written down (docs/file-formats.md). */
typedef enum cellar_matrix_layout {
    CELLAR_MATRIX_PTABLE,    /* i;j;p;v;p_int_ub, as ptable writes and tau-Argus reads it */
    CELLAR_MATRIX_ONS,       /* pcv,ckey,pvalue: a line per count and key */
    CELLAR_MATRIX_CANTABULAR /* cell_value,cell_key,perturbation: a line per range of keys */
} cellar_matrix_layout;

/* Which row serves counts beyond the last one. */
typedef enum cellar_matrix_large {
    CELLAR_MATRIX_LARGE_DEFAULT, /* for reading: rotate for the ONS layout, last for the others */
    CELLAR_MATRIX_LARGE_LAST,    /* the last row, shifted */
    CELLAR_MATRIX_LARGE_ROTATE   /* counts above 750 use rows 501..750 in turn, as ONS does */
} cellar_matrix_large;

/* A row, or the changes of a row put together. */
typedef struct cellar_matrix_row {
    uint64_t count;   /* the true count */
    size_t n_changes; /* how many released values are possible */
    int64_t lowest;   /* the smallest and the largest change */
    int64_t highest;
    double bias;     /* mean of the change */
    double variance; /* of the change */
    double entropy;  /* in nats */
    double stay;     /* P(no change) */
    double asked;    /* the variance asked for, of a design; NAN otherwise */
} cellar_matrix_row;

/* ---- life cycle ------------------------------------------------------------ */

/* Reads a file in any of the three layouts, which its header shows. Errors name file, line and
 * column. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_matrix_read(const char *path,
                                                             cellar_matrix_large large,
                                                             cellar_matrix **out,
                                                             cellar_error *err);

/* The same matrix with every key range rounded to multiples of 1/n_keys, so that it can be
 * written as a line per key; mean and variance move a little, and the rows then show it. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_matrix_create_rounded(const cellar_matrix *matrix,
                                                                       uint64_t n_keys,
                                                                       cellar_matrix **out,
                                                                       cellar_error *err);

CELLAR_API void cellar_matrix_free(cellar_matrix *matrix); /* NULL is fine */

/* The matrix a mechanism was made with (max-entropy, ptable), NULL for others. It belongs to the
 * mechanism. */
CELLAR_API const cellar_matrix *cellar_mechanism_matrix(const cellar_mechanism *mechanism)
    CELLAR_NONNULL(1);

/* ---- queries --------------------------------------------------------------- */

/* Rows, from count 0; the rule for counts beyond the last one. */
CELLAR_API size_t cellar_matrix_n_rows(const cellar_matrix *matrix) CELLAR_NONNULL(1);
CELLAR_API cellar_matrix_large cellar_matrix_large_rule(const cellar_matrix *matrix)
    CELLAR_NONNULL(1);
/* The number of keys the ranges are counted in, 0 when they are fractions of any key range. */
CELLAR_API uint64_t cellar_matrix_n_keys(const cellar_matrix *matrix) CELLAR_NONNULL(1);
/* 32 hexadecimal digits that no other matrix has. */
CELLAR_API const char *cellar_matrix_digest(const cellar_matrix *matrix) CELLAR_NONNULL(1);

/* One row with its moments. */
CELLAR_API void cellar_matrix_row_at(const cellar_matrix *matrix, size_t row,
                                     cellar_matrix_row *out) CELLAR_NONNULL(1, 3);
/* The i-th possible change of a row, ascending, and its probability. */
CELLAR_API int64_t cellar_matrix_change(const cellar_matrix *matrix, size_t row, size_t index);
CELLAR_API double cellar_matrix_probability(const cellar_matrix *matrix, size_t row, size_t index);

/* The largest change of any row, in absolute value. */
CELLAR_API uint64_t cellar_matrix_largest_change(const cellar_matrix *matrix);
/* The i-th number that no count is ever released as (among those from 0 to the last row's count),
 * ascending; -1 beyond the last. */
CELLAR_API int64_t cellar_matrix_forbidden(const cellar_matrix *matrix, size_t index);

/* What the matrix gives away when cell keys apply it: the largest probability, over true counts,
 * that a cell and the same cell with one record more are released as different numbers. For two
 * such cells in one release no delta of differential privacy is smaller, whatever epsilon. *count
 * is where. */
CELLAR_API double cellar_matrix_difference(const cellar_matrix *matrix, uint64_t *count)
    CELLAR_NONNULL(1);

/* ---- writing --------------------------------------------------------------- */

/* Adds the matrix to `output`, exactly: reading it back gives the same matrix. The layouts that
 * list keys need ranges that end on multiples of 1/n_keys (n_keys 0: those of the matrix) and
 * fail with CELLAR_ERR_ARGUMENT when they do not: see cellar_matrix_create_rounded(). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_matrix_write(const cellar_matrix *matrix,
                                                              cellar_matrix_layout layout,
                                                              uint64_t n_keys,
                                                              cellar_output *output,
                                                              cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
