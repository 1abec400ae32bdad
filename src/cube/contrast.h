/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact noise of weighted sums of cells of an estimated table. */
#ifndef CELLAR_CUBE_CONTRAST_H
#define CELLAR_CUBE_CONTRAST_H

#include "cube/lattice.h"

/* The covariance of two sums over the cells of one table, each with weights that are products: the
 * weight of a cell is the product over the table's variables of u[i][node]. One cell has a single 1
 * in each u[i]; a group of categories has several; a difference of two cells that share all but one
 * variable has a 1 and a -1 in that one. Other sums are sums of such, and so are their covariances.
 *
 * The estimate gives interaction C the share alpha_{C,A} = w_A / (ratio(A, C) tau_C) of table A, so
 * with z_C the weights u averaged to the levels of C and freed of the means of siblings,
 *     Cov = sum_A (1/w_A) sum_{C, C' below A and the table} alpha_{C,A} alpha_{C',A} <z_C,
 * z'_C'>_A, the inner product taken over the cells of A, variable by variable. It holds for every
 * hierarchy; in balanced ones all terms with C != C' are 0. */
cellar_status cellar_cube_covariance(const cube_lattice *lattice, const double *w,
                                     const double *tau, uint32_t table, const double *const *u,
                                     const double *const *v, double *out, cellar_error *err);

/* z of all levels of one variable from weights of the nodes of `level`, one level after the other;
 * `start[c]` says where that of level c begins, and `sums` has room for a level. */
void cellar_cube_free_of_means(const cube_axis *axis, size_t level, const double *u,
                               const size_t *start, double *sums, double *z);
/* The node of each level above a node of level a, itself included. */
void cellar_cube_path_up(const cube_axis *axis, size_t a, uint32_t node,
                         uint32_t path[CUBE_LEVELS_MAX + 1]);

#endif
