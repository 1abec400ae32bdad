/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Noise whose size is geometric once it is not zero: q(k) = p/2 (1-r) r^(k-1) for k >= 1, with
 * r = e^-epsilon and p = P(noise != 0). The Laplace distributions differ in p only. */
#ifndef CELLAR_MECHANISM_NOISE_GEOMETRIC_H
#define CELLAR_MECHANISM_NOISE_GEOMETRIC_H

#include "mechanism/noise/additive.h"

typedef struct cellar_geometric {
    cellar_additive additive;
    double epsilon;
    double log_half; /* ln(p/2) */
    double log_zero; /* ln(1-p) */
    double nonzero;  /* p */
    /* An enclosure of p/2. */
    void (*half_ball)(const fmpq_t epsilon, int64_t bits, arb_t out);
} cellar_geometric;

extern const cellar_noise cellar_geometric_noise;

/* The one parameter, "epsilon", and its domain. */
extern const cellar_parameter_rule cellar_geometric_parameters[];

#endif
