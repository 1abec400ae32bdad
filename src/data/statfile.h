/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SPSS, Stata and SAS files, row by row. ReadStat, which knows the formats, reads out of bounds
 * where a file is made to do harm, so it runs in a program of its own, cellar-statread, which holds
 * nothing but the file and can do nothing but answer; what it answers is checked like any hostile
 * file. */
#ifndef CELLAR_DATA_STATFILE_H
#define CELLAR_DATA_STATFILE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/microdata.h>

/* A value as text: a string as it is (trailing blanks removed, UTF-8), a number in its shortest
 * exact decimal form ("3", "2.5"). A system-missing or user-missing value has missing = 1. */
typedef struct cellar_field {
    const char *text; /* no NUL behind it */
    size_t length;
    int missing;
} cellar_field;

/* The format a name's ending tells, CELLAR_DATA_TEXT when none of these. */
cellar_data_format cellar_statfile_format(const char *path);
const char *cellar_statfile_kind(cellar_data_format format); /* "an SPSS file", for messages */

/* In all of these `options` name the format and the limits.
 * Names of the columns, in order; free with cellar_columns_free(). */
cellar_status cellar_statfile_columns(const char *path, const cellar_reader_options *options,
                                      char ***names, size_t *n_names, cellar_error *err);

/* Calls row(context, fields, row_index) for every row with the fields of the columns asked for
 * (positions in the file), in that order. The fields live until the call returns. Stops at the
 * first failure and returns it. */
typedef cellar_status cellar_row_callback(void *context, const cellar_field *fields,
                                          uint64_t row_index, cellar_error *err);
cellar_status cellar_statfile_read(const char *path, const cellar_reader_options *options,
                                   const size_t *columns, size_t n_columns,
                                   cellar_row_callback *row, void *context, double *fraction_done,
                                   cellar_error *err);

/* The value labels of each column as a code list (codes are the values as text), NULL where it has
 * none. On failure all are NULL. */
cellar_status cellar_statfile_labels(const char *path, const cellar_reader_options *options,
                                     const size_t *columns, size_t n_columns,
                                     cellar_codelist **lists, cellar_error *err);

#endif
