/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that stand for several records: which column says so, and files that look as if one did. */
#ifndef CELLAR_DATA_COUNTS_H
#define CELLAR_DATA_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "data/scan.h"

/* More records than this, in a row or in all rows of a lane, are an error of the file: sums over
 * the at most 1024 lanes of a run stay below 2^63. */
static const uint64_t cellar_count_limit = (uint64_t) 1 << 52;

/* The column whose number each row stands for, and one that may hold such numbers although nobody
 * said so; CELLAR_NO_CODE where there is none. */
typedef struct cellar_count_columns {
    size_t declared, suspected;
} cellar_count_columns;

/* Finds them. Refuses (CELLAR_ERR_INPUT) a file beside which a description of a release stands,
 * and, unless the options decide, one with a column named like numbers of records: the sentence
 * names the option, and the verbs that read tables. */
cellar_status cellar_counts_find(const cellar_scan *scan, const char *path,
                                 const cellar_reader_options *options, cellar_count_columns *out,
                                 cellar_error *err);

/* Refuses text that begins like a JSON-stat or PC-Axis table. */
cellar_status cellar_counts_refuse_table(const char *name, const char *text, size_t length,
                                         cellar_error *err);

/* A whole number from 0 to the limit, without a sign. "12.0" and "1e3" count as such: programs that
 * hold numbers as fractions write them so. 0: it is none. */
int cellar_count_parse(const char *text, size_t length, uint64_t *count);

#endif
