/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a fit: observations by index, and the equations they make. */
#ifndef CELLAR_RELEASE_ADJUSTMENT_ADJUSTMENT_H
#define CELLAR_RELEASE_ADJUSTMENT_ADJUSTMENT_H

#include <cellar/adjustment.h>

#include "release/release.h"

/* E maps the inner cells x to all cells and aggregates; W holds the weights of the observed
 * ones. The estimate solves E'WE x = E'Wy. Arrays have one number for each index of the schema;
 * those of unknowns are zero in the aggregates' places. */
struct cellar_adjustment {
    cellar_schema *schema;
    size_t n;         /* indices */
    double *weight;   /* 1 / variance; 0 where nothing was observed */
    double *observed; /* y, or 0 */
    double *diagonal; /* of E'WE; 0 where x is no unknown or no release covers it */
    double *estimate; /* E x */
    double total;     /* the sum of x */
    int is_estimated; /* some variances were taken at released counts */
    double exact;     /* a value that weighs so much has no error, and stays; 0: none does */
    double tolerance;
    uint32_t max_iterations, n_iterations;
    double remainder;
};

/* Arrays for every index of fit->schema, zeroed; cellar_adjustment_free() frees them. */
cellar_status cellar_adjustment_allocate(cellar_adjustment *fit, cellar_error *err);
/* Fills fit->diagonal once all weights are there. */
void cellar_adjustment_make_diagonal(cellar_adjustment *fit);

/* The schema of a fit (adjustment_schema.c): the first release's variables, with every margin and
 * hierarchy that some release holds or the options ask for. On failure *out is NULL. */
cellar_status cellar_adjustment_make_schema(const cellar_release *const *releases,
                                            size_t n_releases,
                                            const cellar_adjustment_options *options,
                                            cellar_schema **out, cellar_error *err);

/* Takes in the released values of a release (adjustment_observe.c): adds weights and weighted
 * numbers to fit->weight and fit->observed. */
cellar_status cellar_adjustment_observe(cellar_adjustment *fit, const cellar_release *release,
                                        cellar_error *err);

/* Solves E'WE x = right for the unknowns (adjustment_solve.c), by conjugate gradients. `right` is
 * zero in the aggregates' places, and so is `x`, which begins as zero. */
typedef struct cellar_adjustment_solution {
    uint32_t n_iterations;
    double remainder;
} cellar_adjustment_solution;
cellar_status cellar_adjustment_solve(const cellar_adjustment *fit, const double *right, double *x,
                                      const cellar_progress *progress,
                                      cellar_adjustment_solution *out, cellar_error *err);

#endif
