/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of cells of a cube as weighted sums of the noise of its measured tables. */
#ifndef CELLAR_INFERENCE_CUBE_TERMS_H
#define CELLAR_INFERENCE_CUBE_TERMS_H

#include "cube/cube.h"
#include "inference/weighted_noise.h"

/* A sum over the cells of one table with weights that are products: that of a cell is the product
 * over the table's variables of weights[i][node]. */
typedef struct cube_functional {
    uint32_t table;
    const double *weights[CUBE_ORDER_MAX];
} cube_functional;

enum { CUBE_SUMS_MAX = 2 };

/* Cells of a measured table whose noise enters each of the sums with the same weight. */
typedef struct cube_term {
    uint32_t table;
    double n_cells;
    double weight[CUBE_SUMS_MAX];
} cube_term;

/* The noise of one or two sums. */
typedef struct cube_terms {
    cube_term *items;
    size_t n, room;
    cellar_noise_wave *waves; /* of each table of the cube; unused where it is not measured */
} cube_terms;

/* All that one or two sums have in common with the measured tables. Clear it in every case. */
cellar_status cellar_cube_terms_init(cube_terms *terms, const cellar_cube *cube,
                                     const cube_functional *sums, size_t n_sums, cellar_error *err);
void cellar_cube_terms_clear(cube_terms *terms); /* {0} is fine */

/* The covariance of sums i and j. */
double cellar_cube_terms_covariance(const cube_terms *terms, size_t i, size_t j);
/* The distribution of the error of `first` times the first sum plus `second` times the second. */
cellar_status cellar_cube_terms_noise(const cube_terms *terms, double first, double second,
                                      cellar_weighted_noise **out, cellar_error *err);

#endif
