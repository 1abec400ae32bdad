/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is picked from a table: of each of its variables a list of picks, each a node or a group of
 * nodes. A cell of the answer is the sum over all combinations of nodes of its picks. */
#ifndef CELLAR_CUBE_PICKS_H
#define CELLAR_CUBE_PICKS_H

#include "cube/cube.h"

/* The picks of one variable: those of pick p are nodes[start[p]] .. nodes[start[p + 1]]. */
typedef struct cube_picks {
    size_t n, n_nodes;
    size_t *start;
    uint32_t *nodes;
    size_t start_room, nodes_room;
} cube_picks;

void cellar_cube_picks_clear(cube_picks *picks); /* {0} is empty */
/* Begins another pick, and adds a node to the last one. 0 when memory ends. */
int cellar_cube_picks_begin(cube_picks *picks);
int cellar_cube_picks_add(cube_picks *picks, uint32_t node);
/* One pick for each of the n nodes of a level. 0 when memory ends. */
int cellar_cube_picks_all(cube_picks *picks, uint32_t n);

/* Picks of one variable that have the same noise, whatever is picked of others, share a class. */
typedef struct cube_classes {
    size_t n;
    size_t *of;      /* each pick */
    size_t *first;   /* of each class: its first pick */
    double *weights; /* room for one weight a node */
} cube_classes;

/* 0 when memory ends; clear them in every case. */
int cellar_cube_classify(const cube_axis *axis, size_t level, const cube_picks *picks,
                         cube_classes *out);
void cellar_cube_classes_clear(cube_classes *classes);
/* Sets `weights` to 1 for the nodes of a pick, and to 0 for others. */
void cellar_cube_pick_weights(const cube_picks *picks, size_t pick, uint32_t n_nodes,
                              double *weights);

/* Cells of the answer lie in one array, the last variable fastest. */

/* Adds up the values of all cells of the answer. 0 when some sum is too large. */
int cellar_cube_picks_values(const cellar_cube *cube, uint32_t table, const cube_picks *picks,
                             int64_t *out);
/* The variance of the noise of each. Single nodes with equally many nodes below them, and below
 * those above them, have the same noise, which is computed once. */
cellar_status cellar_cube_picks_variances(const cellar_cube *cube, uint32_t table,
                                          const cube_picks *picks, double *out, cellar_error *err);
/* The largest variance of a cell of a table. */
cellar_status cellar_cube_largest_variance(const cellar_cube *cube, uint32_t table, double *out,
                                           cellar_error *err);

#endif
