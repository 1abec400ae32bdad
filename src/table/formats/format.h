/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each table format offers; the registry in table_file.c lists them. */
#ifndef CELLAR_TABLE_FORMATS_FORMAT_H
#define CELLAR_TABLE_FORMATS_FORMAT_H

#include <cellar/table_file.h>

#include "table/formats/sheet.h"
#include "table/table.h"

/* ---- writing --------------------------------------------------------------- */

/* Without an output (NULL) nothing is written, and what would be refused is refused. */
typedef cellar_status cellar_sheet_writer(const cellar_sheet *sheet,
                                          const cellar_table_write_options *options,
                                          cellar_output *output, cellar_error *err);

/* Writes any sheet in the format that `options` names: what cellar_table_write() calls. */
cellar_sheet_writer cellar_sheet_write;

cellar_sheet_writer cellar_format_csv_write;
cellar_sheet_writer cellar_format_jsonstat_write;
cellar_sheet_writer cellar_format_px_write;
cellar_sheet_writer cellar_format_sdmx_write;
cellar_sheet_writer cellar_format_csvw_write;
cellar_sheet_writer cellar_format_book_write; /* ODS and XLSX */

/* ---- reading --------------------------------------------------------------- */

/* An attribute of the observation in SDMX-CSV; SDMX names no concept of its own for it. */
#define CELLAR_SDMX_ERROR_NAME "STANDARD_ERROR"
/* The code of a status in SDMX's list CL_OBS_STATUS. */
const char *cellar_sdmx_status(cellar_cell_status status);
/* The status of a code of CL_OBS_STATUS that we write; 0 when it is none of them. */
int cellar_sdmx_find_status(const char *code, size_t length, cellar_cell_status *out);

/* The bytes of a file, and what they have to be. */
typedef struct cellar_source {
    const char *name; /* the file, in messages */
    const char *bytes;
    size_t length;
    const cellar_table_read_options *options;
    cellar_sheet_kind kind;
} cellar_source;

/* What was read. The values stand in the counts of the cells, as two's complement when the kind
 * has signs; the standard errors of an estimate stand in the keys. {0} is empty. */
typedef struct cellar_loaded {
    cellar_schema *schema;
    cells_builder built;
    uint64_t key_range;  /* 0: 2^64 */
    uint64_t max_weight; /* 0: no bound */
    int decimals;        /* of an estimate: values are in units of 10^-decimals */
    int with_errors;     /* of an estimate: cells have standard errors */
    char *tabulation;    /* what was counted, where the file says it, or NULL */
    char *extension;     /* the text of `extension.cellar` where the file has one, or NULL */
} cellar_loaded;

void cellar_loaded_clear(cellar_loaded *loaded);

/* The table of true counts that was read; takes the cells. On failure *out is NULL. */
cellar_status cellar_loaded_table(const char *name, cellar_loaded *loaded, cellar_table **out,
                                  cellar_error *err);

/* Fills *out, which is empty before; on failure the caller clears it. */
typedef cellar_status cellar_sheet_parser(const cellar_source *source, cellar_loaded *out,
                                          cellar_error *err);

/* Reads any sheet in the format that the options name: what cellar_table_parse() calls. */
cellar_sheet_parser cellar_sheet_parse;

cellar_sheet_parser cellar_format_csv_read;
cellar_sheet_parser cellar_format_jsonstat_read;
cellar_sheet_parser cellar_format_px_read;

/* "a release", "an estimate", ...: what the source should be. */
const char *cellar_source_wanted(const cellar_source *source);
/* The file is of another kind: one sentence for all formats. */
cellar_status cellar_source_fail_kind(const cellar_source *source, cellar_sheet_kind found,
                                      cellar_error *err);

#endif
