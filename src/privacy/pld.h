/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Privacy loss distributions: the distribution of ln P(b)/Q(b), b drawn from P, on a grid of
 * losses.
 *
 * A pair whose losses lie on a lattice is kept exactly. For others each atom of mass p and loss L
 * between two grid points is split between them so that both P and Q keep their mass. The pair
 * is then a post-processing of what is kept (which point was drawn is forgotten), so what is kept
 * dominates it, also in every composition (Zhu, Dong and Wang 2022): this is the interpolation of
 * the hockey-stick curve from above (Doroshenko et al. 2022) without taking differences. */
#ifndef CELLAR_PRIVACY_PLD_H
#define CELLAR_PRIVACY_PLD_H

#include "privacy/losses.h"

/* Masses on offset + spacing * integer. */
typedef struct cellar_pld {
    double offset, spacing;
    double infinite, infinite_true, moved;
    double mass_error; /* relative, of each mass */
    double loss_error; /* the losses are those of the pair to within this */
    double split;      /* the spacing when masses were split between grid points, else 0 */
    /* The cells that are not empty, by rising loss: losses and the logarithms of masses. */
    double *loss, *log_mass;
    int64_t *index;
    size_t n_filled;
} cellar_pld;

/* On the grid of multiples of `spacing`; with spacing 0 on the lattice of the losses refined by
 * the factor `refine` >= 1. On failure there is nothing to clear; CELLAR_ERR_OVERFLOW when the grid
 * would be too fine. */
cellar_status cellar_pld_create(const cellar_losses *losses, double spacing, uint64_t refine,
                                cellar_pld *out, cellar_error *err);
void cellar_pld_clear(cellar_pld *pld); /* {0} is fine */

#endif
