/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts by number: the entries of a dictionary, then the values of pages without one. */
#ifndef CELLAR_DATA_PARQUET_TEXTS_H
#define CELLAR_DATA_PARQUET_TEXTS_H

#include "data/parquet/value.h"

typedef struct parquet_texts {
    cellar_text bytes;
    int64_t *offsets; /* n + 1 of them, once there is a text: text i lies between two */
    size_t n, capacity;
} parquet_texts;

void parquet_texts_clear(parquet_texts *texts);
/* Forgets the texts from number `first` to before `last`; those behind move up. */
void parquet_texts_drop(parquet_texts *texts, size_t first, size_t last);

/* Adds one text; 0 when memory ends. */
int parquet_texts_add_text(parquet_texts *texts, const char *text);

/* Encodings of values, as they are numbered in files. */
typedef enum parquet_encoding {
    PARQUET_ENCODING_PLAIN = 0,
    PARQUET_ENCODING_PLAIN_DICTIONARY = 2,
    PARQUET_ENCODING_RLE = 3,
    PARQUET_ENCODING_DELTAS = 5,
    PARQUET_ENCODING_DELTA_LENGTHS = 6,
    PARQUET_ENCODING_DELTA_BYTES = 7,
    PARQUET_ENCODING_DICTIONARY = 8,
    PARQUET_ENCODING_SPLIT = 9
} parquet_encoding;

/* Adds n values of a page. 0: the bytes are damaged, memory ended (texts->bytes.failed), or the
 * encoding is not one of the column's type. */
int parquet_texts_add(parquet_texts *texts, const parquet_column *column, parquet_encoding encoding,
                      const unsigned char *at, const unsigned char *end, size_t n);

#endif
