/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Privacy loss distributions: the law of ln P(b)/Q(b), b drawn from P, on a grid of losses.
 *
 * A pair whose losses lie on a lattice is kept exactly. For others each atom of mass p and loss L
 * between two grid points is split between them so that both P and Q keep their mass. The pair
 * is then a post-processing of what is kept (which point was drawn is forgotten), so what is kept
 * dominates it, also in every composition (Zhu, Dong and Wang 2022): this is the interpolation of
 * the hockey-stick curve from above (Doroshenko et al. 2022) without taking differences. */
#ifndef CELLAR_PRIVACY_PLD_H
#define CELLAR_PRIVACY_PLD_H

#include "privacy/atoms.h"

/* Masses on offset + spacing * integer. */
typedef struct cellar_pld {
    double offset, spacing;
    double infinite, infinite_true, moved;
    double mass_error; /* relative, of each mass */
    double loss_error; /* the losses are those of the pair to within this */
    double split;      /* of the steps between which masses were split: sum of squares */
    double widest;     /* and the widest of them */
    /* The cells that are not empty, by rising loss: losses and the logarithms of masses. */
    double *loss, *log_mass;
    int64_t *index;
    size_t n_filled;
} cellar_pld;

typedef enum cellar_pld_rounding {
    CELLAR_PLD_SPLIT, /* dominates the pair */
    CELLAR_PLD_UP     /* every loss is rounded up: bounds P(loss > epsilon) */
} cellar_pld_rounding;

/* On the grid of multiples of `spacing`; with spacing 0 on the lattice of the atoms refined by
 * the factor `refine` >= 1. */
cellar_status cellar_pld_create(const cellar_atoms *atoms, double spacing, uint64_t refine,
                                cellar_pld_rounding rounding, cellar_pld *out, cellar_error *err);
void cellar_pld_clear(cellar_pld *pld);

#endif
