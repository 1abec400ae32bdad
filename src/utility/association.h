/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chi-square, G-square and Cramer's V, of tables in which negatives count as zero. */
#ifndef CELLAR_UTILITY_ASSOCIATION_H
#define CELLAR_UTILITY_ASSOCIATION_H

#include <cellar/utility.h>

#include "utility/frame.h"

/* Room for the one-way sums of a table: the radices together. */
size_t cellar_association_room(const utility_frame *frame);

/* Mutual independence of all variables; of two variables, their independence. `sums` has the room.
 * Cells that are not listed are not visited. */
void cellar_association_of_cells(const utility_frame *frame, const utility_cells *cells,
                                 double *sums, cellar_association *out);

/* Independence in a two-way table, row by row; `sums` has room for rows and columns. */
void cellar_association_of_pair(const double *table, size_t n_rows, size_t n_columns, double *sums,
                                cellar_association *out);

#endif
