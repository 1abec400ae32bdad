/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan at work: its tables counted, its mechanisms made. Confidential. */
#ifndef CELLAR_PLAN_WORK_H
#define CELLAR_PLAN_WORK_H

#include <cellar/sql.h>

#include "math/flint.h"
#include "plan/plan.h"

/* One table of the list. */
typedef struct plan_piece {
    const plan_table *table;
    cellar_table *counts; /* with its margins and levels */
    cellar_mechanism *mechanism;
    uint64_t d; /* cells that one record touches */
    uint64_t n_cells, n_structural;
    char suspect; /* a column that may hold numbers of records, of cellar_row_report */
} plan_piece;

typedef struct plan_work {
    const cellar_plan *plan;
    plan_piece *pieces;
    size_t n;
    uint64_t d;          /* of the whole list */
    uint64_t per_unit;   /* records of a unit */
    uint64_t max_weight; /* 1 without weights */
    uint64_t n_sides;    /* 2 under substitution: out of a cell, into another */
    cellar_certificate *certificate;
} plan_work;

/* Refuses a plan of a cube, which has a universe instead of tables. */
cellar_status cellar_plan_check_lists_tables(const cellar_plan *plan, cellar_error *err);

/* Counts all tables, splits the budget, makes the mechanisms and certifies the list. Close it in
 * every case. */
cellar_status cellar_plan_work_open(plan_work *work, const cellar_plan *plan,
                                    const cellar_plan_options *options, cellar_error *err);
void cellar_plan_work_close(plan_work *work);

/* How the chosen variables of the plan are counted; `variables` has room for their specs. */
cellar_tabulate_spec cellar_plan_tabulate_spec(const cellar_plan *plan, const size_t *chosen,
                                               size_t n, const cellar_plan_options *options,
                                               cellar_variable_spec *variables);

/* The table of the databases that the plan names. */
cellar_sql_source cellar_plan_source(const cellar_plan *plan);
cellar_status cellar_plan_need_places(const cellar_plan *plan, cellar_error *err);

/* Counts one table of the plan, or nothing without opening the data where that was asked for
 * (options->without_counts) and every domain is declared. `rows` is what became of the rows. */
cellar_status cellar_plan_count(const cellar_plan *plan, const plan_table *table,
                                const cellar_plan_options *options, cellar_table **out,
                                cellar_row_report *rows, cellar_error *err);

/* "name:..." with one parameter more; NULL when memory ends. Free it with cellar_free(). */
char *cellar_plan_spec_with(const char *spec, const char *key, const char *value);
/* What one unit multiplies the cost of a cell by. */
void cellar_plan_unit_factor(const plan_work *work, int by_rho, fmpz_t out);
double cellar_plan_weight(const plan_table *table);

/* Mechanism specs for all pieces, each by its share; texts are freed with cellar_free(). */
cellar_status cellar_plan_split(const plan_work *work, char **specs, cellar_error *err);
/* The same for a budget of epsilon and delta (sigma.c). */
cellar_status cellar_plan_find_sigmas(const plan_work *work, char **specs, cellar_error *err);
/* The cost of a cell of a table, up to a factor. */
void cellar_plan_relative_size(const plan_work *work, const plan_piece *piece, fmpq_t out);

/* How each table of the list is protected; `options` may be NULL. */
cellar_protect_options cellar_plan_protect_options(const plan_work *work,
                                                   const cellar_plan_run_options *options);

/* The certificate of pieces released together. */
cellar_status cellar_plan_certify(plan_work *work, cellar_error *err);

/* The same, at other epsilons than the usual ones (NULL: those). On failure *out is NULL. */
cellar_status cellar_plan_certify_at(const plan_work *work, const char *const *epsilons, size_t n,
                                     cellar_certificate **out, cellar_error *err);
/* The same, of nothing but the epsilon at that delta. */
cellar_status cellar_plan_certify_delta(const plan_work *work, const char *delta,
                                        cellar_certificate **out, cellar_error *err);

/* The cost of a cell in the split that is optimal for the weights, up to a factor (split.c). */
double cellar_plan_optimal_size(double weight, double n_cells, double d, int by_rho);

#endif
