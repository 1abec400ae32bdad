/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Atoms of wide noise, see atoms_noise.c. */
#ifndef CELLAR_PRIVACY_ATOMS_NOISE_H
#define CELLAR_PRIVACY_ATOMS_NOISE_H

#include "privacy/atoms.h"

/* Leaves out what is less likely than doubles tell well, of noise without an end: less than 1e-300
 * in all. */
void cellar_atoms_noise_trim(const cellar_pair *pair, int64_t *low, int64_t *high);

/* Fills in the numbers from `low` to `high` in doubles: 1 when that can be proved for this noise.
 * Where losses are exactly known they are put on their lattice. */
int cellar_atoms_by_noise(const cellar_pair *pair, int64_t low, int64_t high, cellar_atoms *atoms);

#endif
