/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The theorems of "Statistical anonymity" and the numbers of its text. */
#ifndef EXAMPLES_ANONYMITY_THEOREMS_H
#define EXAMPLES_ANONYMITY_THEOREMS_H

#include <cellar/exposure.h>

#include "report.h"

/* The exposure of n cells with these counts, of n_possible ones (0: no others are possible). */
cellar_exposure_curve *curve_of(const uint64_t *counts, size_t n, uint64_t n_possible);

/* Adds the rows of the theorems and of the text. */
void anonymity_theorems(report *r);

#endif
