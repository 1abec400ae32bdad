/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the library and cellar-statread, its program that reads SPSS, Stata and SAS files, say to
 * each other. The library sends one request; the program answers in frames: a byte for the kind,
 * four for the length of what follows, in the order of this machine's bytes. A file can make the
 * program do anything, so that every byte of an answer is checked here. */
#ifndef CELLAR_DATA_STATWIRE_H
#define CELLAR_DATA_STATWIRE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/microdata.h>

#include "data/statfile.h"

enum { CELLAR_STATWIRE_VERSION = 1 };

typedef enum cellar_statwire_task {
    CELLAR_STATWIRE_COLUMNS,
    CELLAR_STATWIRE_ROWS,
    CELLAR_STATWIRE_LABELS
} cellar_statwire_task;

/* Followed by `n_columns` positions of columns, 64 bits each. */
typedef struct cellar_statwire_request {
    uint32_t version, task, format, unused;
    uint64_t memory_bytes,
        seconds; /* the program allows itself no more memory and processor time */
    uint64_t n_columns;
} cellar_statwire_request;

enum {
    CELLAR_STATWIRE_HEAD_BYTES = 5,
    CELLAR_STATWIRE_SENTENCE_BYTES = 512, /* the longest sentence of a fault */
    CELLAR_STATWIRE_FRAME_BYTES = 1 << 26 /* the longest frame */
};

/* Frames. The last is an end or a fault. */
typedef enum cellar_statwire_kind {
    CELLAR_STATWIRE_NAME = 'n',    /* the next column's name */
    CELLAR_STATWIRE_ROW = 'r',     /* of each field: its length (32 bits) and its bytes */
    CELLAR_STATWIRE_LABEL = 'l',   /* which of the columns asked for (64 bits), the length of a
                                      code (32 bits), the code, its label */
    CELLAR_STATWIRE_ADVANCE = 'a', /* how far the file was read (64 bits): more than before */
    CELLAR_STATWIRE_END = 'e',     /* nothing */
    CELLAR_STATWIRE_FAULT = 'f'    /* a status (32 bits) and a sentence */
} cellar_statwire_kind;
#define CELLAR_STATWIRE_MISSING UINT32_MAX /* the length of a missing value, which has no bytes */

/* An answer as it comes in. */
typedef struct cellar_statwire {
    const char *file; /* its name, for messages; the caller's */
    cellar_data_format format;
    int fd;             /* -1: all bytes are in `buffer`, and are the caller's */
    int stall_ms;       /* give up when nothing came for so long */
    int64_t file_bytes; /* how long the file is */
    int64_t furthest;   /* how far it was read */
    const unsigned char *buffer;
    unsigned char *owned;        /* the same, where it is ours */
    size_t capacity, begin, end; /* what came and is not yet used: [begin, end) */
    int over;                    /* the program closed its end */
} cellar_statwire;

/* Over a socket, which stays the caller's, or over bytes in memory (for tests and fuzzers). Free
 * with cellar_statwire_clear(). */
void cellar_statwire_open(const char *file, cellar_data_format format, int64_t file_bytes, int fd,
                          int stall_ms, cellar_statwire *wire);
void cellar_statwire_open_memory(const void *bytes, size_t length, cellar_statwire *wire);
void cellar_statwire_clear(cellar_statwire *wire);

/* The answers to the three requests. CELLAR_ERR_IO when the answer breaks off (wire->over is then
 * 1), CELLAR_ERR_INPUT when it is not what was asked for; a fault is passed on.
 * Names: at most `max_columns`. Free them with cellar_columns_free(). */
cellar_status cellar_statwire_read_columns(cellar_statwire *wire, size_t max_columns, char ***names,
                                           size_t *n_names, cellar_error *err);
cellar_status cellar_statwire_read_rows(cellar_statwire *wire, size_t n_columns,
                                        cellar_row_callback *row, void *context,
                                        double *fraction_done, cellar_error *err);
/* Lists for each of the columns asked for, NULL where there are no labels. On failure all are. */
cellar_status cellar_statwire_read_labels(cellar_statwire *wire, size_t n_columns,
                                          cellar_codelist **lists, cellar_error *err);

#endif
