/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/information.h"

#include <math.h>

/* The numbers that are likely to be released: those of the counts that are likely to occur. */
static void information_range(const cellar_channel *channel, double mean, int64_t *low,
                              int64_t *high)
{
    const double tail = 1e-11, far = 7.5;
    int64_t first = (int64_t) fmax(0, mean - far * sqrt(mean) - 2), unused;
    int64_t last = (int64_t) (mean + far * sqrt(mean) + 12);
    if (channel->sum != NULL) {
        *low = first - cellar_noise_sum_reach(channel->sum);
        *high = last + cellar_noise_sum_reach(channel->sum);
    } else {
        cellar_mechanism_support(channel->mechanism, first, tail, low, &unused);
        cellar_mechanism_support(channel->mechanism, last, tail, &unused, high);
    }
    if (cellar_channel_is_clamped(channel) && *low < 0)
        *low = 0;
}

/* 0 for numbers that are never released: below the threshold, or what a kernel forbids. */
static int information_may_occur(const cellar_channel *channel, int64_t x)
{
    if (x > 0 && x < channel->threshold)
        return 0;
    return cellar_channel_is_additive(channel) ||
           cellar_channel_log_pmf(channel, x > 0 ? x : 0, x) > -INFINITY;
}

/* The sum over all likely x of L(mean; x) (E[a|x] - mean)^2. Where numbers are many, every k-th is
 * asked: both factors are smooth on the scale of the noise. */
static cellar_status information_at(cellar_likelihood *likelihood, const cellar_channel *channel,
                                    double mean, double *out, cellar_error *err)
{
    enum { ASKED = 400 };
    int64_t low, high, step;
    double sum = 0, mass = 0;
    cellar_status status = CELLAR_OK;
    information_range(channel, mean, &low, &high);
    step = cellar_channel_is_additive(channel) && high - low > INT64_C(4) * ASKED
               ? (high - low) / ASKED
               : 1;
    for (int64_t x = low; x <= high && status == CELLAR_OK; x += x == 0 && low == 0 ? 1 : step) {
        cellar_observation *o;
        cellar_posterior p;
        double weight;
        if (!information_may_occur(channel, x))
            continue;
        status = cellar_likelihood_observe(likelihood, x, &o, err);
        if (status == CELLAR_OK)
            status = cellar_observation_at(o, mean, &p, err);
        if (status != CELLAR_OK)
            break;
        weight = exp(p.log_likelihood) * (x == 0 && low == 0 ? 1 : (double) step);
        mass += weight;
        sum += weight * (p.mean - mean) * (p.mean - mean);
    }
    *out = mass > 0 ? fmin(sum / mass, mean) : 0;
    return status;
}

cellar_status cellar_information_many(cellar_likelihood *likelihood, const cellar_channel *channel,
                                      const double *means, size_t n, double *information,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < n && status == CELLAR_OK; i++) {
        information[i] = 0;
        if (means[i] > 0)
            status = information_at(likelihood, channel, means[i], &information[i], err);
    }
    return status;
}
