/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the specs of mechanisms that read a matrix from a file share. */
#ifndef CELLAR_MECHANISM_MATRIX_MATRIX_FILE_H
#define CELLAR_MECHANISM_MATRIX_MATRIX_FILE_H

#include "mechanism/matrix/matrix.h"

extern const char *const cellar_matrix_large_words[];

/* file=F[,large=last|rotate][,digest=D]: the digest, as a canonical spec has it, must be that of
 * the matrix in the file. */
#define CELLAR_MATRIX_FILE_RULES                                                                   \
    {.name = "file", .kind = CELLAR_PARAMETER_WORD, .required = 1},                                \
        {.name = "large", .kind = CELLAR_PARAMETER_WORD, .words = cellar_matrix_large_words},      \
    {                                                                                              \
        .name = "digest", .kind = CELLAR_PARAMETER_WORD                                            \
    }

/* What `init` of a mechanism does that is such a matrix; zeros stay zeros in one of cell keys. */
cellar_status cellar_matrix_file_init(cellar_mechanism *m, cellar_error *err);

/* Reads the matrix of the parameters, which then keep the file's name without its folder; `name`
 * is the mechanism's. On failure *out is NULL. */
cellar_status cellar_matrix_from_parameters(cellar_parameter_list *list, const char *name,
                                            cellar_matrix **out, cellar_error *err);

/* Of a matrix made by the parameters, whose first is the file: the digest must be that of the
 * matrix, and the parameters keep the file's name without its folder. */
cellar_status cellar_matrix_check_parameters(cellar_parameter_list *list, const char *name,
                                             const cellar_matrix *matrix, cellar_error *err);

/* The canonical spec: the parameters and the digest of the matrix. */
cellar_status cellar_matrix_spec(const cellar_parameter_list *list, const char *name,
                                 const cellar_matrix *matrix, char **spec, cellar_error *err);

#endif
