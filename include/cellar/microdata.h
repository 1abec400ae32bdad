/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Microdata: where records come from and how a column becomes a variable. */
#ifndef CELLAR_MICRODATA_H
#define CELLAR_MICRODATA_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/codelist.h>
#include <cellar/export.h>
#include <cellar/progress.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cellar_data_format {
    CELLAR_DATA_AUTO, /* by the name's ending; gzip, stores and Parquet by their first bytes */
    CELLAR_DATA_TEXT, /* CSV, TSV or any one-byte delimiter */
    CELLAR_DATA_SAV,  /* SPSS .sav and .zsav */
    CELLAR_DATA_POR,  /* SPSS portable */
    CELLAR_DATA_DTA,  /* Stata */
    CELLAR_DATA_SAS,  /* SAS .sas7bdat */
    CELLAR_DATA_XPT   /* SAS transport */
} cellar_data_format;

typedef enum cellar_encoding {
    CELLAR_ENCODING_UTF8,
    CELLAR_ENCODING_LATIN1,
    CELLAR_ENCODING_WINDOWS1252
} cellar_encoding;

typedef enum cellar_bad_rows { CELLAR_BAD_ROWS_ERROR, CELLAR_BAD_ROWS_SKIP } cellar_bad_rows;

/* How to read a file. Start from cellar_reader_options_default(). */
typedef struct cellar_reader_options {
    cellar_data_format format;
    char delimiter;           /* 0: ',' or, for names ending in .tsv or .tab, the tabulator */
    int no_header;            /* 1: the first line is data; columns are named V1, V2, ... */
    cellar_encoding encoding; /* of text files */
    cellar_bad_rows bad_rows; /* what to do with a row that cannot be read */
    size_t max_columns;       /* refuse files that have more [0: 100000] */
    size_t max_row_mib;       /* refuse text whose header or row is longer [0: 4; at most 512] */
    const char *count_column; /* each row stands for that many records, a whole number of at least 0
                                 [NULL: a row is a record, and a file with a column named like such
                                 numbers (count, Freq, released, ...) is refused] */
    int rows_are_records;     /* 1: a row is a record, whatever the columns are called */
    size_t reader_memory_mib; /* what reading an SPSS, Stata or SAS file may take [0: 256 and eight
                                 times the size of the file, at most 4096] */
} cellar_reader_options;

/* A text file with a header, in UTF-8, whose first bad row stops the run. */
CELLAR_API cellar_reader_options cellar_reader_options_default(void);
enum { CELLAR_MAX_ROW_MIB = 512 };

/* What to do with missing values: there is no default. A value is missing if it is empty, if it
 * is one of the strings declared missing, or if the file format says so. */
typedef enum cellar_missing_policy {
    CELLAR_MISSING_UNDECIDED, /* the first missing value stops the run */
    CELLAR_MISSING_DROP,      /* the row is dropped, and counted as such */
    CELLAR_MISSING_LEVEL      /* missing is a category of its own, written "missing" */
} cellar_missing_policy;

/* Steps from the text of a field to a category, applied in this order: map, bottom, top, band.
 * A zeroed struct changes nothing. */
typedef struct cellar_recode_map cellar_recode_map;
typedef struct cellar_recode {
    const cellar_recode_map *map; /* from values to values */
    const char *bottom;           /* a decimal b: numbers <= b become "<=b" */
    const char *top;              /* a decimal t: numbers >= t become ">=t" */
    const char *band_width;       /* a decimal > 0: numbers become intervals of that width */
    const char *band_origin;      /* where an interval begins [0] */
    int band_closed_right;        /* 1: (20,25], ceil(x/5); 0: [20,25), floor(x/5) */
} cellar_recode;

/* Reads a recode map: CSV with the header `from,to`; a `from` of * catches all other values. On
 * failure *out is NULL and the message names file, line and column. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_recode_map_read(const char *path,
                                                                 cellar_recode_map **out,
                                                                 cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_recode_map_parse(const char *name,
                                                                  const char *bytes, size_t length,
                                                                  cellar_recode_map **out,
                                                                  cellar_error *err);
CELLAR_API void cellar_recode_map_free(cellar_recode_map *map); /* NULL is fine */

/* A variable of a table: a column of the data, recoded, within a domain. Start from
 * cellar_variable_spec_default(). */
typedef struct cellar_variable_spec {
    const char *name;                /* NULL: the column's name */
    const char *column;              /* name of the column in the data */
    const cellar_codelist *codelist; /* the declared domain; NULL: observed, or implied by the
                                        recode (bands between a bottom and a top) */
    int domain_public; /* 1: the custodian asserts that an observed domain is public */
    size_t level; /* its categories are those of a level of the first hierarchy of its code list, 1
                     the top; one that lies less deep stands for itself [0: the leaves] */
    cellar_missing_policy missing_policy; /* of this variable [UNDECIDED: that of the tabulation] */
    cellar_recode recode;
} cellar_variable_spec;

/* No column yet; values are categories as they are, in an observed domain. */
CELLAR_API cellar_variable_spec cellar_variable_spec_default(void);

/* What became of the rows. Confidential, like all that is computed from records. */
typedef struct cellar_row_report {
    uint64_t n_read;      /* all rows of the file; so for the rest but n_counted */
    uint64_t n_bad;       /* could not be read (skipped) */
    uint64_t n_filtered;  /* excluded by a filter */
    uint64_t n_missing;   /* dropped for a missing value */
    uint64_t n_over_unit; /* beyond the records allowed to their unit */
    uint64_t n_counted;   /* records of the other rows: with a count column, what they stand for */
    int is_aggregated;    /* 1: a count column was used */
    char suspect; /* 'n' or 'N': a column of that name holds only positive whole numbers, so that a
                     row may stand for that many records; 0: none does */
    char suspect_delimiter; /* the name of the only column holds it, so that it may separate columns
                               [0: none] */
} cellar_row_report;

/* Names of the columns of a file, in order. Free each list with cellar_columns_free(). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_columns_read(const char *path,
                                                              const cellar_reader_options *options,
                                                              char ***names, size_t *n_names,
                                                              cellar_error *err);
CELLAR_API void cellar_columns_free(char **names, size_t n_names);

/* Value labels of a column of an SPSS or Stata file (SAS files hold none) as a code list;
 * CELLAR_ERR_INPUT when it has none. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_codelist_from_labels(const char *path, const cellar_reader_options *options,
                            const char *column, cellar_codelist **out, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
