/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact sampler of a kernel: one table of thresholds for each distinct count, made when the
 * count is first drawn and kept. */
#ifndef CELLAR_MECHANISM_KERNELS_KERNEL_SAMPLER_H
#define CELLAR_MECHANISM_KERNELS_KERNEL_SAMPLER_H

#include "mechanism/kernels/kernel.h"

typedef struct cellar_kernel_sampler cellar_kernel_sampler;

cellar_status cellar_kernel_sampler_create(cellar_kernel_sampler **out, cellar_error *err);
void cellar_kernel_sampler_free(cellar_kernel_sampler *sampler); /* NULL is fine */

/* For tests: how many thresholds are kept in all, from now on. What is drawn does not depend on it.
 */
void cellar_kernel_sampler_keep(cellar_kernel_sampler *sampler, size_t n_thresholds);

/* Draws for each count. Threads may call it at the same time. */
cellar_status cellar_kernel_sampler_draw(cellar_kernel_sampler *sampler, const cellar_kernel *k,
                                         const int64_t *counts, size_t n, cellar_rng *rng,
                                         int64_t *released, cellar_error *err);

#endif
