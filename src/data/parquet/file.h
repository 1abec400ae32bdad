/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A Parquet file: what its footer says about columns and row groups. Columns that hold others
 * (lists, maps, structs) are known by name and cannot be read. */
#ifndef CELLAR_DATA_PARQUET_FILE_H
#define CELLAR_DATA_PARQUET_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

#include "base/memory.h"

/* As they are numbered in files. */
typedef enum parquet_physical {
    PARQUET_BOOLEAN,
    PARQUET_INT32,
    PARQUET_INT64,
    PARQUET_INT96,
    PARQUET_FLOAT,
    PARQUET_DOUBLE,
    PARQUET_BYTES,
    PARQUET_FIXED,
    PARQUET_N_PHYSICAL
} parquet_physical;

typedef enum parquet_codec {
    PARQUET_PLAIN,
    PARQUET_SNAPPY,
    PARQUET_GZIP,
    PARQUET_LZO,
    PARQUET_BROTLI,
    PARQUET_LZ4_FRAMED,
    PARQUET_ZSTD,
    PARQUET_LZ4,
    PARQUET_N_CODECS
} parquet_codec;

/* What the bytes of a value mean, where that is not their physical type alone. */
typedef enum parquet_meaning {
    PARQUET_AS_IS,    /* numbers, and texts */
    PARQUET_UNSIGNED, /* whole numbers */
    PARQUET_DECIMAL,
    PARQUET_DATE,
    PARQUET_TIME,
    PARQUET_TIMESTAMP,
    PARQUET_UNREADABLE /* no text says it: a nested column, an interval, a half float */
} parquet_meaning;

typedef struct parquet_column {
    const char *name;
    parquet_physical physical;
    parquet_meaning meaning;
    unsigned width;  /* bytes of a fixed value */
    int scale;       /* digits after the point of a decimal, of a second of a time */
    int is_optional; /* values may be missing */
    size_t leaf;     /* its number among all leaves of the schema: that of its chunks */
} parquet_column;

/* The values of one column in one row group: pages, one after the other. */
typedef struct parquet_chunk {
    uint64_t offset, length; /* in the file */
    uint64_t n_values;
    parquet_codec codec;
    int physical; /* -1: it is in another file, or encrypted */
} parquet_chunk;

typedef struct parquet_group {
    uint64_t n_rows;
    parquet_chunk *chunks; /* by leaf */
} parquet_group;

typedef struct parquet_file {
    const char *name; /* for messages */
    int fd;           /* -1: the file is in memory */
    const unsigned char *bytes;
    uint64_t length;
    cellar_arena *arena; /* what follows */
    parquet_column *columns;
    size_t n_columns, n_leaves;
    parquet_group *groups;
    size_t n_groups;
    uint64_t n_rows;
} parquet_file;

/* 1 when `path` is a plain file that begins like a Parquet file. Never fails. */
int parquet_is(const char *path);

/* On failure *out is NULL. */
cellar_status parquet_open(const char *path, parquet_file **out, cellar_error *err);
/* The same in memory, which outlives the file: for tests and fuzzers. */
cellar_status parquet_open_memory(const char *name, const void *bytes, size_t length,
                                  parquet_file **out, cellar_error *err);
void parquet_close(parquet_file *file); /* NULL is fine */

/* Some bytes of the file. Thread-safe. */
cellar_status parquet_read(const parquet_file *file, uint64_t offset, size_t length, void *out,
                           cellar_error *err);
/* "FILE: the Parquet file is damaged: WHAT". */
cellar_status parquet_fail(const parquet_file *file, const char *what, cellar_error *err);

#endif
