/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV in memory, record by record, strictly as RFC 4180 has it: for code lists, maps, tables
 * and matrices. */
#ifndef CELLAR_BASE_CSV_RECORD_H
#define CELLAR_BASE_CSV_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

#include "base/text.h"

enum { CELLAR_CSV_MAX_COLUMNS = 4096 };

#define CELLAR_CSV_NO_COLUMN ((size_t) -1)

typedef struct cellar_csv_field {
    const char *bytes; /* valid UTF-8 without NUL bytes; not NUL-terminated */
    size_t length;
    uint64_t line; /* where the field begins, from 1 */
    int quoted;    /* 1: it stood in quotes, so that "" can be told from nothing */
} cellar_csv_field;

/* A reader over bytes that outlive it. Quotes may hold delimiters, doubled quotes and line ends;
 * lines end with LF or CRLF; a byte order mark and lines without a single byte are skipped. A
 * quote inside an unquoted field, text after a closing quote, a lone CR, a NUL byte, bytes that
 * are not UTF-8 and a record with more or fewer fields than the first are errors. */
typedef struct cellar_csv {
    const char *name; /* the file, in messages */
    const char *cursor, *end;
    char delimiter;
    uint8_t classes[256];
    uint64_t line;            /* of the cursor */
    cellar_csv_field *fields; /* of the record last read */
    size_t n_fields, capacity;
    cellar_text unescaped; /* fields with doubled quotes; all others stay where they are */
    size_t n_columns;      /* 0 until the first record was read */
    char **header;         /* names of the columns, once the header was read */
    int in_header;         /* the record last read is the header, or the file has none */
} cellar_csv;

void cellar_csv_init(cellar_csv *csv, const char *name, const char *bytes, size_t length,
                     char delimiter);
void cellar_csv_clear(cellar_csv *csv);

/* Reads the first record as the header: names are not empty and differ. */
cellar_status cellar_csv_read_header(cellar_csv *csv, cellar_error *err);
/* The position of a column, or CELLAR_CSV_NO_COLUMN. */
size_t cellar_csv_find_column(const cellar_csv *csv, const char *column);

/* Reads the next record into `fields`, which are valid until the next call; *found is 0 at the
 * end. */
cellar_status cellar_csv_next(cellar_csv *csv, int *found, cellar_error *err);

/* Leaves out the spaces around the fields of the record last read, which other programs pad. */
void cellar_csv_trim(cellar_csv *csv);
/* The delimiter of a file of another program: a semicolon or a tab where its first line has one,
 * else a comma. */
char cellar_csv_delimiter_of(const char *bytes, size_t length);

/* The line of the record last read. */
uint64_t cellar_csv_line(const cellar_csv *csv);
int cellar_csv_field_is(const cellar_csv_field *field, const char *text);

/* Fails with CELLAR_ERR_INPUT and "FILE:LINE: column 'NAME': ..." for a field of the record; the
 * header's own are told by their number. */
cellar_status cellar_csv_fail(const cellar_csv *csv, size_t column, cellar_error *err,
                              const char *format, ...) CELLAR_PRINTF(4, 5);

/* Adds one field to `text`, in quotes where its content needs them or it is empty. */
void cellar_csv_add_field(cellar_text *text, const char *field, char delimiter);

#endif
