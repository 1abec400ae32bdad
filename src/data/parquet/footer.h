/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The footer of a Parquet file: schema and row groups. */
#ifndef CELLAR_DATA_PARQUET_FOOTER_H
#define CELLAR_DATA_PARQUET_FOOTER_H

#include "data/parquet/file.h"

/* Fills in columns and groups of a file, which holds them in its arena. */
cellar_status parquet_read_footer(parquet_file *file, const unsigned char *bytes, size_t length,
                                  cellar_error *err);

#endif
