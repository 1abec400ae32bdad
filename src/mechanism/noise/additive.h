/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mechanisms that add symmetric integer noise: P(released | count) = q(released - count). Such a
 * mechanism describes q on one side; everything else is shared, the exact sampler included. */
#ifndef CELLAR_MECHANISM_NOISE_ADDITIVE_H
#define CELLAR_MECHANISM_NOISE_ADDITIVE_H

#include "mechanism/mechanism.h"

typedef struct cellar_additive cellar_additive;

typedef struct cellar_noise {
    /* Required. ln q(k), k >= 0. */
    double (*log_q)(const cellar_additive *a, int64_t k);
    /* Required. P(noise >= k), k >= 1. */
    double (*tail)(const cellar_additive *a, int64_t k);
    /* Required. An enclosure of q(k), k >= 0, to a relative error of about 2^-bits. */
    void (*q_ball)(const cellar_additive *a, int64_t k, int64_t bits, arb_t out);
    /* Optional. The same for q(first + i), i = 0..n-1, where many together are cheaper. */
    void (*q_balls)(const cellar_additive *a, int64_t first, size_t n, int64_t bits, arb_ptr out);
    /* Required. Enclosures of P(noise >= first + i), first >= 1, i = 0..n-1, to a relative error
     * of about 2^-bits. */
    void (*tail_balls)(const cellar_additive *a, int64_t first, size_t n, int64_t bits,
                       arb_ptr out);
    /* Optional. The largest k with q(k) > 0; NULL: there is none. */
    int64_t (*last)(const cellar_additive *a);
    /* Optional. When q(k+1) / q(k) = e^-rate for all k >= 1, the rate: the sampler is then as
     * fast for wide noise as for narrow. */
    const fmpq *(*rate)(const cellar_additive *a);
    /* Optional. Variance and entropy; NULL: summed. */
    void (*moments)(const cellar_additive *a, cellar_moments *out);
} cellar_noise;

/* The first member of each additive mechanism's struct; init calls cellar_additive_init(). */
struct cellar_additive {
    cellar_mechanism base;
    const cellar_noise *noise;
    struct cellar_noise_sampler *sampler; /* its thresholds are made at the first draw */
};

cellar_status cellar_additive_init(cellar_mechanism *m, const cellar_noise *noise,
                                   cellar_error *err);

/* The value of a numeric parameter that is known to be there. */
const cellar_parameter *cellar_additive_parameter(const cellar_additive *a, const char *name);

/* The shared slots of the table of functions, but for `clear`. */
void cellar_additive_clear(cellar_mechanism *m);
double cellar_additive_log_pmf(const cellar_mechanism *m, int64_t count, int64_t released);
void cellar_additive_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                              int64_t bits, arb_t out);
void cellar_additive_pmf_balls(const cellar_mechanism *m, int64_t count, int64_t first, size_t n,
                               int64_t bits, arb_ptr out);
void cellar_additive_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                             int64_t *high);
cellar_status cellar_additive_sample_many(const cellar_mechanism *m, const int64_t *counts,
                                          size_t n, cellar_rng *rng, int64_t *released,
                                          cellar_error *err);
double cellar_additive_cdf(const cellar_mechanism *m, int64_t count, int64_t released);
double cellar_additive_survival(const cellar_mechanism *m, int64_t count, int64_t released);
void cellar_additive_moments(const cellar_mechanism *m, int64_t count, cellar_moments *out);
void cellar_additive_survival_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                                   int64_t bits, arb_t out);

#define CELLAR_ADDITIVE_SLOTS                                                                      \
    .is_additive = 1, .log_pmf = cellar_additive_log_pmf, .pmf_ball = cellar_additive_pmf_ball,    \
    .support = cellar_additive_support, .sample_many = cellar_additive_sample_many,                \
    .cdf = cellar_additive_cdf, .survival = cellar_additive_survival,                              \
    .moments = cellar_additive_moments, .survival_ball = cellar_additive_survival_ball,            \
    .pmf_balls = cellar_additive_pmf_balls

#endif
