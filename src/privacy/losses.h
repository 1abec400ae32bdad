/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The losses of all parts of a composition, one by one and on a common grid. */
#ifndef CELLAR_PRIVACY_LOSSES_H
#define CELLAR_PRIVACY_LOSSES_H

#include "privacy/compose.h"
#include "privacy/tight.h"

typedef struct cellar_losses {
    size_t n;
    cellar_atoms *atoms;
    uint64_t *times;
    cellar_pld *plds;
    cellar_part *parts;
    uint64_t *refine; /* per part; of the common lattice */
    int is_lattice;
    int is_rough;                   /* see cellar_stake */
    double n_times;                 /* of all */
    double deviation;               /* of one part's loss, about */
    double largest;                 /* no sum of finite losses is above */
    double infinite, infinite_true; /* mass of infinite loss of the sum, rounded up and down */
    double left_out;                /* no less than what it has for being left out */
    double about;      /* of the order of what was asked for, as far as it is not left out; or 0 */
    cellar_work *work; /* or NULL */
} cellar_losses;

/* But for `tail` of each law, which counts as infinite loss; thinned out for a first look or not.
 */
cellar_status cellar_losses_init(cellar_losses *t, const cellar_stake *stakes, size_t n,
                                 double tail, int is_thin, cellar_error *err);
void cellar_losses_clear(cellar_losses *t);

/* All mass of some part is infinite. */
int cellar_losses_are_empty(const cellar_losses *t);

/* Fills in the parts on a grid, or with spacing 0 on the common lattice. */
cellar_status cellar_losses_put(cellar_losses *t, double spacing, cellar_pld_rounding rounding,
                                cellar_error *err);
/* The tilt for a question, found on a coarse grid, on which losses are rounded like that. */
cellar_status cellar_losses_tilt(cellar_losses *t, double epsilon, double delta,
                                 cellar_pld_rounding rounding, double most, cellar_tilt *out,
                                 cellar_error *err);
/* The spacing of the common lattice. */
double cellar_losses_spacing(const cellar_losses *t);

#endif
