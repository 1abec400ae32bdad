/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are not delimited text, known by their first bytes. */
#ifndef CELLAR_DATA_RECOGNISE_H
#define CELLAR_DATA_RECOGNISE_H

#include <stddef.h>

#include <cellar/status.h>

/* Refuses (CELLAR_ERR_INPUT) the beginning of a workbook, a Parquet file, an archive and the like;
 * the sentence says what it is and what to do. Text passes. */
cellar_status cellar_recognise_refuse(const char *name, const char *bytes, size_t length,
                                      cellar_error *err);

#endif
