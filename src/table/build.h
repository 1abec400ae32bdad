/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the layer itself makes schemas and tables. */
#ifndef CELLAR_TABLE_BUILD_H
#define CELLAR_TABLE_BUILD_H

#include <cellar/table.h>
#include <cellar/tabulate.h>

#include "base/text.h"

/* One variable: the leaves of the code list are its categories, its inner nodes and its total
 * wait until the table is expanded. The total's code and label come from the list's total, else
 * "_T" and "Total". */
typedef struct cellar_schema_variable_def {
    const char *name;
    cellar_domain domain;
    const cellar_codelist *codelist; /* retained by the schema */
} cellar_schema_variable_def;

/* What a code list makes of the categories it lists: declared; or drafted, once somebody has
 * reviewed the draft. Before that, and without a list (NULL), they are observed, or asserted where
 * the custodian says that they are public. */
cellar_domain cellar_codelist_domain(const cellar_codelist *list, int is_public);

/* Structural zeros, parsed but not yet bound to a schema (src/table/structural/structural.h). */
typedef struct cellar_structural_rules cellar_structural_rules;

/* A schema of the interior cells. Fails with CELLAR_ERR_ARGUMENT when names repeat or a variable
 * has no leaf, and CELLAR_ERR_OVERFLOW when there are 2^63 possible cells or more. `rules` may be
 * NULL and is bound (codes looked up) here. Schemas are immutable and shared. */
cellar_status cellar_schema_create(const cellar_schema_variable_def *variables, size_t n_variables,
                                   const cellar_structural_rules *rules, cellar_schema **out,
                                   cellar_error *err);
/* The schema with aggregates: what cellar_table_create_expanded() uses. Readers of files use it
 * too. */
cellar_status cellar_schema_expand(const cellar_schema *schema, const cellar_margins *margins,
                                   cellar_schema **out, cellar_error *err);
/* The same schema with every observed domain asserted to be public. */
cellar_status cellar_schema_assert_domains(const cellar_schema *schema, cellar_schema **out,
                                           cellar_error *err);
cellar_schema *cellar_schema_retain(const cellar_schema *schema);
void cellar_schema_free(cellar_schema *schema); /* NULL is fine; drops one owner */

/* The code list a variable was made from, whole; it lives as long as the schema. */
const cellar_codelist *cellar_schema_codelist(const cellar_schema *schema, size_t variable);
/* Adds the structural zeros to `text` as a rule file, which cellar_structural_rules_parse() reads
 * back; adds nothing when there are none. */
void cellar_schema_add_rules(const cellar_schema *schema, cellar_text *text);

/* Cells in parallel arrays; all but `index` and `count` may be NULL. Arrays come from
 * cellar_alloc()/cellar_realloc(). Weighted sums are exact, in units of 1e-9. */
enum { CELLAR_WEIGHT_SCALE = 9, CELLAR_WEIGHT_UNIT = 1000000000 };
typedef struct cellar_cells {
    size_t n;
    uint64_t *index;
    uint64_t *count;
    cellar_int128 *weight;
    uint64_t *key;
    uint8_t *status;
} cellar_cells;

void cellar_cells_clear(cellar_cells *cells);
/* The place of the first cell whose index is not below, of cells in order; n when all are below. */
size_t cellar_cells_position(const cellar_cells *cells, uint64_t index);

/* Makes a table of cells in any order; repeated indices are added up (counts overflow-checked,
 * keys modulo `key_range`, where 0 stands for 2^64), the highest status wins. Cells with neither
 * count nor status are not stored. A counted structural zero is refused with CELLAR_ERR_INPUT
 * naming the rule. Takes the arrays of `cells` (it is empty afterwards) in every case;
 * retains `schema`. Decides between dense and sparse storage by itself. */
cellar_status cellar_table_from_cells(const cellar_schema *schema, cellar_cells *cells,
                                      uint64_t key_range, cellar_table **out, cellar_error *err);

/* The table that cellar_tabulate() would make of no records at all, unweighted, when every domain
 * is declared; else *out is NULL. The data are not opened. */
cellar_status cellar_tabulate_declared(const cellar_tabulate_spec *spec, cellar_table **out,
                                       cellar_error *err);

/* States that no weight exceeded the bound, which must not be contradicted by the cells: a sum of
 * n weights lies between 0 and n times the bound. 0 states nothing. */
cellar_status cellar_table_set_max_weight(cellar_table *table, uint64_t max_weight,
                                          cellar_error *err);

/* The exact weighted sum of a stored cell, in units of 1e-9 (0 in an unweighted table). */
cellar_int128 cellar_table_weight(const cellar_table *table, size_t position);

#endif
