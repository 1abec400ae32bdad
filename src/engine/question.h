/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a question and its answer agree on. */
#ifndef CELLAR_ENGINE_QUESTION_H
#define CELLAR_ENGINE_QUESTION_H

#include <cellar/sql.h>

#include "data/coder.h"

/* Column `o` of an answer: why rows do not count. What is wrong with a value of use u (a variable,
 * then the weight, the key, the unit) is SQL_WRONG * (u + 1) + the outcome of the coder. */
enum { SQL_COUNTS = 0, SQL_FILTERED = -1, SQL_MISSING = -2, SQL_OVER_UNIT = -3, SQL_WRONG = -1000 };

/* Refuses what cannot be asked of a database. */
cellar_status sql_check(const cellar_tabulate_spec *spec, const cellar_sql_source *source,
                        cellar_sql_dialect dialect, cellar_error *err);

/* The coder of a variable, as cellar_tabulate() makes it. */
cellar_status sql_make_coder(const cellar_tabulate_spec *spec, size_t variable, cellar_coder **out,
                             cellar_error *err);
const char *sql_variable_name(const cellar_variable_spec *variable);

#endif
