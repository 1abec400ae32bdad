/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distribution of a weighted sum of independent integer noises.
 *
 * Estimates of a cube are such sums: weights are fractions, so no convolution on whole numbers has
 * the distribution. Its characteristic function is a product, which is inverted numerically. */
#ifndef CELLAR_INFERENCE_WEIGHTED_NOISE_H
#define CELLAR_INFERENCE_WEIGHTED_NOISE_H

#include <stddef.h>

#include <cellar/status.h>

/* The characteristic function of one noise, which is symmetric: real, and here positive too. */
typedef struct cellar_noise_wave {
    int is_gaussian;
    double scale; /* sigma^2 of a discrete Gaussian; e^-epsilon of a discrete Laplace */
    double log_norm;
    double variance;
} cellar_noise_wave;

/* Of discrete-gaussian and discrete-laplace; CELLAR_ERR_RULE for others. */
cellar_status cellar_noise_wave_init(cellar_noise_wave *wave, const char *mechanism,
                                     cellar_error *err);
/* Its logarithm at t. */
double cellar_noise_wave_log(const cellar_noise_wave *wave, double t);

/* Many independent noises of one kind, each times the same weight. */
typedef struct cellar_noise_term {
    const cellar_noise_wave *wave;
    double weight, n;
} cellar_noise_term;

/* Immutable. */
typedef struct cellar_weighted_noise cellar_weighted_noise;

/* Sorts the terms, and keeps no pointer to them. On failure *out is NULL. */
cellar_status cellar_weighted_noise_create(cellar_noise_term *terms, size_t n,
                                           cellar_weighted_noise **out, cellar_error *err);
void cellar_weighted_noise_free(cellar_weighted_noise *noise); /* NULL is fine */

double cellar_weighted_noise_sd(const cellar_weighted_noise *noise);
/* P(|noise| >= x): an upper bound, which exceeds it by what a shift of x by up to three percent of
 * the standard deviation would. */
double cellar_weighted_noise_outside(const cellar_weighted_noise *noise, double x);

/* The smallest tails that the inversion resolves. */
#define CELLAR_SMALLEST_TAIL 1e-10

/* A width w with P(|noise| > w) <= tail, at most three percent of the standard deviation too large;
 * `tail` is at least CELLAR_SMALLEST_TAIL. */
double cellar_weighted_noise_width(const cellar_weighted_noise *noise, double tail);

#endif
