/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Propensity models that do not know all interactions: of each record of both tables together they
 * guess from which one it is. */
#ifndef CELLAR_UTILITY_PROPENSITY_MODELS_H
#define CELLAR_UTILITY_PROPENSITY_MODELS_H

#include <cellar/random.h>

#include "utility/frame.h"

/* The records of both tables, cell by cell; cells that neither has are left out. Negative released
 * values are taken for zero. */
typedef struct utility_pooled {
    const utility_frame *frame;
    size_t n;
    uint32_t *leaves; /* [cell][variable] */
    double *released; /* of the records of a cell, those that were released */
    double *records;  /* of both tables */
    double n_records, n_released;
} utility_pooled;

cellar_status cellar_utility_pooled_init(utility_pooled *pooled, const utility_frame *frame,
                                         const utility_cells *released, cellar_error *err);
void cellar_utility_pooled_clear(utility_pooled *pooled);

/* Parameters of the logistic model of main effects and pairs; as many as may be. */
enum { UTILITY_LOGISTIC_MAX = 1500 };
uint64_t cellar_utility_logistic_parameters(const utility_frame *frame);

enum { UTILITY_N_LOGISTIC = 3 };
/* pMSE of that model, its ratio to the expectation, standardised. */
cellar_status cellar_utility_logistic(const utility_pooled *pooled, double out[UTILITY_N_LOGISTIC],
                                      cellar_error *err);

enum { UTILITY_N_TREE = 2 };
/* pMSE of a regression tree, and its ratio to 1 - c times the mean over tables whose labels were
 * exchanged at random, with the seed. */
cellar_status cellar_utility_tree(const utility_pooled *pooled, uint64_t seed,
                                  double out[UTILITY_N_TREE], cellar_error *err);

#endif
