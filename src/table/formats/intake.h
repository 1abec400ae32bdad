/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells named by codes, as files hold them, on their way to a schema and its cells. */
#ifndef CELLAR_TABLE_FORMATS_INTAKE_H
#define CELLAR_TABLE_FORMATS_INTAKE_H

#include "table/formats/code_numbers.h"
#include "table/formats/format.h"
#include "table/formats/stated.h"

/* Add the variables first, then rows. What stands in the rows decides which margins and upper
 * levels of hierarchies the schema holds. */
typedef struct cellar_intake cellar_intake;

cellar_status cellar_intake_create(const cellar_source *source, cellar_intake **out,
                                   cellar_error *err);
void cellar_intake_free(cellar_intake *intake); /* NULL is fine */

/* Adds a variable. Its domain is declared when the options of the source have a code list of that
 * name; else observed, in the categories of `listed` (retained) or, when that is NULL, in the
 * codes that the rows hold. */
cellar_status cellar_intake_add_variable(cellar_intake *intake, const char *name,
                                         const cellar_codelist *listed, cellar_error *err);

/* The number of a code of variable v, or what code_numbers.h says instead. */
uint32_t cellar_intake_code(cellar_intake *intake, size_t v, const char *text, size_t length);

/* Which extras the rows have. */
typedef struct cellar_intake_layout {
    int weights, keys, statuses;
    uint64_t key_range;  /* 0: 2^64 */
    uint64_t max_weight; /* 0: no bound */
} cellar_intake_layout;

/* Call it before the first row. */
cellar_status cellar_intake_begin(cellar_intake *intake, const cellar_intake_layout *layout,
                                  cellar_error *err);
/* Adds a row: the number of its code in each variable, and the rest of the cell (its index is not
 * read). */
cellar_status cellar_intake_add_row(cellar_intake *intake, const uint32_t *codes,
                                    const cellar_sheet_cell *cell, cellar_error *err);

/* Two rows that name the same cell, from 0. */
typedef struct cellar_intake_repeat {
    int found;
    size_t first, second;
} cellar_intake_repeat;

/* Makes the schema and the cells. When rows repeat, fails with CELLAR_ERR_INPUT and says which in
 * *repeat, so that the caller can name their lines. The intake can only be freed afterwards. */
cellar_status cellar_intake_finish(cellar_intake *intake, cellar_loaded *out,
                                   cellar_intake_repeat *repeat, cellar_error *err);

/* Gives the stated codes of variable v the numbers 0, 1, ..., in order; each must be in its list
 * when the caller declared one. */
cellar_status cellar_intake_state_codes(cellar_intake *intake, size_t v,
                                        const cellar_stated_categories *stated, cellar_error *err);

#endif
