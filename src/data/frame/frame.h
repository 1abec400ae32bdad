/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data frames as a source of rows: columns in memory, or the batches of an Arrow stream. */
#ifndef CELLAR_DATA_FRAME_FRAME_H
#define CELLAR_DATA_FRAME_FRAME_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include <cellar/frame.h>
#include <cellar/status.h>

#include "base/text.h"

/* ---- columns (arrow.c and given.c make them, values.c reads them) ---- */

typedef enum frame_type {
    FRAME_NULLS, /* all are missing */
    FRAME_INTEGERS,
    FRAME_BOOLS,
    FRAME_FLOATS,
    FRAME_DECIMALS,
    FRAME_TEXTS,   /* offsets, and bytes */
    FRAME_VIEWS,   /* string views, and buffers of bytes */
    FRAME_POINTERS /* to strings */
} frame_type;

typedef struct frame_column frame_column;
struct frame_column {
    frame_type type;
    unsigned width; /* bytes of a value; of texts: of an offset */
    int is_unsigned;
    int scale;       /* of decimals */
    uint64_t offset; /* of row 0, in the buffers */
    uint64_t n;      /* rows */
    const void *values;
    const uint8_t *validity;   /* a bit for each row, 0: it is missing; or NULL */
    const uint8_t *is_missing; /* a byte for each row; or NULL */
    int has_missing;           /* the value `missing` means that it is */
    int64_t missing;
    const char *bytes;          /* of texts */
    const void *const *buffers; /* of views, with their sizes */
    const int64_t *buffer_sizes;
    size_t n_buffers;
    frame_column *levels; /* values are numbers of these; NULL: they are values */
    int64_t first_code;   /* the number of the first of them */
    int levels_stay;      /* the next part has the same levels, and perhaps more */
    uint32_t *made;       /* owned: the values */
};

/* 1 when the value of a row is missing. */
int frame_is_missing(const frame_column *column, uint64_t row);
/* The integer of a row, as it is stored; an unsigned one of 2^63 and more is taken modulo 2^64. */
int64_t frame_integer(const frame_column *column, uint64_t row);
/* Adds the value of a row as the text a CSV file would have; nothing when it is missing. NULL, or
 * what is wrong with the value. */
const char *frame_add_value(const frame_column *column, uint64_t row, cellar_text *text);
/* The same for rows [first, first + n), each of at most `max_value` bytes. A row lies between two
 * marks (cellar_slices). `text` never gets longer than 1 GiB and one value. */
const char *frame_add_values(const frame_column *column, uint64_t first, size_t n, size_t max_value,
                             cellar_text *text, uint32_t *marks);

/* ---- what an Arrow schema says of a column ---- */

typedef struct frame_layout {
    char *name;
    frame_type type;
    unsigned width;
    int is_unsigned, scale;
    int is_dictionary; /* these are the numbers, and `levels` the rest */
    struct frame_layout *levels;
    char refusal[120]; /* why the column cannot be read; "" */
} frame_layout;

/* Reads a schema of records. Free the layouts in every case. */
cellar_status frame_read_schema(const struct ArrowSchema *schema, const char *file,
                                size_t max_columns, frame_layout **layouts, size_t *n,
                                cellar_error *err);
void frame_free_layouts(frame_layout *layouts, size_t n); /* NULL is fine */
/* The columns in use of a batch of records, checked as far as they can be; columns[c] of one that
 * is not used stays zero. *n_rows is its length. Levels are to be freed. */
cellar_status frame_read_array(const struct ArrowArray *array, const frame_layout *layouts,
                               size_t n_columns, const unsigned char *is_used, const char *file,
                               frame_column *columns, uint64_t *n_rows, cellar_error *err);
/* The layouts of a data frame in memory. Free them in every case. */
cellar_status frame_read_given(const cellar_frame *frame, const char *file, frame_layout **layouts,
                               cellar_error *err);
/* Rows [first, first + n) of the columns in use; codes that a maker makes are made. Free the
 * columns in every case. */
cellar_status frame_take_given(const cellar_frame *frame, const unsigned char *is_used,
                               uint64_t first, uint64_t n, frame_column *columns,
                               cellar_error *err);
void frame_free_columns(frame_column *columns, size_t n); /* NULL is fine */

/* ---- the source: parts one after the other, cut into pieces for lanes (source.c) ---- */

typedef struct frame_source frame_source;

/* Takes over the stream. On failure *out is NULL and the stream is released. */
cellar_status frame_source_open_stream(struct ArrowArrayStream *stream, const char *file,
                                       size_t max_columns, frame_source **out, cellar_error *err);
cellar_status frame_source_open_given(const cellar_frame *frame, const char *file,
                                      frame_source **out, cellar_error *err);
/* NULL is fine. On the thread that opened it: it releases what the stream gave. */
void frame_source_close(frame_source *source);

size_t frame_source_n_columns(const frame_source *source);
const char *frame_source_column(const frame_source *source, size_t column);
/* Says that a column will be read, before the first piece is taken; refuses one that cannot be. */
cellar_status frame_source_use(frame_source *source, size_t column, cellar_error *err);

typedef struct frame_part frame_part;

/* Rows [first, first + n) of a part. */
typedef struct frame_piece {
    frame_part *part;
    const frame_column *columns;
    uint64_t part_number; /* levels are the same in pieces of the same part */
    uint64_t first;
    size_t n;
    uint64_t sequence; /* 0, 1, ... in the order of the rows */
    double fraction;   /* of all rows up to the end of the piece; -1: not known */
} frame_piece;

enum { FRAME_PIECE_ROWS = 8192, FRAME_MADE_ROWS = 2 * FRAME_PIECE_ROWS };

/* The next piece; n is 0 at the end. Lane 0, the caller's thread, is the one that asks the stream
 * for more; the other lanes wait for it. `is_over` asks whether that is still wanted. Give every
 * piece back. */
typedef int frame_is_over(void *context, uint64_t sequence);
cellar_status frame_source_take(frame_source *source, int lane, frame_is_over *is_over,
                                void *context, frame_piece *piece, cellar_error *err);
void frame_source_give_back(frame_source *source, const frame_piece *piece);
/* A lane leaves before the end: nobody waits any more. */
void frame_source_stop(frame_source *source);

#endif
