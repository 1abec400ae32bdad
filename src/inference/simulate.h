/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulated tables: Poisson counts, and the numbers a channel makes of them. */
#ifndef CELLAR_INFERENCE_SIMULATE_H
#define CELLAR_INFERENCE_SIMULATE_H

#include <cellar/random.h>

#include "inference/channel.h"

/* A seeded source of numbers. Floating point: for simulation, never for a release. Failures are
 * kept until somebody asks. */
typedef struct cellar_simulator {
    cellar_rng *rng;
    uint64_t buffer[64];
    size_t n_left;
    cellar_status status;
} cellar_simulator;

/* The same numbers for the same seed and stream. Clear it in every case. */
cellar_status cellar_simulator_init(cellar_simulator *simulator, uint64_t seed, uint64_t stream,
                                    cellar_error *err);
void cellar_simulator_clear(cellar_simulator *simulator);

double cellar_simulate_uniform(cellar_simulator *simulator); /* in (0, 1) */
double cellar_simulate_normal(cellar_simulator *simulator);  /* standard normal */
/* Poisson counts: by inversion for small means, by transformed rejection for others (W. Hormann,
 * "The transformed rejection method for generating Poisson random variables", 1993). */
int64_t cellar_simulate_poisson(cellar_simulator *simulator, double mean);

/* numbers[i] = what the channel releases for counts[i]; `numbers` may be `counts`. A channel of
 * sums of `n_summed` cells adds the noise of so many. */
cellar_status cellar_simulate_release(cellar_simulator *simulator, const cellar_channel *channel,
                                      uint64_t n_summed, const int64_t *counts, size_t n,
                                      int64_t *numbers, cellar_error *err);

#endif
