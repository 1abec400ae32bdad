/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the fields of a text end: the one pass over every byte of a file. */
#ifndef CELLAR_DATA_SEPARATORS_H
#define CELLAR_DATA_SEPARATORS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that must be readable (not meaningful) after the text given to the scanner. */
enum { CELLAR_TEXT_SLACK = 64 };

typedef struct cellar_separators {
    size_t n;          /* delimiters and newlines found */
    size_t n_newlines; /* of which newlines */
    int has_quote;     /* the text contains a double quote */
} cellar_separators;

/* Writes the positions of all delimiters and newlines of the text, in order, into `positions`,
 * which has room for length + CELLAR_TEXT_SLACK entries. Quotes are reported, not interpreted. */
cellar_separators cellar_separators_find(const char *text, size_t length, char delimiter,
                                         uint32_t *positions);

/* The ways to find them, best first, each with the processors it needs; the last always works. For
 * tests: all give the same answer. */
typedef struct cellar_separators_way {
    const char *name;
    int (*works)(void);
    cellar_separators (*find)(const char *text, size_t length, char delimiter, uint32_t *positions);
} cellar_separators_way;
enum { CELLAR_SEPARATORS_MAX_WAYS = 3 };
extern const cellar_separators_way cellar_separators_ways[CELLAR_SEPARATORS_MAX_WAYS];

#endif
