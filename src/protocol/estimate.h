/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deciding from margins that are not known exactly, because other people answer in round two
 * (section 7) or values were randomised: the worst margins there may be. */
#ifndef CELLAR_PROTOCOL_ESTIMATE_H
#define CELLAR_PROTOCOL_ESTIMATE_H

#include <cellar/exposure.h>

/* Within this radius of its share in a sample of n people lies the true share of every one of
 * `n_values` values, all at once, with probability 1 - delta (Hoeffding, both sides, and a union
 * over the values). */
double estimate_radius(uint64_t n_people, double n_values, double delta);

/* A value: the least and the largest share it may have, in units of 10^-18. */
typedef struct share_range {
    uint64_t least, largest;
} share_range;

/* Everything within the radius of a share, and in [0,1]; rounded outwards. */
share_range estimate_range(double share, double radius);

/* A curve that lies nowhere below the true one while every share is in its range: a value whose
 * share may be below t counts, with the largest share it may have. Of use for bounds only. Sorts
 * the ranges. */
cellar_status estimate_worst_curve(share_range *ranges, size_t n_values,
                                   cellar_exposure_curve **out, cellar_error *err);

/* A threshold t at which P(Bin(n-1,t) <= k-2) is at most `chance`, and as small as that allows. */
double estimate_threshold(uint64_t population, uint64_t k, double chance);

#endif
