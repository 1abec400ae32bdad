/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a Parquet column as texts: what a person would write, as in a CSV file. */
#ifndef CELLAR_DATA_PARQUET_VALUE_H
#define CELLAR_DATA_PARQUET_VALUE_H

#include "base/text.h"
#include "data/parquet/file.h"

/* Bytes of a value of the column; 0: they differ from value to value, or are bits. */
unsigned parquet_value_bytes(const parquet_column *column);

/* Adds the text of a value, given by its bytes as in the file, the lowest first (a truth value is
 * one byte). Numbers have no digit more than they need; dates are 2026-07-01, times of day
 * 12:30:00, timestamps 2026-07-01 12:30:00. 0 when the bytes are no such value. */
int parquet_add_value(const parquet_column *column, const unsigned char *bytes, size_t length,
                      cellar_text *out);

#endif
