/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of true counts, and the schema they share with what is released. */
#ifndef CELLAR_TABLE_H
#define CELLAR_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/codelist.h>
#include <cellar/export.h>
#include <cellar/status.h>
#include <cellar/terms.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the schema: variables, categories, margins ---- */

enum { CELLAR_MAX_VARIABLES = 64 };

/* The categories of each variable are its leaves, in order, and after them its aggregates: inner
 * nodes of hierarchies, and last the total, where the table holds margins. A cell is one category
 * of each variable; its index is the mixed-radix number of the categories, last variable fastest.
 */
typedef struct cellar_schema cellar_schema;

/* The variables, in their order. */
CELLAR_API size_t cellar_schema_n_variables(const cellar_schema *schema) CELLAR_NONNULL(1);
CELLAR_API const char *cellar_schema_variable(const cellar_schema *schema, size_t variable);
/* The position of the variable of that name, or CELLAR_NO_CODE. */
CELLAR_API size_t cellar_schema_find_variable(const cellar_schema *schema, const char *name);
CELLAR_API cellar_domain cellar_schema_domain(const cellar_schema *schema, size_t variable);
/* Of the code list of a variable: cellar_codelist_reviewer(). */
CELLAR_API const char *cellar_schema_reviewer(const cellar_schema *schema, size_t variable);
CELLAR_API size_t cellar_schema_n_categories(const cellar_schema *schema, size_t variable);
CELLAR_API size_t cellar_schema_n_leaves(const cellar_schema *schema, size_t variable);
CELLAR_API const char *cellar_schema_code(const cellar_schema *schema, size_t variable,
                                          size_t category);
CELLAR_API size_t cellar_schema_find_code(const cellar_schema *schema, size_t variable,
                                          const char *code, size_t length);
/* The category of missing values: the code with the role unknown, or the code "missing".
 * CELLAR_NO_CODE when there is none. */
CELLAR_API size_t cellar_schema_find_missing(const cellar_schema *schema, size_t variable);
CELLAR_API cellar_code_role cellar_schema_role(const cellar_schema *schema, size_t variable,
                                               size_t category);
CELLAR_API size_t cellar_schema_n_languages(const cellar_schema *schema) CELLAR_NONNULL(1);
CELLAR_API const char *cellar_schema_language(const cellar_schema *schema, size_t language)
    CELLAR_NONNULL(1);
CELLAR_API const char *cellar_schema_label(const cellar_schema *schema, size_t variable,
                                           size_t category, size_t language);
/* The leaves an aggregate sums (a leaf sums itself). Valid as long as the schema. */
CELLAR_API const uint32_t *cellar_schema_members(const cellar_schema *schema, size_t variable,
                                                 size_t category, size_t *n_members);
/* The margins in the table: each a mask whose bit v says that variable v is kept, ascending. */
CELLAR_API const uint64_t *cellar_schema_margins(const cellar_schema *schema, size_t *n_margins)
    CELLAR_NONNULL(1);
/* The number of indices, cells outside the listed margins included. */
CELLAR_API uint64_t cellar_schema_n_indices(const cellar_schema *schema) CELLAR_NONNULL(1);
/* The number of cells of the table, zeros included. */
CELLAR_API uint64_t cellar_schema_n_possible(const cellar_schema *schema) CELLAR_NONNULL(1);
/* d: the largest number of cells that one record touches. */
CELLAR_API uint64_t cellar_schema_cells_per_record(const cellar_schema *schema) CELLAR_NONNULL(1);
CELLAR_API void cellar_schema_categories(const cellar_schema *schema, uint64_t index,
                                         uint32_t *categories);
CELLAR_API uint64_t cellar_schema_index(const cellar_schema *schema, const uint32_t *categories);
/* 1 if the index is a cell of the table (its margin is listed). */
CELLAR_API int cellar_schema_has_cell(const cellar_schema *schema, uint64_t index)
    CELLAR_NONNULL(1);
/* 1 if a rule declares the cell impossible (for an aggregate: all it sums). */
CELLAR_API int cellar_schema_is_structural_zero(const cellar_schema *schema, uint64_t index)
    CELLAR_NONNULL(1);

/* ---- the table: confidential ---- */

typedef struct cellar_table cellar_table;

