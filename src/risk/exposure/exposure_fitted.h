/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposure under a model that was counted elsewhere: combinations of values as they occur among
 * other people, fitted to single columns that are known. */
#ifndef CELLAR_RISK_EXPOSURE_EXPOSURE_FITTED_H
#define CELLAR_RISK_EXPOSURE_EXPOSURE_FITTED_H

#include <cellar/exposure.h>

/* The combinations of some columns among the people of the model, the last column's values next to
 * each other. What is counted with noise lies between `low` and `high`. */
typedef struct fitted_cells {
    size_t n_columns, n_cells;
    size_t n_levels[CELLAR_MAX_VARIABLES];
    double *count, *low, *high; /* none below 0 */
    double least_people, most_people;
} fitted_cells;

/* Cells of nobody yet. On failure *out may need clearing. */
cellar_status fitted_cells_create(const size_t *n_levels, size_t n_columns, fitted_cells *out,
                                  cellar_error *err);
void fitted_cells_clear(fitted_cells *cells);

/* The share of the people expected in groups of fewer than k, at most, when they hang together as
 * those of the model do; `counts` has how often each value of each column occurs among them. */
cellar_status cellar_exposure_fitted(const fitted_cells *cells, const uint64_t *const *counts,
                                     const cellar_exposure_model *model, double doubt,
                                     double *value, cellar_error *err);

#endif
