/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dense symmetric systems by Cholesky's method. */
#ifndef CELLAR_MATH_CHOLESKY_H
#define CELLAR_MATH_CHOLESKY_H

#include <stddef.h>

/* Replaces the lower triangle of the n x n matrix (row by row) by its factor. Pivots of at most
 * `tolerance` times the diagonal they started from count as zero: their column is set to zero, and
 * solutions have a zero there. Answers the rank. */
size_t cellar_cholesky_factor(double *matrix, size_t n, double tolerance);

/* Solves in place with a factor. */
void cellar_cholesky_solve(const double *factor, size_t n, double *vector);

#endif
