/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact sampler of an additive mechanism, made when it is first needed: proving its thresholds
 * takes milliseconds that certificates and risks need not spend. */
#ifndef CELLAR_MECHANISM_NOISE_NOISE_SAMPLER_H
#define CELLAR_MECHANISM_NOISE_NOISE_SAMPLER_H

#include "mechanism/noise/additive.h"
#include "random/symmetric.h"

typedef struct cellar_noise_sampler cellar_noise_sampler;

cellar_status cellar_noise_sampler_create(cellar_noise_sampler **out, cellar_error *err);
void cellar_noise_sampler_free(cellar_noise_sampler *sampler); /* NULL is fine */

/* released[i] = counts[i] + noise of `a`. Threads may call it at the same time. */
cellar_status cellar_noise_sampler_add(cellar_noise_sampler *sampler, const cellar_additive *a,
                                       const int64_t *counts, size_t n, cellar_rng *rng,
                                       int64_t *released, cellar_error *err);

/* What it draws with, for tests; NULL before the first draw. */
cellar_symmetric *cellar_noise_sampler_symmetric(cellar_noise_sampler *sampler);

#endif
