/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a canonical table is answered now. */
#ifndef CELLAR_SERVE_JUDGE_H
#define CELLAR_SERVE_JUDGE_H

#include "serve/source.h"

/* Judges a table by the rules on tables, by what the source has, and by the rules on what was
 * released, in this order. A refusal names the first that says no and what to ask instead. *known
 * (may be NULL) is what the source knows, with exists = 0 where it was not asked. */
cellar_status serve_judge(const serve_dataset *dataset, const serve_table *table,
                          cellar_arena *arena, serve_status *known, serve_verdict *out,
                          cellar_error *err);

/* Judges whether a vault draws a table that is not there, by the rules and what it never draws; not
 * by what is left of a budget. */
cellar_status serve_judge_draw(const serve_dataset *dataset, const serve_table *table,
                               cellar_arena *arena, serve_verdict *out, cellar_error *err);

#endif
