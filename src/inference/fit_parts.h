/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a fitter, for the files that make, run and ask it. */
#ifndef CELLAR_INFERENCE_FIT_PARTS_H
#define CELLAR_INFERENCE_FIT_PARTS_H

#include "inference/fit.h"

struct cellar_fitter {
    size_t n_cells, n_generators, n_effects;
    uint32_t *columns;   /* of cell i: the effect of each generator's margin, ascending */
    unsigned char *used; /* by cell */
    size_t n_used;
    cellar_observation *const *observations; /* of the run */
    const double *offset;

    double *theta, *trial, *change, *best, *means, *data; /* by cell */
    cellar_posterior *posteriors;
    double *effects, *gradient, *fitted; /* by effect */
    double *curvature;                   /* effects x effects, lower triangle; may be NULL */
};

/* Sees which cells are used: not structural zeros, nor cells of a margin all of whose numbers can
 * only come from zero (then the margin leaves the table). */
cellar_status cellar_fitter_prepare(cellar_fitter *f, cellar_observation *const *observations,
                                    cellar_error *err);

/* One cycle of iterative proportional fitting: theta moves, and the means with it, until each
 * generator's margins in turn are those of `data`. */
void cellar_fitter_scale(cellar_fitter *f, const double *data);

#endif