/* Different things, never confused. A cell without a remark is NORMAL, whatever its count. */
typedef enum cellar_cell_status {
    CELLAR_CELL_NORMAL,
    CELLAR_CELL_STRUCTURAL_ZERO,
    CELLAR_CELL_SUPPRESSED,
    CELLAR_CELL_NOT_AVAILABLE,
    CELLAR_CELL_UNRELIABLE
} cellar_cell_status;

typedef struct cellar_cell {
    uint64_t index;
    uint64_t count;  /* unweighted */
    double weighted; /* weighted sum (NAN in an unweighted table); the table holds it exactly */
    uint64_t key;    /* sum of record keys modulo the table's key range */
    cellar_cell_status status;
} cellar_cell;

CELLAR_API void cellar_table_free(cellar_table *table); /* NULL is fine */
/* The schema, which lives as long as the table; the records counted; whether they have weights. */
CELLAR_API const cellar_schema *cellar_table_schema(const cellar_table *table) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_table_n_records(const cellar_table *table) CELLAR_NONNULL(1);
CELLAR_API int cellar_table_is_weighted(const cellar_table *table) CELLAR_NONNULL(1);
/* The largest bound that weights may have. */
enum { CELLAR_WEIGHT_BOUND_MAX = 1000000 };
/* The public bound that the weight of every record was clipped to; 0 when there is none. */
CELLAR_API uint64_t cellar_table_max_weight(const cellar_table *table) CELLAR_NONNULL(1);
/* What was counted, a JSON object in a normal form: variables with their recodes, conditions,
 * missing values, units, weights (docs/file-formats.md). NULL when it is not known, as of a table
 * that cellar_tabulate() did not make, of a slice, and of what was read from CSV. */
CELLAR_API const char *cellar_table_tabulation(const cellar_table *table) CELLAR_NONNULL(1);
/* The modulus of record keys, 0 when the table has none. */
CELLAR_API uint64_t cellar_table_key_range(const cellar_table *table) CELLAR_NONNULL(1);

/* The stored cells in canonical (index) order: every cell with a count or a status. Cells not
 * stored are zeros (or structural zeros). */
CELLAR_API size_t cellar_table_n_cells(const cellar_table *table) CELLAR_NONNULL(1);
CELLAR_API cellar_cell cellar_table_cell(const cellar_table *table, size_t position)
    CELLAR_NONNULL(1);
/* Any cell by its index, stored or not. */
CELLAR_API cellar_cell cellar_table_at(const cellar_table *table, uint64_t index) CELLAR_NONNULL(1);

/* The table summed over all variables not in `variables` (n of them, kept in that order). Starts
 * from the leaves. On failure *out is NULL; so in all functions below. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_table_create_margin(const cellar_table *table,
                                                                     const size_t *variables,
                                                                     size_t n, cellar_table **out,
                                                                     cellar_error *err);

/* The cells whose `variable` has `category`, without that variable. For a total the table must
 * hold the margin of all other variables. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_table_create_slice(const cellar_table *table, size_t variable, size_t category,
                          cellar_table **out, cellar_error *err) CELLAR_NONNULL(1);

/* Which aggregates to add to a table of leaves. */
typedef struct cellar_margins {
    int all;               /* 1: every margin, grand total included */
    const uint64_t *masks; /* else these margins besides inner cells (bit v: variable v kept) */
    size_t n_masks;
    uint64_t hierarchies; /* bit v: add the inner nodes of variable v's hierarchies */
} cellar_margins;

/* The table with its margins and the upper levels of its hierarchies; aggregates that `table` has
 * already are replaced. A sum has no status of its own, except that of a structural zero when all
 * it sums is. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_table_create_expanded(const cellar_table *table, const cellar_margins *margins,
                             cellar_table **out, cellar_error *err);

/* Groups of quasi-identifiers. Calls visit(context, group, counts, K) for every non-empty
 * combination of `qid`, in canonical order, with the K counts of the leaves of `sensitive`;
 * `group` holds the category of each quasi-identifier. A non-zero answer stops the walk and is
 * returned through CELLAR_ERR_CANCELLED. */
typedef int cellar_group_visitor(void *context, const uint32_t *group, const uint64_t *counts,
                                 size_t n_values);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_table_groups(
    const cellar_table *table, const size_t *qid, size_t n_qid, size_t sensitive,
    cellar_group_visitor *visit, void *context, cellar_error *err) CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
