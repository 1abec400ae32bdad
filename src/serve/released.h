/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules on released values. They judge a whole canonical table after it was drawn, and what they
 * refuse stays paid. Values are rounded to whole numbers first, and negative ones count as 0;
 * suppressed cells and structural zeros do not count. */
#ifndef CELLAR_SERVE_RELEASED_H
#define CELLAR_SERVE_RELEASED_H

#include "serve/answer.h"
#include "serve/rules.h"

/* Judges a table that exists: asks the source for all of its values. Verdicts are remembered, for a
 * released table does not change. A refusal has suggestions. */
cellar_status serve_rules_judge_released(const serve_dataset *dataset, const serve_table *table,
                                         cellar_arena *arena, serve_verdict *out,
                                         cellar_error *err);
/* Only whether it passes. */
cellar_status serve_released_passes(const serve_dataset *dataset, const serve_table *table,
                                    int *out, cellar_error *err);

/* ---- inside ------------------------------------------------------------------ */

/* What the rules ask of a table's values, met part by part. */
typedef struct serve_tally {
    double n_cells, n_nonzero, total;
    double *n_met; /* of each rule: cells with one of its values */
} serve_tally;

/* `n_met` has a place for every rule of the data set. */
void serve_tally_add(serve_tally *tally, const serve_rules *rules, const serve_value *values,
                     size_t n);
/* The first rule on released values that such a table breaks, by number; SIZE_MAX: none. */
size_t serve_tally_judge(const serve_tally *tally, const serve_dataset *dataset,
                         const serve_table *table);

#endif
