/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proven probabilities of the Poisson and the negative binomial law. */
#ifndef CELLAR_MECHANISM_KERNELS_COUNT_BALLS_H
#define CELLAR_MECHANISM_KERNELS_COUNT_BALLS_H

#include <stddef.h>
#include <stdint.h>

#include "math/flint.h"

/* Enclosures of P(first + i), i < n, to about `bits` bits: the first by logarithms, the others by
 * their ratios. */
void cellar_poisson_balls(const fmpq_t mean, int64_t first, size_t n, int64_t bits, arb_ptr out);

/* Of variance mean + sigma mean^2. */
void cellar_negbin_balls(const fmpq_t mean, const fmpq_t sigma, int64_t first, size_t n,
                         int64_t bits, arb_ptr out);

#endif
