/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a set of cells. */
#ifndef CELLAR_INFERENCE_CELL_SET_H
#define CELLAR_INFERENCE_CELL_SET_H

#include <cellar/interval.h>

struct cellar_cell_set {
    unsigned char *has; /* by cell of the table */
    size_t n_table, n_cells;
};

#endif
