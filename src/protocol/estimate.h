/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deciding for other people than those who were counted (section 7): margins of a sample as the
 * worst margins that the population may have. */
#ifndef CELLAR_PROTOCOL_ESTIMATE_H
#define CELLAR_PROTOCOL_ESTIMATE_H

#include <cellar/exposure.h>

/* Within this radius of its share in a sample of n people lies the true share of every one of
 * `n_values` values, all at once, with probability 1 - delta (Hoeffding, both sides, and a union
 * over the values). */
double estimate_radius(uint64_t n_people, double n_values, double delta);

/* A curve that lies nowhere below the true one while every share is within the radius: a value
 * whose share may be below t counts, with the largest share it may have. Of use for bounds only. */
cellar_status estimate_worst_curve(const uint64_t *counts, size_t n_values, uint64_t n_people,
                                   double radius, cellar_exposure_curve **out, cellar_error *err);

/* A threshold t at which P(Bin(n-1,t) <= k-2) is at most `chance`, and as small as that allows. */
double estimate_threshold(uint64_t population, uint64_t k, double chance);

#endif
