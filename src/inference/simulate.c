/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/simulate.h"

#include <math.h>

#include "base/error.h"
#include "math/special.h"

cellar_status cellar_simulator_init(cellar_simulator *simulator, uint64_t seed, uint64_t stream,
                                    cellar_error *err)
{
    *simulator = (cellar_simulator){.rng = NULL};
    return cellar_rng_create_seeded(seed, stream, &simulator->rng, err);
}

void cellar_simulator_clear(cellar_simulator *simulator)
{
    cellar_rng_free(simulator->rng);
    simulator->rng = NULL;
}

static uint64_t next_word(cellar_simulator *simulator)
{
    if (simulator->n_left == 0) {
        cellar_status status =
            cellar_rng_bytes(simulator->rng, simulator->buffer, sizeof simulator->buffer, NULL);
        if (status != CELLAR_OK)
            simulator->status = status; /* the buffer is zeroed: numbers go on, and are refused */
        simulator->n_left = sizeof simulator->buffer / sizeof simulator->buffer[0];
    }
    return simulator->buffer[--simulator->n_left];
}

double cellar_simulate_uniform(cellar_simulator *simulator)
{
    return ((double) (next_word(simulator) >> 12) + 0.5) * 0x1p-52;
}

double cellar_simulate_normal(cellar_simulator *simulator)
{
    const double u = cellar_simulate_uniform(simulator), v = cellar_simulate_uniform(simulator);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v); /* Box and Muller 1958 */
}

static int64_t poisson_invert(cellar_simulator *simulator, double mean)
{
    double u = cellar_simulate_uniform(simulator), p = exp(-mean);
    int64_t k = 0;
    while (u > p && k < 1000) {
        u -= p;
        p *= mean / (double) ++k;
    }
    return k;
}

/* Algorithm PTRS. */
static int64_t poisson_reject(cellar_simulator *simulator, double mean)
{
    double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
    for (int trial = 0; trial < 10000; trial++) {
        double u = cellar_simulate_uniform(simulator) - 0.5;
        double v = cellar_simulate_uniform(simulator);
        double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= v_r)
            return (int64_t) k;
        if (k < 0 || (us < 0.013 && v > us))
            continue;
        if (log(v * inverse_alpha / (a / (us * us) + b)) <=
            (double) cellar_log_poisson((int64_t) k, mean))
            return (int64_t) k;
    }
    return (int64_t) mean; /* the source has failed, which its status tells */
}

int64_t cellar_simulate_poisson(cellar_simulator *simulator, double mean)
{
    if (!(mean > 0))
        return 0;
    return mean < 12 ? poisson_invert(simulator, mean) : poisson_reject(simulator, mean);
}

/* Adds the noise of one more cell. Noise does not depend on the count, which may not be negative.
 */
static cellar_status simulate_more_noise(cellar_simulator *simulator, const cellar_channel *channel,
                                         int64_t *numbers, size_t n, cellar_error *err)
{
    const int64_t lift = INT64_C(1) << 56;
    cellar_status status;
    for (size_t i = 0; i < n; i++)
        numbers[i] += lift;
    status =
        cellar_mechanism_sample_many(channel->mechanism, numbers, n, simulator->rng, numbers, err);
    for (size_t i = 0; i < n; i++)
        numbers[i] -= lift;
    return status;
}

cellar_status cellar_simulate_release(cellar_simulator *simulator, const cellar_channel *channel,
                                      uint64_t n_summed, const int64_t *counts, size_t n,
                                      int64_t *numbers, cellar_error *err)
{
    cellar_status status = simulator->status;
    if (status != CELLAR_OK)
        return cellar_fail(err, status, "the source of random numbers failed");
    status =
        cellar_mechanism_sample_many(channel->mechanism, counts, n, simulator->rng, numbers, err);
    for (uint64_t k = 1; k < n_summed && status == CELLAR_OK; k++)
        status = simulate_more_noise(simulator, channel, numbers, n, err);
    for (size_t i = 0; i < n && status == CELLAR_OK; i++)
        numbers[i] = cellar_channel_clamp(channel, numbers[i]);
    return status;
}
