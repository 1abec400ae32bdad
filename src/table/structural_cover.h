/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Structural zeros bound to a schema: which cells are impossible. */
#ifndef CELLAR_TABLE_STRUCTURAL_COVER_H
#define CELLAR_TABLE_STRUCTURAL_COVER_H

#include "table/schema.h"
#include "table/structural.h"

/* Looks up the rules' variables and codes. On failure *out is NULL and the message names the line
 * of the rule file. */
cellar_status cellar_structural_bind(const cellar_structural_rules *rules,
                                     const cellar_schema *schema, cellar_structural **out,
                                     cellar_error *err);
void cellar_structural_free(cellar_structural *structural); /* NULL is fine */

/* The structural zeros of a schema `to` whose variable k is the variable kept[k] of `from`. A
 * variable not kept is held at the category `fixed[variable]` of `from`, or summed over when
 * `fixed` is NULL: a cell is impossible when all it sums is. *out is NULL when nothing is
 * impossible any more. */
cellar_status cellar_structural_derive(const cellar_structural *structural,
                                       const cellar_schema *from, const size_t *kept,
                                       const uint32_t *fixed, const cellar_schema *to,
                                       cellar_structural **out, cellar_error *err);

/* 1 when every interior cell that the cell `index` sums is impossible. */
int cellar_structural_covers(const cellar_structural *structural, const cellar_schema *schema,
                             uint64_t index);
/* The rules as a rule file. */
void cellar_structural_add_text(const cellar_structural *structural, const cellar_schema *schema,
                                cellar_text *text);

#endif
