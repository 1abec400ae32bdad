/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of the layouts of perturbation tables share. */
#ifndef CELLAR_MECHANISM_MATRIX_MATRIX_READER_H
#define CELLAR_MECHANISM_MATRIX_MATRIX_READER_H

#include "base/csv_record.h"
#include "mechanism/matrix/matrix.h"

enum { CELLAR_MATRIX_COLUMNS = 3 }; /* that every layout must have */

/* Keys first..last of a row have a change. */
typedef struct cellar_key_range {
    uint64_t row, first, last;
    int64_t change;
    uint64_t line;
} cellar_key_range;

typedef struct cellar_matrix_reader {
    cellar_csv csv;
    cellar_matrix_layout layout;
    size_t columns[CELLAR_MATRIX_COLUMNS];
    cellar_matrix_large large;
    cellar_key_range *ranges;
    size_t n_ranges, capacity;
    cellar_matrix *matrix;
} cellar_matrix_reader;

/* Reads the next record, its fields without the spaces around them. */
cellar_status cellar_matrix_reader_next(cellar_matrix_reader *r, int *found, cellar_error *err);

/* A field as an integer from low to high. */
cellar_status cellar_matrix_reader_integer(const cellar_matrix_reader *r, size_t column,
                                           int64_t low, int64_t high, int64_t *out,
                                           cellar_error *err);

/* Reads all lines of a layout with a line per key, or per range of keys, into r->matrix. */
cellar_status cellar_matrix_reader_keys(cellar_matrix_reader *r, cellar_error *err);

#endif
