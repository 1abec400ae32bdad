/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tight composition: the losses of all components added up, with bounds from above and below that
 * meet within 1e-3 in epsilon at usual parameters, and exactly but for rounding on a lattice. */
#ifndef CELLAR_PRIVACY_TIGHT_H
#define CELLAR_PRIVACY_TIGHT_H

#include "privacy/worst.h"

/* A dominating pair and how often a unit meets it. */
typedef struct cellar_component {
    cellar_one_cell *cell; /* of the caller */
    int larger_is_p;       /* P is that of the larger count of the first pair */
    uint64_t times;
    int is_envelope; /* 1: no pair dominates, and the envelope of all of them stands for it */
} cellar_component;

/* Of delta at `epsilon` >= 0, and of epsilon at `delta` > 0 (INFINITY: there is none). With an
 * envelope the lower bound is 0. CELLAR_ERR_OVERFLOW: losses too many or too far apart to be
 * composed, and nothing is answered. */
cellar_status cellar_tight_delta(const cellar_component *components, size_t n, const fmpq_t epsilon,
                                 cellar_bounds *out, cellar_error *err);
cellar_status cellar_tight_epsilon(const cellar_component *components, size_t n, double delta,
                                   cellar_bounds *out, cellar_error *err);

#endif
