/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a question and its answer agree on. */
#ifndef CELLAR_ENGINE_QUESTION_H
#define CELLAR_ENGINE_QUESTION_H

#include <cellar/sql.h>

#include "data/coder.h"
#include "engine/dialect.h"

/* Column `o` of an answer: why rows do not count. What is wrong with a value of use u (a variable,
 * then the weight, the key, the unit, the conditions) is SQL_WRONG * (u + 1) + the outcome of the
 * coder, or SQL_UNSURE: a number that the database cannot read exactly. SQL_TIED: the columns that
 * order the records of a unit do not say which of them come first. */
enum {
    SQL_COUNTS = 0,
    SQL_FILTERED = -1,
    SQL_MISSING = -2,
    SQL_OVER_UNIT = -3,
    SQL_TIED = -4,
    SQL_UNSURE = -100,
    SQL_WRONG = -1000
};

/* The next part of "schema.table"; *at is behind it. 0: it is no name of a table. */
int sql_next_part(const char **at, const char **name, size_t *length);

/* Refuses what cannot be asked of a database. */
cellar_status sql_check(const cellar_tabulate_spec *spec, const cellar_sql_source *source,
                        cellar_sql_dialect dialect, cellar_error *err);

/* Refuses a name of a column that cannot be written so that it means that column. NULL is fine. */
cellar_status sql_check_name(const sql_dialect *dialect, const char *name, cellar_error *err);

/* The variables of the table: those of the source, or all. */
cellar_tabulate_set sql_set_of(const cellar_tabulate_spec *spec, const cellar_sql_source *source);

/* The coder of a variable, as cellar_tabulate() makes it, or where missing values are kept as
 * cellar_store_build() does. */
cellar_status sql_make_coder(const cellar_tabulate_spec *spec, const cellar_sql_source *source,
                             size_t variable, cellar_coder **out, cellar_error *err);
const char *sql_variable_name(const cellar_variable_spec *variable);

#endif
