/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules on released values. They judge a whole canonical table after it was drawn, and what they
 * refuse stays paid. Values are rounded to whole numbers first, and negative ones count as 0. */
#ifndef CELLAR_SERVE_RELEASED_H
#define CELLAR_SERVE_RELEASED_H

#include "serve/answer.h"

/* 1 when the data set has such rules. */
int serve_rules_have_released(const serve_dataset *dataset);

/* Judges the values of all cells of a canonical table. No suggestions. */
cellar_status serve_rules_check_released(const serve_dataset *dataset, const serve_table *table,
                                         const serve_value *values, size_t n, cellar_arena *arena,
                                         serve_verdict *out, cellar_error *err);
/* Asks the source for the whole table, which exists, and judges it; verdicts are remembered (a
 * released table does not change). With suggestions. */
cellar_status serve_rules_judge_released(const serve_dataset *dataset, const serve_table *table,
                                         cellar_arena *arena, serve_verdict *out,
                                         cellar_error *err);

#endif
