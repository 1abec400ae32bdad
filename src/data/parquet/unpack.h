/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The compressions of Parquet pages. */
#ifndef CELLAR_DATA_PARQUET_UNPACK_H
#define CELLAR_DATA_PARQUET_UNPACK_H

#include "data/parquet/file.h"

/* Unpacks into exactly `out_length` bytes. 0 when the bytes are damaged, or of a compression that
 * is not read. */
int parquet_unpack(parquet_codec codec, const unsigned char *in, size_t in_length,
                   unsigned char *out, size_t out_length);

#endif
