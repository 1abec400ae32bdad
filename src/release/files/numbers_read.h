/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published values and their description, read from a file: what releases and estimates share. */
#ifndef CELLAR_RELEASE_FILES_NUMBERS_READ_H
#define CELLAR_RELEASE_FILES_NUMBERS_READ_H

#include <jansson.h>

#include "table/formats/format.h"

/* {0} is empty. The digest of the values is the one that the description states. */
typedef struct cellar_numbers {
    cellar_loaded loaded;
    json_t *description; /* extension.cellar, or what stands in FILE.cellar.json */
} cellar_numbers;

void cellar_numbers_clear(cellar_numbers *numbers);

/* The values in the bytes of a file, whose format and kind the source says; `beside` is the text of
 * FILE.cellar.json, which only CSV has. Clear *out in every case. */
cellar_status cellar_numbers_parse(const cellar_source *source, const char *beside, size_t length,
                                   cellar_numbers *out, cellar_error *err);
/* The same for the file at a path. */
cellar_status cellar_numbers_read(const char *path, cellar_table_format format,
                                  cellar_sheet_kind kind, cellar_numbers *out, cellar_error *err);

/* The text of FILE.cellar.json, freed with cellar_free(); CELLAR_ERR_INPUT when it is not there. */
cellar_status cellar_numbers_beside(const cellar_source *source, char **bytes, size_t *length,
                                    cellar_error *err);
/* The rows of CSV, CSVW or SDMX-CSV, whose schema `loaded` has; `value` is the name of the column.
 */
cellar_status cellar_numbers_rows(const cellar_source *source, const char *value,
                                  cellar_loaded *loaded, cellar_error *err);
/* 1 when the file is SDMX-CSV: by its format, or by how its header begins. */
int cellar_numbers_is_sdmx(const cellar_source *source);
/* Refuses a spreadsheet, which is only written. */
cellar_status cellar_numbers_check_format(const char *path, cellar_table_format format,
                                          cellar_error *err);
/* The format, or that of the file's ending. */
cellar_table_format cellar_numbers_format(const char *path, cellar_table_format format);

#endif
