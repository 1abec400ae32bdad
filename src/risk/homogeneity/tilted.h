/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts of a value weighted by absence or presence, within the window that holds all but 1e-20 of
 * the weights. */
#ifndef CELLAR_RISK_HOMOGENEITY_TILTED_H
#define CELLAR_RISK_HOMOGENEITY_TILTED_H

#include <complex.h>

#include "risk/homogeneity/presence.h"

/* The weights before: Poisson probabilities with that mean, or the power series
 * Gamma(j + alpha) / (Gamma(alpha) j!) theta^j. */
typedef struct cellar_count_law {
    int is_power;
    double mean;
    double alpha, theta;
} cellar_count_law;

typedef struct cellar_tilted {
    uint64_t low;    /* the count of weights[0] */
    size_t n;        /* how many weights */
    double *weights; /* they sum to one */
    size_t capacity;
    double log_sum; /* of the weighted law; -INFINITY when nothing is left of it */
    double mean, variance;
} cellar_tilted;

/* {0} before the first call; answers 0 when memory ends. `shown`: weighted by presence, from count
 * 1 on; otherwise by absence. Counts above `most` are left out. */
int cellar_tilted_make(cellar_tilted *law, const cellar_presence *presence,
                       const cellar_count_law *counts, int shown, uint64_t most);
void cellar_tilted_clear(cellar_tilted *law);

/* E[e^{i angle (J - centre)}], and with *times the same with a factor J (NULL: not asked for). */
double complex cellar_tilted_turn(const cellar_tilted *law, double angle, uint64_t centre,
                                  double complex *times);

#endif
