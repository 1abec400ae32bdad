/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table counts, in a normal form: requests that mean the same have the same text, whatever
 * the order of their options and wherever the records come from. */
#ifndef CELLAR_TABLE_COUNTING_TABULATION_H
#define CELLAR_TABLE_COUNTING_TABULATION_H

#include <cellar/tabulate.h>

#include "base/text.h"
#include "data/condition.h"

/* What to do with missing values of a variable: its own policy, or that of all. */
static inline cellar_missing_policy cellar_tabulation_policy(const cellar_tabulate_spec *spec,
                                                             const cellar_variable_spec *variable)
{
    return variable->missing_policy != CELLAR_MISSING_UNDECIDED ? variable->missing_policy
                                                                : spec->missing_policy;
}

/* The text of a JSON object with sorted members (docs/file-formats.md): the options that decide
 * which records count and as what. It holds no path and nothing computed from records. Options
 * that are not used have no member, and so it must stay when members are added: keyed noise is a
 * function of the text. `conditions` are those of the spec, parsed; the other options must have
 * been found good. On failure *out is NULL; free it with cellar_free(). */
cellar_status cellar_tabulation_describe(const cellar_tabulate_spec *spec,
                                         const cellar_condition *const *conditions, char **out,
                                         cellar_error *err);

/* The whole description of a table that says what was counted: that, and how the table is made up
 * (code lists without labels, levels, margins, structural zeros). The order of variables, of codes
 * and of margins makes no difference. On failure *out is NULL; free it with cellar_free(). */
cellar_status cellar_table_describe(const cellar_table *table, char **out, cellar_error *err);

#endif
