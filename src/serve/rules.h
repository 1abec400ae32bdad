/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules: what may be asked. Those judged before anything is drawn see canonical tables, never
 * counts: neither an argument nor a header that is included here can hold one (the test
 * structure/rules reads the includes). Rules on released values are judged elsewhere (released.h).
 *
 * What these rules allow is closed downwards: with a table every coarser one is allowed. So the
 * total is always allowed, and a search for something to suggest ends. */
#ifndef CELLAR_SERVE_RULES_H
#define CELLAR_SERVE_RULES_H

#include "base/memory.h"
#include "plan/schema.h"
#include "serve/refusal.h"

/* ---- configuration ---------------------------------------------------------- */

/* An item of `rules:` as it is written; exactly one limit is given. Levels are written "age^1"; a
 * variable without a mark stands for all of its levels. */
typedef struct serve_rule_text {
    plan_place place;
    const char *name;
    const char *text; /* a sentence of the agency's, added to ours; NULL: none */
    plan_list when;   /* the rule is about tables with all of these, at that level or a finer one */
    uint64_t max_variables, max_cells;
    plan_list finest;      /* no finer than these */
    plan_list forbid;      /* not all of these together, at these levels or finer ones */
    plan_list allow;       /* "region*age^1": nothing that is not added up from one of these */
    const char *max_share; /* on released values: of cells that have one of `values` */
    const char *values;    /* "0", "1..2" */
    int of;                /* 1 cells, 2 nonzero */
    uint64_t min_total;    /* on released values */
} serve_rule_text;

/* For a PLAN_MAPS field of serve_rule_text. */
extern const plan_field serve_rule_fields[];

/* Makes rules from a list of serve_rule_text, once the variables of the data set are known. They
 * live in the arena. `name` is that of the configuration; the message names line and place. */
cellar_status serve_rules_make(const char *name, const plan_list *texts,
                               const serve_dataset *dataset, cellar_arena *arena,
                               const serve_rules **out, cellar_error *err);

/* ---- judging ---------------------------------------------------------------- */

/* Judges a canonical table before it is drawn. *out has is_allowed, and when it is refused the
 * rule and a sentence, but no suggestions. */
cellar_status serve_rules_check(const serve_dataset *dataset, const serve_table *table,
                                cellar_arena *arena, serve_verdict *out, cellar_error *err);
/* The same, with the nearest tables that every rule allows (suggest.h). */
cellar_status serve_rules_judge(const serve_dataset *dataset, const serve_table *table,
                                cellar_arena *arena, serve_verdict *out, cellar_error *err);
/* 1 when no rule refuses the table. */
int serve_rules_allow(const serve_dataset *dataset, const serve_table *table);

#endif
