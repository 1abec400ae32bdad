/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What to ask instead: a search over canonical tables, which sees no count. */
#ifndef CELLAR_SERVE_SUGGEST_H
#define CELLAR_SERVE_SUGGEST_H

#include "base/memory.h"
#include "serve/refusal.h"

enum { SERVE_SUGGESTIONS = 5 };

/* Which tables may be suggested: those that exist, or also those that a vault draws. */
typedef enum serve_suggest_scope { SERVE_SUGGEST_EXISTING, SERVE_SUGGEST_ANY } serve_suggest_scope;

/* 1 when a vault draws the table, by the rules and what it never draws; not by what is left of a
 * budget. */
int serve_can_draw(const serve_dataset *dataset, const serve_table *table);

/* Fills the suggestions of a refusal of `table`: coarser tables (a level coarser, a variable less)
 * that the rules allow and that can be answered, by number of steps; then tables that exist and
 * come near; if there is none, tables of one variable. Can be answered means: exists, or a vault
 * draws it (`budget` and `cell-key`). A table that exists is suggested only if the rules on
 * released values pass it. None is coarser than another. At least one, unless nothing can be
 * answered at all. */
cellar_status serve_suggest(const serve_dataset *dataset, const serve_table *table,
                            serve_suggest_scope scope, cellar_arena *arena, serve_refusal *refusal,
                            cellar_error *err);

#endif
