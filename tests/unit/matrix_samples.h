/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small matrix, and matrices from texts, for the tests of matrices and of cell keys. */
#ifndef CELLAR_TESTS_MATRIX_SAMPLES_H
#define CELLAR_TESTS_MATRIX_SAMPLES_H

#include <string.h>

#include "check.h"
#include "mechanism/matrix/matrix.h"

static const char PTABLE[] = "i;j;p;v;p_int_ub\n"
                             "0;0;1;0;1\n"
                             "1;0;0.3;-1;0.3\n"
                             "1;1;0.4;0;0.7\n"
                             "1;2;0.3;1;1\n"
                             "2;0;0.0000001;-2;0.0000001\n"
                             "2;2;0.7499999;0;0.75\n"
                             "2;3;0.25;1;1\n";

static inline cellar_matrix *parse(const char *text, cellar_matrix_large large)
{
    cellar_error err;
    cellar_matrix *matrix;
    if (cellar_matrix_parse("F", text, strlen(text), large, &matrix, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return matrix;
}

/* Takes the matrix. */
static inline cellar_matrix *round_to(cellar_matrix *matrix, uint64_t n_keys)
{
    cellar_error err;
    cellar_matrix *rounded;
    assert_int_equal(cellar_matrix_create_rounded(matrix, n_keys, &rounded, &err), CELLAR_OK);
    cellar_matrix_free(matrix);
    return rounded;
}

#endif
