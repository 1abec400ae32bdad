/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the text of a field means, as an SQL expression. The coder that reads files is asked what
 * becomes of each value that matters, so that a database counts as a file does: a code list and a
 * recode map name finitely many values, bottom, bands and top finitely many bounds. */
#ifndef CELLAR_ENGINE_CODING_H
#define CELLAR_ENGINE_CODING_H

#include "data/coder.h"
#include "engine/dialect.h"

/* A variable: `text` and `number` name the columns that hold its field as text and, where
 * sql_coding_needs_number(), as a number (NULL: it is none). Adds an expression whose value is a
 * code of the coder or an outcome. */
typedef struct sql_coding {
    const sql_dialect *dialect;
    const cellar_variable_spec *variable;
    const char *const *missing; /* texts */
    size_t n_missing;
    cellar_coder *coder;
    const char *text, *number;
} sql_coding;

int sql_coding_needs_number(const cellar_variable_spec *variable);
/* CELLAR_ERR_UNSUPPORTED says why it cannot be asked of a database. */
cellar_status sql_coding_add(const sql_coding *coding, cellar_text *out, cellar_error *err);

/* Adds a condition that holds where the field is missing. */
void sql_add_missing(const sql_dialect *dialect, cellar_text *out, const char *text,
                     const char *const *missing, size_t n_missing);
/* Adds an expression that is 1 where the row is to be counted, 0 where not. */
cellar_status sql_add_condition(const sql_dialect *dialect, cellar_text *out,
                                const cellar_condition *condition, const char *text,
                                const char *number, cellar_error *err);

#endif
