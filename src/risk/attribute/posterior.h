/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The belief of a Bayesian attacker about one group, with memory that many groups share. */
#ifndef CELLAR_RISK_ATTRIBUTE_POSTERIOR_H
#define CELLAR_RISK_ATTRIBUTE_POSTERIOR_H

#include <cellar/attribute.h>

/* Numbers by count: p[low..high], nothing elsewhere. */
typedef struct belief_series {
    double *p;
    size_t low, high;
} belief_series;

typedef struct cellar_belief {
    const cellar_mechanism *mechanism;
    cellar_negatives negatives;
    const double *prior;
    size_t n_values;
    uint64_t size_max;
    double *memory;        /* of all series */
    belief_series *counts; /* of each value: its weights by count */
    belief_series *before; /* products of the first k; n_values + 1 */
    belief_series after, next;
    double *logs; /* of each value: the logarithms of its weights, before they are tilted */
} cellar_belief;

/* For groups of up to size_max members. Clear it in every case. */
cellar_status cellar_belief_init(cellar_belief *belief, const cellar_mechanism *mechanism,
                                 cellar_negatives negatives, const double *prior, size_t n_values,
                                 uint64_t size_max, cellar_error *err);
void cellar_belief_clear(cellar_belief *belief);

/* As cellar_attribute_posterior(). */
cellar_status cellar_belief_update(cellar_belief *belief, uint64_t size, const int64_t *released,
                                   double *posterior, cellar_error *err);

#endif
