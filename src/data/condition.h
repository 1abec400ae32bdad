/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Row filters: one condition on the raw value of one column. */
#ifndef CELLAR_DATA_CONDITION_H
#define CELLAR_DATA_CONDITION_H

#include <stddef.h>

#include <cellar/status.h>

#include "base/text.h"

typedef struct cellar_condition cellar_condition;

/* Parses "column=a|b", "column!=a|b", "column<5", "<=", ">", ">=". Values compare as text, except
 * after an order sign, where both sides must be decimals (compared exactly). On failure *out is
 * NULL and the message shows what was expected. */
cellar_status cellar_condition_parse(const char *text, cellar_condition **out, cellar_error *err);
void cellar_condition_free(cellar_condition *condition); /* NULL is fine */
const char *cellar_condition_column(const cellar_condition *condition);
/* Adds the condition in a normal form, which parses back: two texts that differ in blanks, quotes,
 * the order of values or the digits of a bound have the same. */
void cellar_condition_add_text(const cellar_condition *condition, cellar_text *text);
/* Its parts, for who asks a database: the sign of an order ("<", ...; NULL: values are listed) and
 * its bound; the values, and whether they are those that do not count. */
const char *cellar_condition_order(const cellar_condition *condition);
void cellar_condition_add_bound(const cellar_condition *condition, cellar_text *text);
size_t cellar_condition_n_values(const cellar_condition *condition);
const char *cellar_condition_value(const cellar_condition *condition, size_t i);
int cellar_condition_excludes(const cellar_condition *condition);
/* 1 holds, 0 does not; a value that is no number meets no order condition. Thread-safe. */
int cellar_condition_holds(const cellar_condition *condition, const char *text, size_t length);

#endif
