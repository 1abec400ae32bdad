/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Noise with q(k) proportional to e^{-rate |k|^power}, |k| <= last, power 1 or 2: the truncated
 * distributions and the discrete Gaussian. */
#ifndef CELLAR_MECHANISM_NOISE_WEIGHTED_H
#define CELLAR_MECHANISM_NOISE_WEIGHTED_H

#include "mechanism/noise/additive.h"

enum { CELLAR_WEIGHTED_BITS = 160 };

typedef struct cellar_weighted {
    cellar_additive additive;
    fmpq_t rate;
    int power;
    int64_t last; /* INT64_MAX: unbounded, for power 2 only */
    double rate_nearest, log_total;
    arb_t total;   /* of all weights, to CELLAR_WEIGHTED_BITS */
    double *tails; /* P(noise >= k), k = 0..n_tails-1; beyond it is below the smallest double */
    size_t n_tails;
} cellar_weighted;

/* Of the truncated distributions: epsilon and m. */
extern const cellar_parameter_rule cellar_truncated_parameters[];

/* Takes a copy of `rate` (positive). */
cellar_status cellar_weighted_init(cellar_mechanism *m, const fmpq_t rate, int power, int64_t last,
                                   cellar_error *err);
void cellar_weighted_clear(cellar_mechanism *m);

/* Encloses the sum of the weights e^{-rate k^power} over k = first + i .. last, for i = 0..n-1,
 * first >= 0, to a relative error of about 2^-bits. `rate` may be a ball of any width. */
void cellar_weighted_sums(const arb_t rate, int power, int64_t last, int64_t first, size_t n,
                          int64_t bits, arb_ptr out);
/* Encloses the weights themselves. */
void cellar_weighted_list(const arb_t rate, int power, int64_t first, size_t n, int64_t bits,
                          arb_ptr out);
/* Encloses the sum over all k from -last to last. */
void cellar_weighted_total(const arb_t rate, int power, int64_t last, int64_t bits, arb_t out);

#endif
