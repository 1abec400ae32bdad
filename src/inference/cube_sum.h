/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a sum of cells of a cube. */
#ifndef CELLAR_INFERENCE_CUBE_SUM_H
#define CELLAR_INFERENCE_CUBE_SUM_H

#include <cellar/cube_inference.h>

#include "inference/cube_terms.h"

struct cellar_cube_sum {
    unsigned char **inside; /* of each variable: 1 for its categories in the set; NULL: all are */
    size_t n_variables;
    uint32_t table;                  /* the coarsest one that has the set */
    double *weights[CUBE_ORDER_MAX]; /* of the nodes of each of its variables: 1 or 0 */
    double value;
};

cube_functional cellar_cube_sum_functional(const cellar_cube_sum *sum);
/* 1 when every cell of one set is in the other. */
int cellar_cube_sum_is_within(const cellar_cube *cube, const cellar_cube_sum *part,
                              const cellar_cube_sum *whole);

#endif
