/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact noise of weighted sums of cells of an estimated table. */
#ifndef CELLAR_CUBE_CONTRAST_H
#define CELLAR_CUBE_CONTRAST_H

#include "cube/lattice.h"

/* The covariance of two sums over the cells of one table, each with weights that are products: the
 * weight of a cell is the product over the table's variables of u[i][node]. One cell has a single 1
 * in each u[i]; a group of categories has several; a difference of two cells that share all but one
 * variable has a 1 and a -1 in that one. Other sums are sums of such, and so are their covariances.
 *     Cov = sum over C below the table of (product over i of <Q_c u_i, Q_c v_i>) / tau_C,
 * where u_i is averaged to level c and Q_c takes the mean of siblings away. On failure *out is 0.
 */
cellar_status cellar_cube_covariance(const cube_lattice *lattice, const double *tau, uint32_t table,
                                     const double *const *u, const double *const *v, double *out,
                                     cellar_error *err);

#endif
