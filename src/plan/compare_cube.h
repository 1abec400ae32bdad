/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a cube would give for the margins that a plan asks for. */
#ifndef CELLAR_PLAN_COMPARE_CUBE_H
#define CELLAR_PLAN_COMPARE_CUBE_H

#include "plan/work.h"

/* A margin of a table of the plan. */
typedef struct plan_cube_target {
    size_t table;
    uint64_t mask;   /* of the table's variables */
    double weight;   /* of the variance of a cell */
    double variance; /* found: of a cell of the lowest levels */
    double loss;     /* found: weight times variance over all its cells, upper levels included */
} plan_cube_target;

typedef struct plan_cube_question {
    const plan_work *work;
    double budget; /* for one cell of each measured table: epsilon, or rho */
    int by_rho;
    plan_cube_target *targets;
    size_t n;
} plan_cube_question;

/* Chooses what to measure so that the sum of all losses is small. `n_measured` is how many tables
 * are; 0 where the plan has no cube: structural zeros, negatives set to zero, a threshold, a
 * table of more than eight variables. */
cellar_status cellar_plan_compare_cube(const plan_cube_question *question, size_t *n_measured,
                                       cellar_error *err);

#endif
