/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The noise of every cell of an estimated table. In a balanced hierarchy all cells of a table have
 * the same variance; in others it depends on the numbers of siblings on the way up, so nodes with
 * the same numbers share it. */
#ifndef CELLAR_CUBE_CELL_VARIANCE_H
#define CELLAR_CUBE_CELL_VARIANCE_H

#include "cube/cube.h"

typedef struct cube_cell_variance {
    size_t order;
    uint32_t n_nodes[CUBE_ORDER_MAX], n_classes[CUBE_ORDER_MAX];
    uint32_t *class_of[CUBE_ORDER_MAX]; /* of each node of each variable of the table */
    double *variance;                   /* by classes, the last variable fastest */
    double largest;
} cube_cell_variance;

/* On failure there is nothing to clear. */
cellar_status cellar_cube_cell_variance_init(cube_cell_variance *v, const cellar_cube *cube,
                                             uint32_t table, cellar_error *err);
void cellar_cube_cell_variance_clear(cube_cell_variance *v); /* {0} is fine */

/* Of the cell at `cell` of the table's array. */
double cellar_cube_cell_variance_at(const cube_cell_variance *v, size_t cell);

#endif
