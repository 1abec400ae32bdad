/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tables to measure, and how precisely.
 *
 * A table A is measured with independent noise of variance 1/w_A in every cell. The estimate of the
 * interaction r_C then has precision tau_C = sum over A above C of w_A / ratio(A, C), and a cell of
 * the estimated table B the variance
 *     Var_B = sum over C below B of p_C / (tau_C ratio(B, C)^2).
 * Both are explained in docs/cube.md. The tau of what is exact is infinite. The cost is sum_A w_A =
 * 2 rho (discrete Gaussian noise, one record in one cell of each table). */
#ifndef CELLAR_CUBE_PRECISION_H
#define CELLAR_CUBE_PRECISION_H

#include "cube/lattice.h"

/* What is wanted. */
typedef struct cube_objective {
    const double
        *weight;         /* of the variance of one cell of each table; 0: the table is not wanted */
    const double *cap;   /* the largest variance of a cell of each table; INFINITY: none. NULL: no
                            table has one */
    const double *known; /* precisions of tables that were measured already and are not measured
                            again, at cost 1. NULL: none were */
    double gap;          /* stop when the loss is proved to be this near to the least [0.001] */
    size_t rounds_max;   /* or after so many rounds [20000] */
} cube_objective;

cube_objective cellar_cube_objective_default(void);

/* What was chosen for a cost of 1; a cost of c multiplies precisions by c and divides variances. */
typedef struct cube_choice {
    double *w;         /* of each table; they add up to 1 */
    double *tau;       /* of each interaction */
    double *variance;  /* of a cell of each table */
    double loss;       /* sum over tables of weight times cells times variance */
    double least;      /* no choice has less: a dual bound. With caps: no choice within them has */
    double free_least; /* the least over all Gaussian matrix mechanisms, without caps; NAN where
                          something is known */
    double over;       /* the largest variance / cap; 0 without caps. Above 1 the caps cannot be met
                          at this cost, and `over` times the cost is enough */
} cube_choice;

/* The precisions w >= 0 that minimise the loss within the caps. `cost` is what is to be spent: caps
 * refer to it. On failure there is nothing to clear. */
cellar_status cellar_cube_choose(const cube_lattice *lattice, const cube_objective *objective,
                                 double cost, cube_choice *out, cellar_error *err);
/* The smallest largest variance / goal over all tables with a finite goal: the caps of the
 * objective, whose weights do not count. */
cellar_status cellar_cube_choose_minimax(const cube_lattice *lattice,
                                         const cube_objective *objective, cube_choice *out,
                                         cellar_error *err);
void cellar_cube_choice_clear(cube_choice *choice); /* {0} is fine */

/* Var_B of a table, from all tau. */
double cellar_cube_variance(const cube_lattice *lattice, const double *tau, size_t table);
/* tau and variances that given precisions have. */
void cellar_cube_evaluate(const cube_lattice *lattice, const double *w, double *tau,
                          double *variance);

#endif
