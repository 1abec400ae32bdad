/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From measured tables to estimates of all tables: generalised least squares in closed form.
 *
 * With U_A = w_A y_A, the measured table A times its precision, the estimate of an interaction is
 *     r_C = project_C( sum over A above C of mean_{A to C} U_A ) / tau_C
 * (the mean over the cells of A that a cell of C sums), and the estimate of a table adds up its
 * interactions (cube/lattice.h). It equals dense weighted least squares. */
#ifndef CELLAR_CUBE_RECONSTRUCT_H
#define CELLAR_CUBE_RECONSTRUCT_H

#include "cube/lattice.h"

/* Cells of a table lie in one array, the last variable fastest. */

/* Estimates in units of 10^-decimals, in memory of one piece. */
typedef struct cube_values {
    int64_t **tables; /* of each table of the lattice */
    int64_t *cells;   /* all of them, one table after the other */
    size_t n_cells;
} cube_values;

/* The decimals of a cube: far below any noise. */
enum { CUBE_DECIMALS = 6 };

/* Room for the cells of all tables, zeroed. On failure there is nothing to clear. */
cellar_status cellar_cube_values_init(cube_values *values, const cube_lattice *lattice,
                                      cellar_error *err);
void cellar_cube_values_clear(cube_values *values); /* {0} is fine */

/* Estimates all tables from the measured ones: `measured[A]` has the cells of table A, and is NULL
 * where the precision w[A] is 0, unless other tables are summed from it without noise; tau is that
 * of cellar_cube_evaluate(). Every table in `out` sums
 * exactly, as whole numbers, to every table below it: where each variable has a last child the
 * value follows from the tables below, elsewhere it is rounded. CELLAR_ERR_OVERFLOW when values are
 * too large. */
cellar_status cellar_cube_reconstruct(const cube_lattice *lattice, const double *w,
                                      const double *tau, const int64_t *const *measured,
                                      int decimals, cube_values *out, cellar_error *err);

/* 1 when table A, summed along each of its variables, is every table directly below it. */
int cellar_cube_table_adds(const cube_lattice *lattice, uint32_t table,
                           const int64_t *const *values, int64_t *room);

#endif
