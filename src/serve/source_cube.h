/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inference from a cube that is served. */
#ifndef CELLAR_SERVE_SOURCE_CUBE_H
#define CELLAR_SERVE_SOURCE_CUBE_H

#include <cellar/cube_inference.h>

#include "serve/source.h"

/* As the functions of a source of these names. */
cellar_status serve_cube_compare(const cellar_cube *cube, const serve_cut *first,
                                 cellar_comparison comparison, const serve_cut *second,
                                 double confidence, cellar_cube_finding *out, cellar_error *err);
/* Half the widths of the intervals of the `n` cells of a cut, in its order. */
cellar_status serve_cube_widths(const cellar_cube *cube, const serve_cut *cut, double tail,
                                double *out, size_t n, cellar_error *err);
cellar_status serve_cube_noisy(const cellar_cube *cube, const serve_dataset *dataset,
                               const serve_table *table, cellar_noisy **out, cellar_error *err);

#endif
