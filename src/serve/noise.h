/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The noise of a release: standard errors and intervals of its values and of their sums. */
#ifndef CELLAR_SERVE_NOISE_H
#define CELLAR_SERVE_NOISE_H

#include <pthread.h>

#include <cellar/release.h>

#include "inference/weighted_noise.h"
#include "serve/answer.h"

/* What is known about it. */
typedef enum serve_noise_kind {
    SERVE_NOISE_ADDED,  /* of one distribution, independent: sums are as good as any value */
    SERVE_NOISE_SINGLE, /* each value has a known distribution that depends on the count: small ones
                           were set to zero, or the mechanism is no addition */
    SERVE_NOISE_UNKNOWN /* no distribution is known: cell keys, matrices that are not at hand */
} serve_noise_kind;

enum { SERVE_NOISE_SUMS = 64, SERVE_NOISE_DECIMALS = 2 }; /* of standard errors */

/* The interval of a sum of so many values, relative to it. */
typedef struct serve_noise_sum {
    uint64_t n; /* 0: not computed yet */
    double tail;
    double below, above;
} serve_noise_sum;

typedef struct serve_noise {
    serve_noise_kind kind;
    cellar_mechanism *mechanism;
    cellar_negatives negatives;
    int64_t threshold;
    double variance, kurtosis; /* of added noise; the excess over that of a normal distribution */
    int has_wave;              /* 1: sums of any width have an exact distribution */
    cellar_noise_wave wave;
    pthread_mutex_t lock;
    serve_noise_sum sums[SERVE_NOISE_SUMS];
} serve_noise;

/* Clear it in every case. */
cellar_status serve_noise_init(serve_noise *noise, const cellar_release *release,
                               cellar_error *err);
void serve_noise_clear(serve_noise *noise);

/* Fills standard error and interval of a value that is the sum of `n` released ones; the interval
 * misses with probability at most `tail`. That of added noise is exact up to sums whose
 * distribution has some thousand values; beyond it is at most three percent of a standard deviation
 * too wide for Gaussian and Laplace noise, and computed from four moments for others. That of other
 * noise is exact for one value; for sums it adds up intervals that hold together, and is wider than
 * need be. */
cellar_status serve_noise_value(serve_noise *noise, const int64_t *released, size_t n, double tail,
                                serve_value *out, cellar_error *err);
/* The standard deviation of a sum of `n` values; NAN when it is not the same for all. */
double serve_noise_sd(const serve_noise *noise, double n);

#endif
