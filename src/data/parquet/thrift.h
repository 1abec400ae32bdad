/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Thrift's compact protocol, read only: the footer and the page headers of a Parquet file are
 * written in it. A reader that meets what it cannot read is `failed` from then on and answers
 * zeros, so that callers check once, at the end. */
#ifndef CELLAR_DATA_PARQUET_THRIFT_H
#define CELLAR_DATA_PARQUET_THRIFT_H

#include <stddef.h>
#include <stdint.h>

typedef enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_BYTE = 3,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_DOUBLE = 7,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_SET = 10,
    THRIFT_MAP = 11,
    THRIFT_STRUCT = 12
} thrift_type;

typedef struct thrift_reader {
    const unsigned char *at, *end;
    unsigned depth; /* structs and lists around this place */
    int failed;
} thrift_reader;

/* The fields of a struct, one after the other:
 *     thrift_fields f = thrift_begin(reader);
 *     while (thrift_next(&f))
 *         switch (f.id) { case 1: x = thrift_integer(&f); break; default: thrift_skip(&f); }
 * Every field is either read by the call for its type or skipped. */
typedef struct thrift_fields {
    thrift_reader *reader;
    int id;
    thrift_type type;
} thrift_fields;

thrift_fields thrift_begin(thrift_reader *reader);
int thrift_next(thrift_fields *fields); /* 0 after the last one, and after a failure */

/* Of a field of another type these fail. */
int64_t thrift_integer(thrift_fields *fields);
int thrift_bool(thrift_fields *fields);
const char *thrift_binary(thrift_fields *fields, size_t *length);
/* The number of elements of a list of structs, each of which is then read by thrift_begin(). */
size_t thrift_structs(thrift_fields *fields);
/* A field that is a struct: its own fields. */
thrift_fields thrift_struct(thrift_fields *fields);
void thrift_skip(thrift_fields *fields);

#endif
