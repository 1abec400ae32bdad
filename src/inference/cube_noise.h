/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The noise of all cells of a table of a cube, drawn again through the whole measurement. */
#ifndef CELLAR_INFERENCE_CUBE_NOISE_H
#define CELLAR_INFERENCE_CUBE_NOISE_H

#include "cube/cube.h"
#include "inference/simulate.h"

/* Immutable; threads may share one. The cube outlives it. */
typedef struct cellar_cube_noise cellar_cube_noise;

/* Of a table by its number. On failure *out is NULL. */
cellar_status cellar_cube_noise_create(const cellar_cube *cube, uint32_t table,
                                       cellar_cube_noise **out, cellar_error *err);
void cellar_cube_noise_free(cellar_cube_noise *noise); /* NULL is fine */

/* The errors of all cells, in the table's order. */
cellar_status cellar_cube_noise_draw(const cellar_cube_noise *noise, cellar_simulator *simulator,
                                     double *errors, cellar_error *err);

#endif
