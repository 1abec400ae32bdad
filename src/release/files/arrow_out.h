/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A batch of rows that leaves as an Arrow stream. */
#ifndef CELLAR_RELEASE_FILES_ARROW_OUT_H
#define CELLAR_RELEASE_FILES_ARROW_OUT_H

#include <stdatomic.h>

#include <cellar/frame.h>
#include <cellar/status.h>

#include "base/text.h"

/* One column: values, a bit for each where one is null, and texts where values number them. */
typedef struct arrow_column {
    char *name;
    const char *format; /* of the values: "i", "l", "g" */
    void *values;
    uint8_t *validity; /* NULL: none is null */
    int64_t n_nulls;
    int32_t
        *level_ends; /* n_levels + 1 offsets into `levels`; NULL: values are no numbers of them */
    cellar_text levels;
    int64_t n_levels;
} arrow_column;

/* Shared by the stream, its schema and its batch, whichever is released last. */
typedef struct arrow_rows {
    _Atomic size_t n_owners;
    int64_t n_rows;
    size_t n_columns;
    arrow_column *columns;
} arrow_rows;

/* Rows with room for that many columns, all empty; NULL when memory ends. */
arrow_rows *arrow_rows_create(size_t n_columns, int64_t n_rows);
void arrow_rows_drop(arrow_rows *rows); /* NULL is fine; drops one owner */

/* Makes column number c one of values of `size` bytes, zeroed; 0 when memory ends. */
int arrow_rows_begin(arrow_rows *rows, size_t c, const char *name, const char *format, size_t size);
/* Says that the values of a column number texts, and adds the next text. */
int arrow_rows_add_level(arrow_rows *rows, size_t c, const char *text);
/* Makes one value null; 0 when memory ends. */
int arrow_rows_set_null(arrow_rows *rows, size_t c, int64_t row);

/* A stream of the one batch. Takes the rows in every case. */
cellar_status arrow_rows_stream(arrow_rows *rows, struct ArrowArrayStream *out, cellar_error *err);

#endif
