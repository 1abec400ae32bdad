/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of one row of delimited text, quotes and all (RFC 4180). */
#ifndef CELLAR_DATA_ROWS_H
#define CELLAR_DATA_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

/* Splits off the field that begins at `at` in a text whose last byte is a newline. [*begin, *end)
 * is its value, quotes taken off and doubled quotes made single in place; a carriage return before
 * the newline does not belong to it. Answers the position of the delimiter or newline that ends it.
 * If the field is malformed *fault says how (else it is left alone). */
size_t cellar_field_split(char *text, size_t at, size_t length, char delimiter, uint32_t *begin,
                          uint32_t *end, const char **fault);

/* How long the first row of the text is, its newline included. */
size_t cellar_row_length(const char *text, size_t length, char delimiter);

typedef struct cellar_row_fields {
    uint32_t *begin, *end;
    size_t n, begin_capacity, end_capacity;
} cellar_row_fields;

void cellar_row_fields_clear(cellar_row_fields *fields);

/* All fields of a text that is one row. *fault is NULL, or says what is wrong with the last field
 * split (number fields->n). */
cellar_status cellar_row_split(char *text, size_t length, char delimiter, cellar_row_fields *fields,
                               const char **fault, cellar_error *err);

#endif
