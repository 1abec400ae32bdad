/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proven Bessel functions of the third kind, of any order: what Arb has is for small ones. */
#ifndef CELLAR_MATH_BESSEL_BALL_H
#define CELLAR_MATH_BESSEL_BALL_H

#include "math/flint.h"

/* e^x K_order(x) and K_{order+1}(x) / K_order(x) to about `bits` bits, for x > 0 and any order;
 * the inputs should have some 64 bits more. */
void cellar_bessel_k_balls(const arb_t order, const arb_t x, int64_t bits, arb_t k_scaled,
                           arb_t ratio);

#endif
