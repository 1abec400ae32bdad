/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Sichel distributions: Poisson counts whose mean is generalised inverse Gaussian. The
 * Poisson-inverse Gaussian distribution is the one with nu = -1/2. */
#ifndef CELLAR_MECHANISM_KERNELS_SICHEL_H
#define CELLAR_MECHANISM_KERNELS_SICHEL_H

#include "mechanism/kernels/kernel.h"

typedef struct cellar_sichel {
    cellar_kernel kernel;
    fmpq_t order; /* nu */
    long double nu, sigma;
    long double g;            /* K_{nu+1}(1/sigma) / K_nu(1/sigma) */
    long double log_k_scaled; /* ln[e^{1/sigma} K_nu(1/sigma)] */
    arb_t k_ball, g_ball;     /* e^{1/sigma} K_nu(1/sigma) and g */
    int64_t bits;             /* for precisions up to this, which runs do with */
} cellar_sichel;

/* Sets up the distribution; the parameters alpha and sigma are there. */
cellar_status cellar_sichel_init(cellar_mechanism *m, const fmpq_t nu, cellar_error *err);
void cellar_sichel_clear(cellar_mechanism *m);

#endif
