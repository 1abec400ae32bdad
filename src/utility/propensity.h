/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures that users of synthetic data expect, from the two tables alone. */
#ifndef CELLAR_UTILITY_PROPENSITY_H
#define CELLAR_UTILITY_PROPENSITY_H

#include "utility/frame.h"

enum { UTILITY_N_PROPENSITY = 6 };

/* pMSE, its ratio to the expectation, standardised; Voas and Williamson; Freeman and Tukey; Jensen
 * and Shannon, in the order of utility/plan.h. NAN where one of the tables is empty, or all are in
 * one cell. */
void cellar_utility_propensity(const utility_cells *original, const utility_cells *released,
                               double out[UTILITY_N_PROPENSITY]);

#endif
