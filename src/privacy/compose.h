/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many privacy losses added up, by one Fourier transform of exponentially tilted masses: proven
 * bounds from above and below, as small as 1e-300. */
#ifndef CELLAR_PRIVACY_COMPOSE_H
#define CELLAR_PRIVACY_COMPOSE_H

#include "privacy/compose_tilt.h"

/* The distribution of the sum near the losses that matter for one question. */
typedef struct cellar_sum cellar_sum;

/* All parts have the same spacing; the tilt says what the sum is made for. On failure *out is NULL;
 * CELLAR_ERR_OVERFLOW when the grid would be too fine. */
cellar_status cellar_sum_create(const cellar_part *parts, size_t n_parts, const cellar_tilt *tilt,
                                cellar_sum **out, cellar_error *err);
void cellar_sum_free(cellar_sum *sum); /* NULL is fine */

/* Bounds on E max(0, 1 - e^{epsilon - loss}), infinite losses included. */
double cellar_sum_delta_upper(const cellar_sum *sum, double epsilon);
double cellar_sum_delta_lower(const cellar_sum *sum, double epsilon);
/* The smallest epsilon >= 0 found with delta_upper(epsilon) <= delta; INFINITY when none is, as
 * when the mass of infinite loss exceeds delta. */
double cellar_sum_epsilon_upper(const cellar_sum *sum, double delta);
/* The largest epsilon >= 0 found with delta_lower(epsilon) > delta; 0 when none is. */
double cellar_sum_epsilon_lower(const cellar_sum *sum, double delta);

#endif
