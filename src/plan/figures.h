/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures while they are filled in. */
#ifndef CELLAR_PLAN_FIGURES_H
#define CELLAR_PLAN_FIGURES_H

#include "plan/law.h"
#include "plan/work.h"

typedef struct plan_sentences {
    const char **items;
    size_t n, capacity;
} plan_sentences;

typedef struct plan_figures {
    cellar_plan_figures told; /* first: what the caller sees */
    cellar_arena *arena;      /* all texts and arrays */
    plan_work work;
    plan_sentences refusals, remarks;
    cellar_protection_level level; /* of the whole list */
} plan_figures;

/* printf into a list. */
cellar_status cellar_plan_say(plan_figures *figures, plan_sentences *list, cellar_error *err,
                              const char *format, ...) CELLAR_PRINTF(4, 5);

/* Fills in one table. */
cellar_status cellar_plan_figure_table(plan_figures *figures, size_t t, cellar_plan_table *out,
                                       int without_counts, cellar_error *err);

/* Adds what the rules on true counts refuse, with the remedy. */
cellar_status cellar_plan_judge(plan_figures *figures, cellar_error *err);

/* All of it; cellar_plan_check() answers its first member. On failure *out is NULL. */
cellar_status cellar_plan_figures_create(const cellar_plan *plan,
                                         const cellar_plan_options *options, plan_figures **out,
                                         cellar_error *err);

#endif
