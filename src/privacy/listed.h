/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Few privacy losses added up: all sums they have, one by one. No grid, so no gap but rounding. */
#ifndef CELLAR_PRIVACY_LISTED_H
#define CELLAR_PRIVACY_LISTED_H

#include "privacy/pld.h"

typedef struct cellar_listed cellar_listed;

/* The sum of atoms[i], met times[i] times each. Sums less likely than `small` are given to the next
 * larger one, which shows in the lower bounds. *out is NULL when there are too many sums, and on
 * failure. */
cellar_status cellar_listed_create(const cellar_atoms *atoms, const uint64_t *times, size_t n,
                                   double small, cellar_listed **out, cellar_error *err);
void cellar_listed_free(cellar_listed *list); /* NULL is fine */

/* Bounds on E max(0, 1 - e^{epsilon - loss}), infinite losses included. */
double cellar_listed_delta_upper(const cellar_listed *list, double epsilon);
double cellar_listed_delta_lower(const cellar_listed *list, double epsilon);

/* An upper bound on P(|loss| > epsilon), infinite losses included. */
double cellar_listed_violation_upper(const cellar_listed *list, double epsilon);

/* The smallest epsilon >= 0 with delta_upper(epsilon) <= delta, INFINITY when there is none; and
 * the largest with delta_lower(epsilon) > delta, 0 when there is none. */
double cellar_listed_epsilon_upper(const cellar_listed *list, double delta);
double cellar_listed_epsilon_lower(const cellar_listed *list, double delta);

#endif
