/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The noise of a sum of cells: the exact convolution of the noise of each. */
#ifndef CELLAR_INFERENCE_NOISE_SUM_H
#define CELLAR_INFERENCE_NOISE_SUM_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/mechanism.h>

typedef struct cellar_noise_sum cellar_noise_sum; /* immutable; symmetric about zero */

/* The law of the sum of `n_cells` independent draws of an additive mechanism's noise. All terms are
 * positive, so that doubles keep their digits; what is left out of a law without end is below
 * 1e-30 on each side. n_cells == 0 is no noise. Fails with CELLAR_ERR_ARGUMENT when the mechanism
 * adds no noise or the law is too wide to be held. On failure *out is NULL. */
cellar_status cellar_noise_sum_create(const cellar_mechanism *mechanism, uint64_t n_cells,
                                      cellar_noise_sum **out, cellar_error *err);
void cellar_noise_sum_free(cellar_noise_sum *sum); /* NULL is fine */

/* The largest value held. */
int64_t cellar_noise_sum_reach(const cellar_noise_sum *sum);
double cellar_noise_sum_pmf(const cellar_noise_sum *sum, int64_t noise);
double cellar_noise_sum_log_pmf(const cellar_noise_sum *sum, int64_t noise);
/* P(at most noise); by symmetry P(at least noise) is that of -noise. */
double cellar_noise_sum_cdf(const cellar_noise_sum *sum, int64_t noise);

#endif
