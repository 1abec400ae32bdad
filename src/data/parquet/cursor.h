/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One column of a Parquet file, row group after row group, a few rows at a time. A row is the
 * number of a text: values are mostly numbers of entries in a dictionary, which is kept, so that
 * what a text means is found out once for each entry and not for each row. Memory is that of a page
 * and of the dictionary. */
#ifndef CELLAR_DATA_PARQUET_CURSOR_H
#define CELLAR_DATA_PARQUET_CURSOR_H

#include "data/parquet/texts.h"

#define PARQUET_MISSING UINT32_MAX

typedef struct parquet_cursor parquet_cursor;

/* CELLAR_ERR_UNSUPPORTED names a column that cannot be read. On failure *out is NULL. */
cellar_status parquet_cursor_create(const parquet_file *file, size_t column, parquet_cursor **out,
                                    cellar_error *err);
void parquet_cursor_free(parquet_cursor *cursor); /* NULL is fine */

/* Goes to the first row of a group. */
cellar_status parquet_cursor_begin(parquet_cursor *cursor, size_t group, cellar_error *err);

/* The next n rows, which the group has: for each the number of its text, or PARQUET_MISSING. Texts
 * below parquet_cursor_n_dictionary() stay until the group ends, others until the next call. */
cellar_status parquet_cursor_next(parquet_cursor *cursor, size_t n, uint32_t *texts,
                                  cellar_error *err);
/* It can change with every call. */
size_t parquet_cursor_n_dictionary(const parquet_cursor *cursor);
/* All texts that rows of the last call may have; bytes behind the last can be read. */
const parquet_texts *parquet_cursor_texts(const parquet_cursor *cursor);

#endif
