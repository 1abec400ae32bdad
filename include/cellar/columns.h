/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of data frames, of cells that were counted elsewhere, and of partial tables. */
#ifndef CELLAR_COLUMNS_H
#define CELLAR_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/frame.h>
#include <cellar/status.h>
#include <cellar/tabulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- data frames ---- */

/* Counts the rows of a stream: the table that cellar_tabulate() makes of the same rows in a CSV
 * file. `spec->path` stands for the data in messages ("data" when it is NULL), and of
 * `spec->reader` only bad_rows, max_columns, max_row_mib, count_column and rows_are_records are
 * read.
 *
 * The stream is one of records (format "+s"). Columns that the spec names hold texts (u, U, vu),
 * integers, booleans ("true" and "false"), floats (f, g: the fewest digits that read back as the
 * same number; NaN is missing), decimals, nulls, or numbers of a dictionary of these, which may be
 * another one in each batch. Other types are refused by name. A null is a missing value.
 *
 * The stream is always released, whatever happens; `stream->release` is then NULL. All its
 * functions are called on the caller's thread. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_tabulate_stream(
    const cellar_tabulate_spec *spec, struct ArrowArrayStream *stream, cellar_table **out,
    cellar_row_report *report, cellar_error *err) CELLAR_NONNULL(2);

/* Counts the rows of a data frame: the table that cellar_tabulate() makes of the same rows in a CSV
 * file with numbers written as above. `spec->path` and `spec->reader` are read as above. Levels do
 * not declare a domain: give the variable a code list for that; without one its categories are
 * those that occur. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_tabulate_columns(
    const cellar_tabulate_spec *spec, const cellar_frame *frame, cellar_table **out,
    cellar_row_report *report, cellar_error *err) CELLAR_NONNULL(2);

/* ---- cells that were counted elsewhere ---- */

#define CELLAR_LEAF_MISSING UINT32_MAX /* the value is missing */

/* Inner cells in parallel arrays: in a database's answer, or in a partial count. */
typedef struct cellar_counted_cells {
    size_t n;
    const uint32_t *const *leaves; /* for each variable an array: leaves of its code list, or, for
                                      cellar_store_build_from_cells(), CELLAR_LEAF_MISSING */
    const uint64_t *counts;
    const char *const *weights; /* sums of weights as decimals, at most 9 digits after the point;
                                   NULL: the spec has no weights */
    const uint64_t *keys;       /* sums of record keys modulo the key range; NULL: no keys */
} cellar_counted_cells;

/* The table that cellar_tabulate() would make of `spec` if the records were in these cells: it says
 * the same of what was counted, so that keyed noise is the same. All domains are declared (or
 * implied by the recode); `spec->path` is not read. Cells may repeat and are added up. The spec has
 * weights and record keys exactly if the cells have. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_table_create_from_cells(const cellar_tabulate_spec *spec, const cellar_counted_cells *cells,
                               cellar_table **out, cellar_error *err) CELLAR_NONNULL(1, 2);

/* Adds up partial tables of one spec, as processes or shards count them: counts, weights, and keys
 * modulo their range. Refuses (CELLAR_ERR_RULE) tables that do not say the same of what was
 * counted, and domains that are not declared. A unit with records in two partial tables counts with
 * both: shards must be cut by unit. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_table_merge(const cellar_table *const *tables,
                                                             size_t n_tables, cellar_table **out,
                                                             cellar_error *err);

/* ---- a cell by the names of its categories ---- */

/* The index of the cell with that code in each variable, in the order of the schema; NULL stands
 * for the total. CELLAR_ERR_ARGUMENT names the code that is not there. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_schema_find_cell(const cellar_schema *schema,
                                                                  const char *const *codes,
                                                                  size_t n_codes, uint64_t *index,
                                                                  cellar_error *err)
    CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
