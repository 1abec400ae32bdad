/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables in files. True tables are marked confidential in every format. */
#ifndef CELLAR_TABLE_FILE_H
#define CELLAR_TABLE_FILE_H

#include <cellar/output.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cellar_table_format {
    CELLAR_TABLE_AUTO,     /* by the name's ending: .csv, .json, .px */
    CELLAR_TABLE_CSV,      /* long: one column per variable, then `count` */
    CELLAR_TABLE_JSONSTAT, /* JSON-stat 2.0 */
    CELLAR_TABLE_PX,       /* PC-Axis */
    CELLAR_TABLE_SDMX,     /* SDMX-CSV 2.1 (write only) */
    CELLAR_TABLE_CSVW      /* the CSVW description of the long CSV (write only) */
} cellar_table_format;

typedef struct cellar_table_write_options {
    cellar_table_format format;
    int zeros;  /* 1: write zero cells too (CSV, SDMX; px and dense JSON-stat always do) */
    int sparse; /* JSON-stat: 1: `value` as an object, 0: as an array */
    int neutralise_formulas; /* CSV: 1: a leading = + - @ in a label is made harmless */
    const char *csv_name;    /* CSVW: the name of the CSV it describes */
} cellar_table_write_options;

/* Writes the table; commit or discard `output` yourself. */
CELLAR_API cellar_status cellar_table_write(const cellar_table *table,
                                            const cellar_table_write_options *options,
                                            cellar_output *output, cellar_error *err);

/* Reads a table written in CSV, JSON-stat or PX. A CSV file needs a `count` column; its domains
 * are observed unless `codelists` (one per variable name, NULL-terminated pairs) declares them. On
 * failure *out is NULL and the message names file, line and column. */
typedef struct cellar_named_codelist {
    const char *variable;
    const cellar_codelist *codelist;
} cellar_named_codelist;

typedef struct cellar_table_read_options {
    cellar_table_format format;
    const cellar_named_codelist *codelists;
    size_t n_codelists;
    uint64_t limit_bytes; /* refuse larger files [4 GiB when 0] */
} cellar_table_read_options;

CELLAR_API cellar_status cellar_table_read(const char *path,
                                           const cellar_table_read_options *options,
                                           cellar_table **out, cellar_error *err);
CELLAR_API cellar_status cellar_table_parse(const char *name, const char *bytes, size_t length,
                                            const cellar_table_read_options *options,
                                            cellar_table **out, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
