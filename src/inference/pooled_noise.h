/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The errors of a table that is estimated from all values of a release together. */
#ifndef CELLAR_INFERENCE_POOLED_NOISE_H
#define CELLAR_INFERENCE_POOLED_NOISE_H

#include <cellar/mechanism.h>

#include "inference/simulate.h"

/* The error of cell i is the sum of weights[i * n_values + v] times the noise of value v. */
typedef struct cellar_pooled_noise {
    cellar_mechanism *mechanism; /* of the noise of every value */
    size_t n_cells, n_values;
    double *weights;
} cellar_pooled_noise;

void cellar_pooled_noise_free(cellar_pooled_noise *noise); /* NULL is fine */

/* The errors of all cells, the noise of all values drawn again. */
cellar_status cellar_pooled_noise_draw(const cellar_pooled_noise *noise,
                                       cellar_simulator *simulator, double *errors,
                                       cellar_error *err);

#endif
