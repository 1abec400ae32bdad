/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables from one format into another, with all that is said about them.
 *
 * A table of true counts stays confidential, a release keeps its certificate and the digest of its
 * values, an estimate its description. Where the format has no place for these, and for code lists,
 * labels and weights, they stand beside the file in FILE.cellar.json. */
#ifndef CELLAR_CONVERT_H
#define CELLAR_CONVERT_H

#include <cellar/table_file.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start from cellar_convert_options_default(). */
typedef struct cellar_convert_options {
    cellar_table_read_options read;   /* code lists are for tables of true counts */
    cellar_table_write_options write; /* texts that are NULL are those of the file that is read */
    int replace;                      /* 1: replace files that exist */
} cellar_convert_options;

/* Formats by the endings of the names, nothing said anew, nothing replaced. */
CELLAR_API cellar_convert_options cellar_convert_options_default(void);

/* What was converted. */
typedef struct cellar_conversion {
    const char *kind; /* "table" (of true counts, confidential), "release", "fit", "estimate" */
    size_t n_cells;   /* the cells that the table stores */
} cellar_conversion;

/* Reads the table in `from` and writes it to `to`; "-" is standard output, for JSON-stat and
 * PC-Axis. True counts are written for the owner alone. SDMX-CSV is read with FILE.cellar.json
 * beside it, and recognised by its header; CSV without that file is a table of true counts, or is
 * refused when its values are released. `options` and `out` may be NULL. On failure nothing is
 * written. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_convert(const char *from, const char *to,
                                                         const cellar_convert_options *options,
                                                         cellar_conversion *out, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
