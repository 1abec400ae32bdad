/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The likelihood of a Poisson mean given a released number x:
 *
 *     L(mu; x) = sum over a >= 0 of P_mu(a) p(a, x)
 *
 * ("Confidentiality and differential privacy in the dissemination of frequency tables",
 * section 6.1, eq. 6.2, for any channel). With theta = ln mu its derivatives are moments of the
 * count given x: d ln L = E[a|x] - mu, and d2 ln L = Var[a|x] - mu. So one pass gives the
 * likelihood, the gradient, the curvature and the E-step of the EM algorithm.
 *
 * L is a power series in mu. For each x that occurs its coefficients are kept for panels of mu,
 * equally spaced in sqrt(mu), each with the terms that matter there (1e-20 of the largest): an
 * evaluation is a Horner scheme, and tables with the same channel share the panels. What is
 * computed depends on x and mu alone, never on what was asked before. */
#ifndef CELLAR_INFERENCE_LIKELIHOOD_H
#define CELLAR_INFERENCE_LIKELIHOOD_H

#include "inference/channel.h"

typedef struct cellar_likelihood cellar_likelihood;   /* of one channel; belongs to one thread */
typedef struct cellar_observation cellar_observation; /* a released number; owned by the above */

/* What is known about the count when the mean is given. */
typedef struct cellar_posterior {
    double log_likelihood;
    double mean, variance; /* of the count, given the released number */
} cellar_posterior;

/* The mean at which the likelihood is largest: the saturated model of one cell. */
typedef struct cellar_peak {
    double mean; /* 0 is allowed */
    double log_likelihood;
} cellar_peak;

/* Keeps `channel`. On failure *out is NULL. */
cellar_status cellar_likelihood_create(const cellar_channel *channel, cellar_likelihood **out,
                                       cellar_error *err);
void cellar_likelihood_free(cellar_likelihood *likelihood); /* NULL is fine */

/* The observation of a number, made when it occurs first. Fails with CELLAR_ERR_INPUT when the
 * channel cannot have released it. */
cellar_status cellar_likelihood_observe(cellar_likelihood *likelihood, int64_t released,
                                        cellar_observation **out, cellar_error *err);

/* The likelihood at mean >= 0. */
cellar_status cellar_observation_at(cellar_observation *observation, double mean,
                                    cellar_posterior *out, cellar_error *err);
cellar_status cellar_observation_peak(cellar_observation *observation, cellar_peak *out,
                                      cellar_error *err);
int64_t cellar_observation_released(const cellar_observation *observation);
/* 1 when the number can only come from the count 0. */
int cellar_observation_is_empty(const cellar_observation *observation);

#endif
