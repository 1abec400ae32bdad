/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proven probabilities of the Delaporte distribution. */
#ifndef CELLAR_MECHANISM_KERNELS_DELAPORTE_BALLS_H
#define CELLAR_MECHANISM_KERNELS_DELAPORTE_BALLS_H

#include "mechanism/kernels/kernel.h"

/* The slots p_balls and run of delaporte. */
void cellar_delaporte_p_balls(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                              int64_t bits, arb_ptr out);
cellar_status cellar_delaporte_run(const cellar_kernel *k, int64_t count, int64_t first,
                                   cellar_run *out, cellar_error *err);

/* Its two independent components: Poisson (part 0) and negative binomial (part 1). */
void cellar_delaporte_part_balls(const cellar_kernel *k, int64_t count, int part, int64_t first,
                                 size_t n, int64_t bits, arb_ptr out);

#endif
