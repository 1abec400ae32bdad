/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maximum likelihood of a log-linear model given released numbers. */
#ifndef CELLAR_INFERENCE_FIT_H
#define CELLAR_INFERENCE_FIT_H

#include "inference/likelihood.h"
#include "inference/model.h"

/* A model on the cells of a table. Cells that are left out (structural zeros, and cells of margins
 * that are certainly empty) have a mean of zero. */
typedef struct cellar_fitter cellar_fitter;

typedef struct cellar_maximum {
    double log_likelihood;
    int converged;
    int n_starts, n_agreeing; /* starting points, and how many led to the same maximum */
    size_t n_iterations;
} cellar_maximum;

/* Keeps nothing of its arguments. `n_levels` is the shape of the table, last variable fastest.
 * On failure *out is NULL. */
cellar_status cellar_fitter_create(const cellar_model *model, const size_t *n_levels,
                                   size_t n_variables, cellar_fitter **out, cellar_error *err);
void cellar_fitter_free(cellar_fitter *fitter); /* NULL is fine */

/* Fits. observations[i] is the released number of cell i, NULL for a structural zero. `offset` is
 * added to the logarithm of every mean; NULL: none. `n_starts` is 1, or 2 for a second start
 * elsewhere. A fit that did not converge is no failure: out->converged is 0. */
cellar_status cellar_fitter_run(cellar_fitter *fitter, cellar_observation *const *observations,
                                const double *offset, int n_starts, cellar_maximum *out,
                                cellar_error *err);

/* Of the latest fit: the means of all cells, and what is known of each count given its number. */
const double *cellar_fitter_means(const cellar_fitter *fitter);
const cellar_posterior *cellar_fitter_posteriors(const cellar_fitter *fitter);
/* 1 for cells that are certainly empty margins' or structural zeros. */
int cellar_fitter_leaves_out(const cellar_fitter *fitter, size_t cell);
size_t cellar_fitter_n_used(const cellar_fitter *fitter);

/* The number of free parameters on the cells used: the rank of the design. */
cellar_status cellar_fitter_rank(cellar_fitter *fitter, size_t *rank, cellar_error *err);

/* For weights w > 0 of the cells: lever[i] = w_i x_i' (X'WX)^-1 x_i, the share of cell i's
 * information that the parameters take. */
cellar_status cellar_fitter_levers(cellar_fitter *fitter, const double *weights, double *levers,
                                   cellar_error *err);

#endif
