/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What to ask instead: a search over canonical tables, which sees no count. */
#ifndef CELLAR_SERVE_SUGGEST_H
#define CELLAR_SERVE_SUGGEST_H

#include "base/memory.h"
#include "serve/refusal.h"

enum { SERVE_SUGGESTIONS = 5 };

/* Fills the suggestions of a refusal of `table`: coarser tables (a level coarser, a variable less)
 * that the rules allow and that can be answered, by number of steps; then tables that exist and
 * come near. Can be answered means: exists, or may still be drawn (`budget` and `cell-key`). A
 * table that exists is suggested only if the rules on released values pass it. None is coarser than
 * another. At least one, unless nothing can be answered at all. */
cellar_status serve_suggest(const serve_dataset *dataset, const serve_table *table,
                            cellar_arena *arena, serve_refusal *refusal, cellar_error *err);

#endif
