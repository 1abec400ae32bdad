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
    CELLAR_TABLE_AUTO,     /* read: by the name's ending: .csv, .json, .px; write: CSV */
    CELLAR_TABLE_CSV,      /* long: one column per variable, then `count` */
    CELLAR_TABLE_JSONSTAT, /* JSON-stat 2.0 */
    CELLAR_TABLE_PX,       /* PC-Axis */
    CELLAR_TABLE_SDMX,     /* SDMX-CSV 2.1; reading needs FILE.cellar.json beside it */
    CELLAR_TABLE_CSVW,     /* the CSVW description of the long CSV (write only) */
    CELLAR_TABLE_ODS,      /* spreadsheets of releases and estimates, never of true counts */
    CELLAR_TABLE_XLSX      /* (write only) */
} cellar_table_format;

/* What a variable is, for readers of the file. */
typedef enum cellar_role { CELLAR_ROLE_TIME, CELLAR_ROLE_GEO } cellar_role;
/* "time", "geo". */
CELLAR_API const char *cellar_role_name(cellar_role role);

/* A variable that others should know as time or place. */
typedef struct cellar_variable_role {
    const char *variable;
    cellar_role role;
} cellar_variable_role;

/* Start from cellar_table_write_options_default(). */
typedef struct cellar_table_write_options {
    cellar_table_format format;
    int zeros;  /* 1: write zero cells too (CSV, SDMX; the others but sparse JSON-stat always do) */
    int sparse; /* JSON-stat: 1: `value` as an object, 0: as an array */
    int neutralise_formulas;  /* CSV, SDMX: 1: a name or code that a spreadsheet would take for a
                                 formula gets a leading '; such a file does not read back as it was
                               */
    const char *csv_name;     /* CSVW: the name of the CSV it describes */
    const char *title;        /* what the table is about [px: its variables] */
    const char *source;       /* who made it */
    const char *note;         /* a remark for its readers */
    const char *units;        /* what is counted; px: UNITS [number] */
    const char *updated;      /* a date or a time: 2026-11-18, 2026-11-18T10:00, with or without Z;
                                 px: CREATION-DATE and LAST-UPDATED */
    const char *matrix;       /* px: the name of the table in a database [CELLAR] */
    const char *structure_id; /* SDMX: the structure the data belongs to [CELLAR:TABLE(1.0)] */
    const cellar_variable_role *roles; /* which variables are time or place */
    size_t n_roles;
} cellar_table_write_options;

/* CSV without zeros. */
CELLAR_API cellar_table_write_options cellar_table_write_options_default(void);

/* The format that a file's name ends in; CELLAR_TABLE_AUTO when it shows none. */
CELLAR_API cellar_table_format cellar_table_format_of_path(const char *path);

/* Writes the table; commit or discard `output` yourself. `options` may be NULL: CSV without zeros.
 * A suppressed or unavailable cell keeps its count in these files, for they are confidential. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_table_write(const cellar_table *table, const cellar_table_write_options *options,
                   cellar_output *output, cellar_error *err);

/* The domain of a variable, declared by the caller. */
typedef struct cellar_named_codelist {
    const char *variable;
    const cellar_codelist *codelist;
} cellar_named_codelist;

/* Start from cellar_table_read_options_default(). */
typedef struct cellar_table_read_options {
    cellar_table_format format;
    const cellar_named_codelist *codelists;
    size_t n_codelists;
    uint64_t limit_bytes; /* refuse larger files [4 GiB, also when 0] */
} cellar_table_read_options;

/* The format of the file's ending, no declared domains, at most 4 GiB. */
CELLAR_API cellar_table_read_options cellar_table_read_options_default(void);

/* Reads a table in CSV, JSON-stat or PX. A CSV file needs a `count` column. Domains are those the
 * file states (Cellar's JSON-stat and px), else observed, unless `codelists` declares them: then
 * every code must be of its list, and inner nodes and totals are read as the margins they are. A
 * release is refused. `options` may be NULL. On failure *out is NULL and the message names file,
 * line and column. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_table_read(const char *path, const cellar_table_read_options *options, cellar_table **out,
                  cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_table_parse(const char *name, const char *bytes, size_t length,
                   const cellar_table_read_options *options, cellar_table **out, cellar_error *err);

/* Reads partial tables, several at the same time (n_threads; 0: one per processor), and adds them
 * up with cellar_table_merge(). Refuses (CELLAR_ERR_ARGUMENT) the same file twice. `options` may be
 * NULL. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_table_merge_files(
    const char *const *paths, size_t n_paths, const cellar_table_read_options *options,
    int n_threads, cellar_table **out, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
