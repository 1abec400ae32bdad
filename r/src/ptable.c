/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transition matrices (perturbation tables): designed, read, written. */
#include "routines.h"

/* The matrix of a design lives in its mechanism: it goes out through one text and comes back as a
 * matrix of its own, so that both kinds are one. */
SEXP cellar_r_design_matrix(SEXP spec, SEXP path)
{
    SEXP handle = PROTECT(glue_new(GLUE_MATRIX));
    const char *text = glue_utf8(spec), *name = glue_utf8(path);
    cellar_mechanism *mechanism = NULL;
    cellar_matrix *matrix = NULL;
    cellar_output *output = NULL;
    cellar_error err;
    cellar_status status = cellar_mechanism_create(text, &mechanism, &err);
    if (status == CELLAR_OK)
        status = cellar_output_open(name, NULL, &output, &err);
    if (status == CELLAR_OK)
        status = cellar_matrix_write(cellar_mechanism_matrix(mechanism), CELLAR_MATRIX_PTABLE, 0,
                                     output, &err);
    if (status == CELLAR_OK)
        status = cellar_output_commit(output, &err);
    else
        cellar_output_discard(output);
    if (status == CELLAR_OK)
        status = cellar_matrix_read(name, CELLAR_MATRIX_LARGE_DEFAULT, &matrix, &err);
    cellar_mechanism_free(mechanism);
    glue_put(handle, matrix);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

SEXP cellar_r_read_matrix(SEXP path, SEXP large)
{
    SEXP handle = PROTECT(glue_new(GLUE_MATRIX));
    const char *name = glue_utf8(path);
    const cellar_matrix_large rule = (cellar_matrix_large) Rf_asInteger(large);
    cellar_matrix *matrix = NULL;
    cellar_error err;
    const cellar_status status = cellar_matrix_read(name, rule, &matrix, &err);
    glue_put(handle, matrix);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

SEXP cellar_r_write_matrix(SEXP handle, SEXP path, SEXP options)
{
    const cellar_matrix *matrix = glue_get(handle, GLUE_MATRIX);
    const char *name = glue_utf8(path);
    const cellar_matrix_layout layout = (cellar_matrix_layout) glue_whole(options, "layout", 0);
    const uint64_t n_keys = (uint64_t) glue_whole(options, "keys", 0);
    const cellar_output_options how = {.replace = (int) glue_whole(options, "replace", 0),
                                       .shared = 1};
    cellar_matrix *rounded = NULL;
    cellar_output *output = NULL;
    cellar_error err;
    cellar_status status = CELLAR_OK;
    if (n_keys > 0 && n_keys != cellar_matrix_n_keys(matrix))
        status = cellar_matrix_create_rounded(matrix, n_keys, &rounded, &err);
    if (status == CELLAR_OK)
        status = cellar_output_open(name, &how, &output, &err);
    if (status == CELLAR_OK)
        status = cellar_matrix_write(rounded != NULL ? rounded : matrix, layout, 0, output, &err);
    if (status == CELLAR_OK)
        status = cellar_output_commit(output, &err);
    else
        cellar_output_discard(output);
    cellar_matrix_free(rounded);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}

static SEXP rows_of(const cellar_matrix *matrix)
{
    static const char *const names[] = {"count",    "lowest",  "highest", "bias",
                                        "variance", "entropy", "stay",    NULL};
    const size_t n = cellar_matrix_n_rows(matrix);
    SEXP list = PROTECT(glue_list(names));
    double *columns[7];
    for (R_xlen_t c = 0; c < 7; c++)
        columns[c] = glue_reals(list, c, n);
    for (size_t r = 0; r < n; r++) {
        cellar_matrix_row row;
        cellar_matrix_row_at(matrix, r, &row);
        columns[0][r] = (double) row.count;
        columns[1][r] = (double) row.lowest;
        columns[2][r] = (double) row.highest;
        columns[3][r] = row.bias;
        columns[4][r] = row.variance;
        columns[5][r] = row.entropy;
        columns[6][r] = row.stay;
    }
    UNPROTECT(1);
    return list;
}

/* i, j, p, v as R's ptable calls them: count, released value, probability, change. */
static SEXP probabilities_of(const cellar_matrix *matrix)
{
    static const char *const names[] = {"i", "j", "p", "v", NULL};
    const size_t n_rows = cellar_matrix_n_rows(matrix);
    size_t n = 0, at = 0;
    SEXP list = PROTECT(glue_list(names));
    double *columns[4];
    cellar_matrix_row row;
    for (size_t r = 0; r < n_rows; r++) {
        cellar_matrix_row_at(matrix, r, &row);
        n += row.n_changes;
    }
    for (R_xlen_t c = 0; c < 4; c++)
        columns[c] = glue_reals(list, c, n);
    for (size_t r = 0; r < n_rows; r++) {
        cellar_matrix_row_at(matrix, r, &row);
        for (size_t i = 0; i < row.n_changes; i++, at++) {
            const double change = (double) cellar_matrix_change(matrix, r, i);
            columns[0][at] = (double) row.count;
            columns[1][at] = (double) row.count + change;
            columns[2][at] = cellar_matrix_probability(matrix, r, i);
            columns[3][at] = change;
        }
    }
    UNPROTECT(1);
    return list;
}

SEXP cellar_r_matrix_facts(SEXP handle)
{
    static const char *const names[] = {"digest", "large",      "keys",  "largest_change",
                                        "rows",   "difference", "cells", NULL};
    const cellar_matrix *matrix = glue_get(handle, GLUE_MATRIX);
    const int rotates = cellar_matrix_large_rule(matrix) == CELLAR_MATRIX_LARGE_ROTATE;
    SEXP list = PROTECT(glue_list(names));
    uint64_t count;
    SET_VECTOR_ELT(list, 0, glue_string(cellar_matrix_digest(matrix)));
    SET_VECTOR_ELT(list, 1, glue_string(rotates ? "rotate" : "last"));
    SET_VECTOR_ELT(list, 2, glue_number((double) cellar_matrix_n_keys(matrix)));
    SET_VECTOR_ELT(list, 3, glue_number((double) cellar_matrix_largest_change(matrix)));
    SET_VECTOR_ELT(list, 4, rows_of(matrix));
    SET_VECTOR_ELT(list, 5, glue_number(cellar_matrix_difference(matrix, &count)));
    SET_VECTOR_ELT(list, 6, probabilities_of(matrix));
    UNPROTECT(1);
    return list;
}
