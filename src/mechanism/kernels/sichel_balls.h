/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proven probabilities of the Sichel laws. */
#ifndef CELLAR_MECHANISM_KERNELS_SICHEL_BALLS_H
#define CELLAR_MECHANISM_KERNELS_SICHEL_BALLS_H

#include "mechanism/kernels/sichel.h"

/* e^{1/sigma} K_nu(1/sigma), and g = K_{nu+1}(1/sigma) / K_nu(1/sigma). */
void cellar_sichel_constants(const cellar_sichel *s, int64_t bits, arb_t k_scaled, arb_t g);
/* The precision of these that every run, and 256 bits of a probability, can do with. */
int64_t cellar_sichel_bits(const cellar_sichel *s);

void cellar_sichel_p_balls(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                           int64_t bits, arb_ptr out);
cellar_status cellar_sichel_run(const cellar_kernel *k, int64_t count, int64_t first,
                                cellar_run *out, cellar_error *err);

#endif
