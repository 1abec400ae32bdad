/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a released number tells about a mean, on average. */
#ifndef CELLAR_INFERENCE_INFORMATION_H
#define CELLAR_INFERENCE_INFORMATION_H

#include "inference/likelihood.h"

/* The expected information about ln(mean) in the number released for a Poisson count: the variance
 * of E[a|x] - mean. Without noise it is the mean. information[i] is that of means[i]; 0 for a mean
 * of 0. */
cellar_status cellar_information_many(cellar_likelihood *likelihood, const cellar_channel *channel,
                                      const double *means, size_t n, double *information,
                                      cellar_error *err);

#endif
