/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan inside: what the file says, resolved and checked as far as that needs no data. */
#ifndef CELLAR_PLAN_PLAN_H
#define CELLAR_PLAN_PLAN_H

#include <cellar/microdata.h>
#include <cellar/plan.h>
#include <cellar/table_file.h>
#include <cellar/tabulate.h>

#include "plan/schema.h"

enum { PLAN_YES = 1, PLAN_NO = 2 }; /* of a PLAN_TRUTH */

typedef struct plan_data {
    const char *file, *table; /* one of both: a table of databases */
    plan_list order_by;
    int format, header, encoding, bad_rows, missing_as;
    const char *delimiter;
    plan_list missing, where;
    const char *count, *weight, *edition;
    uint64_t max_weight, max_columns, max_row_mib, reader_memory_mib;
} plan_data;

typedef struct plan_unit {
    const char *name, *column;
    uint64_t max_records;
} plan_unit;

typedef struct plan_variable {
    plan_place place;
    const char *name, *column;
    const char *codelist_file, *recode_file;
    const char *band, *band_origin, *top, *bottom;
    int band_closed, missing_as, hierarchy, domain_public, role;
    cellar_codelist *codelist;
    cellar_recode_map *map;
} plan_variable;

typedef struct plan_table {
    plan_place place;
    const char *name, *title, *mechanism, *epsilon, *weight, *structural_zeros;
    plan_list by, margins, hierarchy;
    size_t variables[CELLAR_MAX_VARIABLES]; /* of the plan */
    size_t n_variables;
    cellar_margins wanted; /* its masks lie in the arena */
} plan_table;

/* One rule; which of its limits is given decides the kind. */
typedef struct plan_rule {
    plan_place place;
    const char *table; /* NULL: all of them */
    int evaluate;      /* 1 true counts, 2 released ones */
    const char *max_empty_share, *max_small_share, *max_risk, *max_exposure;
    uint64_t small; /* counts of 1 to this are small; of exposure: cells below it */
    uint64_t min_population, max_cells;
    plan_list qid, sensitive;
} plan_rule;

/* A table of a universe beyond those of at most so many variables, or one with a wish of its own.
 */
typedef struct plan_universe_table {
    plan_place place;
    plan_list by; /* "region", or "region^1" for a level of its hierarchy */
    const char *weight, *largest_sd;
    const char *structural_zeros; /* refused, with the reason */
} plan_universe_table;

/* Tables that are answered from one cube (docs/cube.md). */
typedef struct plan_universe {
    const char *file;    /* where the cube appears; NULL: the plan has no universe */
    const char *extends; /* a published cube that gets more tables; NULL: none */
    uint64_t up_to;
    plan_list tables, without;
    plan_list invariants; /* tables that are published as they were counted */
    int objective;
} plan_universe;
enum { PLAN_OBJECTIVE_TABLES = 1, PLAN_OBJECTIVE_CELLS, PLAN_OBJECTIVE_LARGEST };

typedef struct plan_budget {
    const char *epsilon, *delta, *rho;
    int split;
} plan_budget;
enum { PLAN_SPLIT_EVEN = 1, PLAN_SPLIT_WEIGHTS, PLAN_SPLIT_OPTIMAL };

/* 1 when cells cost rho: the budget is one of rho, or of epsilon and delta for Gaussian noise. */
static inline int plan_budget_costs_rho(const plan_budget *budget)
{
    return budget->rho != NULL || budget->delta != NULL;
}

typedef struct plan_ledger {
    const char *file, *key, *dataset, *request, *analyst, *delta;
} plan_ledger;

typedef struct plan_display {
    uint64_t rounding;
    const char *zero, *structural_zero, *negative, *suppressed;
} plan_display;

typedef struct plan_outputs {
    const char *folder, *sign;
    plan_list formats;
    int zeros, sparse;
} plan_outputs;

struct cellar_plan {
    const char *const *places; /* databases, the caller's; NULL: none yet */
    size_t n_places;
    cellar_arena *arena; /* holds all texts and lists */
    const char *name;
    const plan_node *tree;                /* for the lines of what is found wrong later */
    char digest[CELLAR_PLAN_DIGEST_TEXT]; /* of the plan's bytes */
    uint64_t version;
    const char *title;
    plan_data data;
    plan_unit unit;
    plan_list variables, tables, rules, accept; /* plan_variable, plan_table, plan_rule, texts */
    plan_universe universe;
    const char *mechanism;
    plan_budget budget;
    int neighbours, negatives, parameter_choice; /* values of the enums of these names */
    uint64_t threshold;
    int below; /* 1 zero, 2 suppress */
    plan_display display;
    plan_outputs outputs;
    plan_ledger ledger;
};

/* The delta at which an epsilon is certified and charged; NULL: the usual ones. */
static inline const char *plan_delta(const cellar_plan *plan)
{
    return plan->budget.delta != NULL ? plan->budget.delta : plan->ledger.delta;
}

static inline plan_variable *plan_variable_at(const cellar_plan *plan, size_t v)
{
    return (plan_variable *) plan->variables.items + v;
}

static inline plan_table *plan_table_at(const cellar_plan *plan, size_t t)
{
    return (plan_table *) plan->tables.items + t;
}

static inline plan_universe_table *plan_universe_table_at(const cellar_plan *plan, size_t t)
{
    return (plan_universe_table *) plan->universe.tables.items + t;
}

static inline plan_rule *plan_rule_at(const cellar_plan *plan, size_t r)
{
    return (plan_rule *) plan->rules.items + r;
}

static inline const char *plan_text_at(const plan_list *list, size_t i)
{
    return ((const char *const *) list->items)[i];
}

/* 1 when `word` is one of the texts. */
int cellar_plan_has_text(const plan_list *list, const char *word);
/* The set of acceptances (cellar/acceptance.h) that the plan names. */
unsigned cellar_plan_accepts(const cellar_plan *plan);

/* The fields of a plan, and those that say what is counted: data, unit and variables. */
extern const plan_field cellar_plan_fields[], cellar_plan_record_fields[];

/* cellar_plan_parse() without opening any file that the plan names. */
cellar_status cellar_plan_parse_text(const char *name, const char *folder, const char *bytes,
                                     size_t length, cellar_plan **out, cellar_error *err);
/* Finds what names stand for, and refuses what contradicts itself. */
cellar_status cellar_plan_resolve(cellar_plan *plan, cellar_error *err);
/* The same of what is counted alone. */
cellar_status cellar_plan_resolve_records(cellar_plan *plan, cellar_error *err);
/* Frees the code lists and recode maps. */
void cellar_plan_unload(cellar_plan *plan);
/* Reads the code lists and recode maps. */
cellar_status cellar_plan_load(cellar_plan *plan, cellar_error *err);

/* The line of "outputs.formats", or of the nearest thing above it that was written. */
size_t cellar_plan_line(const cellar_plan *plan, const char *path);

/* "plan.yaml:12: outputs.formats: WHAT" for what is not in a list. */
cellar_status cellar_plan_fail_at(const cellar_plan *plan, const char *path, cellar_error *err,
                                  const char *format, ...) CELLAR_PRINTF(4, 5);

/* A margin of a table as "region*sex", or "total". */
void cellar_plan_add_margin(cellar_text *text, const cellar_plan *plan, const plan_table *table,
                            uint64_t mask);

#endif
