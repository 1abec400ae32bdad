/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of an exposure curve, for the files that compute with it. */
#ifndef CELLAR_RISK_EXPOSURE_EXPOSURE_CURVE_H
#define CELLAR_RISK_EXPOSURE_EXPOSURE_CURVE_H

#include <cellar/exposure.h>

struct cellar_exposure_curve {
    size_t n_steps;
    cellar_exposure_step *steps; /* ascending counts, none of them zero */
    uint64_t n_people, n_cells;
    uint64_t total; /* the number of people, or 10^18 for shares */
    double n_possible;
};

/* The share of a step. */
static inline double curve_share(const cellar_exposure_curve *curve, size_t step)
{
    return (double) curve->steps[step].count / (double) curve->total;
}

/* P(Bin(n-1, x) <= k-2) for lower = 1, the rest of it for 0: the number of others with the same
 * values is too small, or not. `rest` is 1 - x. */
double cellar_exposure_few_others(uint64_t population, uint64_t k, double x, double rest,
                                  int lower);

/* Of somebody whose value of a column the share `share` of the model's people has: which share of
 * the others has it; 0 when so few have it that the person is in a small group for certain. */
static inline double exposure_others(const cellar_exposure_model *model, double share)
{
    double people = share * (double) model->population;
    if (model->population < 2 || people * (1 + 1e-12) < (double) model->k)
        return 0;
    return (people - 1) / ((double) model->population - 1);
}

/* Brings what a model says of these columns within what they show whatever the model: no less than
 * the most exposed of them, no more than the theorems' bound at the threshold. One column has the
 * exposure that was counted. */
cellar_status cellar_exposure_within(const cellar_exposure_curve *const *columns, size_t n,
                                     double threshold, double *value, cellar_error *err);

/* How many of the possible cells are empty. */
double cellar_exposure_n_empty(const cellar_exposure_curve *curve);

#endif
