/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates: values computed from releases alone, with their standard errors.
 *
 * Fits (cellar/adjustment.h) make them. An estimate is public like the releases it comes from, and
 * it is no release: its values have no noise of a single known distribution, so whatever tests,
 * fits or measures a release refuses it. Computing from releases is post-processing: pure and
 * approximate differential privacy stay as they are, and the guarantee is that of the releases
 * together. */
#ifndef CELLAR_ESTIMATE_H
#define CELLAR_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/acceptance.h>
#include <cellar/export.h>
#include <cellar/release_file.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable. Values are 64-bit fixed point: whole numbers of units of 10^-decimals, so that sums of
 * stored and of written values are exact. */
typedef struct cellar_estimate cellar_estimate;

/* One cell. Doubles hold the fixed-point values exactly up to the last decimal. */
typedef struct cellar_estimated_cell {
    uint64_t index;
    double value;  /* the estimate; may be negative */
    double se;     /* its standard error; NAN where it was not computed or is not determined */
    int64_t whole; /* the whole number that stands for it in tables that add; 0 without any */
    cellar_cell_status status; /* NORMAL or STRUCTURAL_ZERO */
} cellar_estimated_cell;

CELLAR_API void cellar_estimate_free(cellar_estimate *estimate); /* NULL is fine */

/* The variables and categories; they live as long as the estimate. */
CELLAR_API const cellar_schema *cellar_estimate_schema(const cellar_estimate *estimate);
/* All cells of the schema in canonical (index) order, but for the structural zeros it knows. */
CELLAR_API size_t cellar_estimate_n_cells(const cellar_estimate *estimate);
CELLAR_API cellar_estimated_cell cellar_estimate_cell(const cellar_estimate *estimate,
                                                      size_t position);
/* Any cell by its index; a structural zero has the value 0 and the standard error 0. */
CELLAR_API cellar_estimated_cell cellar_estimate_at(const cellar_estimate *estimate,
                                                    uint64_t index);

/* The decimals of values and standard errors: 0 to 9. */
CELLAR_API int cellar_estimate_decimals(const cellar_estimate *estimate);
/* 1 when it has standard errors, and 1 when it has whole numbers. */
CELLAR_API int cellar_estimate_has_errors(const cellar_estimate *estimate);
CELLAR_API int cellar_estimate_has_whole(const cellar_estimate *estimate);

/* How it was computed, in a sentence. */
CELLAR_API const char *cellar_estimate_method(const cellar_estimate *estimate);
/* How many releases (or cubes) it was computed from. */
CELLAR_API size_t cellar_estimate_n_sources(const cellar_estimate *estimate);
/* The protection of the weakest of them. */
CELLAR_API cellar_protection_level cellar_estimate_level(const cellar_estimate *estimate);
/* A JSON object: `computed` (method, what is official, and more) and `sources` (the description of
 * each release, certificate included). Files carry it. */
CELLAR_API const char *cellar_estimate_description(const cellar_estimate *estimate);

/* ---- files ------------------------------------------------------------------- */

/* What a file shows: `estimate`, with `se` beside it where there are standard errors; or `fitted`,
 * the whole numbers. */
typedef enum cellar_estimate_view {
    CELLAR_ESTIMATE_VALUES,
    CELLAR_ESTIMATE_WHOLE
} cellar_estimate_view;

/* Writes an estimate into a file that cellar_release_file_open() opened, in any of its formats, and
 * lets it appear with its description. Refuses whole numbers where there are none. Discard the file
 * afterwards in every case. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_estimate_write(const cellar_estimate *estimate,
                                                                cellar_estimate_view view,
                                                                cellar_release_file *file,
                                                                cellar_error *err);

/* Reads an estimate in CSV, JSON-stat or PC-Axis, by the file's ending unless `format` says it. A
 * file of whole numbers gives an estimate whose values are these. Refuses tables of true counts,
 * releases, and files whose values are not those the description was written for. On failure *out
 * is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_estimate_read(const char *path,
                                                               cellar_table_format format,
                                                               cellar_estimate **out,
                                                               cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
