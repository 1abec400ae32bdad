/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules: what may be asked. Those judged before anything is drawn see canonical tables, never
 * counts: no argument here holds one. Rules on released values judge a whole canonical table after
 * it was drawn; what they refuse stays paid. */
#ifndef CELLAR_SERVE_RULES_H
#define CELLAR_SERVE_RULES_H

#include "serve/answer.h"

/* Judges a canonical table before it is drawn. *out has is_allowed, and when it is refused the
 * rule, a sentence and the nearest tables that every rule allows. Texts live in the arena. */
typedef struct serve_verdict {
    int is_allowed;
    serve_refusal refusal;
} serve_verdict;

cellar_status serve_rules_judge(const serve_dataset *dataset, const serve_table *table,
                                cellar_arena *arena, serve_verdict *out, cellar_error *err);
/* Judges released values of a whole canonical table. */
cellar_status serve_rules_judge_released(const serve_dataset *dataset, const serve_table *table,
                                         const serve_value *values, size_t n, cellar_arena *arena,
                                         serve_verdict *out, cellar_error *err);

#endif
