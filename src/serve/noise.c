/* SPDX-License-Identifier: GPL-3.0-or-later */
#define MATHLIB_STANDALONE
#include "serve/noise.h"

#include <math.h>
#include <string.h>

#include <Rmath.h>

#include "base/error.h"
#include "inference/interval_parts.h"
#include "inference/sum_law.h"
#include "mechanism/mechanism.h"
#include "release/release.h"

enum { SUM_WIDTH_MAX = 4096 }; /* of the distribution of a sum: convolving wider ones takes long */
static const double SE_UNITS = 100; /* SERVE_NOISE_DECIMALS */

/* ---- life cycle --------------------------------------------------------------------------------
 */

/* Fourth moment over the squared variance, less that of a normal distribution. */
static double excess_kurtosis(const cellar_mechanism *m, double variance)
{
    int64_t low, high;
    double fourth = 0;
    cellar_mechanism_support(m, 0, 1e-15, &low, &high);
    for (int64_t k = high > 1000000 ? 1000000 : high; k > 0; k--)
        fourth += 2 * cellar_mechanism_pmf(m, 0, k) * pow((double) k, 4);
    return fourth / (variance * variance) - 3;
}

cellar_status serve_noise_init(serve_noise *noise, const cellar_release *release, cellar_error *err)
{
    const char *spec = cellar_release_mechanism(release);
    cellar_channel channel;
    cellar_error ignored;
    cellar_status status;
    double mean;
    *noise = (serve_noise){.kind = SERVE_NOISE_UNKNOWN,
                           .negatives = cellar_release_negatives(release),
                           .threshold = cellar_release_threshold(release),
                           .variance = NAN,
                           .kurtosis = NAN,
                           .lock = PTHREAD_MUTEX_INITIALIZER};
    if (cellar_release_noise(release) == CELLAR_NOISE_RECORD_KEYS ||
        strncmp(spec, "multinomial-dirichlet:", 22) == 0)
        return CELLAR_OK;
    status = cellar_mechanism_create(spec, &noise->mechanism, &ignored);
    if (status == CELLAR_ERR_MEMORY)
        return cellar_fail_memory(err, "the noise of a release");
    if (status != CELLAR_OK)
        return CELLAR_OK; /* its matrix is not at hand */
    channel = (cellar_channel){noise->mechanism, noise->negatives, noise->threshold, NULL};
    noise->kind = SERVE_NOISE_SINGLE;
    if (!cellar_channel_is_additive(&channel) || cellar_channel_is_clamped(&channel))
        return CELLAR_OK;
    noise->kind = SERVE_NOISE_ADDED;
    cellar_mechanism_mean_variance(noise->mechanism, 0, &mean, &noise->variance);
    noise->kurtosis = excess_kurtosis(noise->mechanism, noise->variance);
    status = cellar_noise_wave_init(&noise->wave, spec, &ignored);
    noise->has_wave = status == CELLAR_OK;
    return status != CELLAR_ERR_MEMORY ? CELLAR_OK
                                       : cellar_fail_memory(err, "the noise of a release");
}

void serve_noise_clear(serve_noise *noise)
{
    cellar_mechanism_free(noise->mechanism);
    noise->mechanism = NULL;
}

double serve_noise_sd(const serve_noise *noise, double n)
{
    return sqrt(n * noise->variance);
}

/* ---- added noise -------------------------------------------------------------------------------
 */

/* E. A. Cornish and R. A. Fisher's expansion of the quantile of a sum of n variables that are
 * symmetric about zero; its next term is of the order 1/n^2. */
static double expanded_quantile(const serve_noise *noise, double n, double tail)
{
    const double z = qnorm(tail / 2, 0, 1, 0, 0);
    return sqrt(n * noise->variance) * (z + noise->kurtosis / (24 * n) * (z * z * z - 3 * z));
}

/* How wide the distribution of a sum is held. */
static double sum_width(const serve_noise *noise, uint64_t n)
{
    int64_t low, high;
    cellar_mechanism_support(noise->mechanism, 0, CELLAR_SUM_LAW_TAIL, &low, &high);
    return fmin((double) high * (double) n,
                12 * sqrt((double) n * noise->variance) + (double) high);
}

/* How far noise that is whole reaches. */
static cellar_status reach_of_wide(const serve_noise *noise, uint64_t n, double tail, double *out,
                                   cellar_error *err)
{
    cellar_noise_term term = {.wave = &noise->wave, .weight = 1, .n = (double) n};
    cellar_weighted_noise *sum = NULL;
    cellar_status status;
    *out = ceil(expanded_quantile(noise, (double) n, tail));
    if (!noise->has_wave)
        return CELLAR_OK;
    status = cellar_weighted_noise_create(&term, 1, &sum, err);
    if (status == CELLAR_OK)
        *out = floor(cellar_weighted_noise_width(sum, tail));
    cellar_weighted_noise_free(sum);
    return status;
}

static cellar_status compute_sum(const serve_noise *noise, uint64_t n, double tail,
                                 serve_noise_sum *out, cellar_error *err)
{
    const int64_t far = INT64_C(1) << 40; /* where no count is too small */
    cellar_reading reading = {.number = far,
                              .channel = {noise->mechanism, noise->negatives, 0, NULL}};
    cellar_noise_sum *sum = NULL;
    double low, high;
    *out = (serve_noise_sum){.n = n, .tail = tail};
    if (n > 1 && sum_width(noise, n) > SUM_WIDTH_MAX) {
        cellar_status status = reach_of_wide(noise, n, tail, &out->above, err);
        out->below = out->above;
        return status;
    }
    if (n > 1) {
        cellar_status status = cellar_noise_sum_create(noise->mechanism, n, &sum, err);
        if (status != CELLAR_OK)
            return status;
        reading.channel.sum = sum;
    }
    cellar_interval_count(&reading, tail / 2, &low, &high);
    cellar_noise_sum_free(sum);
    out->below = (double) far - low;
    out->above = high - (double) far;
    return CELLAR_OK;
}

static cellar_status find_sum(serve_noise *noise, uint64_t n, double tail, serve_noise_sum *out,
                              cellar_error *err)
{
    serve_noise_sum *kept = &noise->sums[n % SERVE_NOISE_SUMS];
    cellar_status status;
    pthread_mutex_lock(&noise->lock);
    *out = *kept;
    pthread_mutex_unlock(&noise->lock);
    if (out->n == n && out->tail == tail)
        return CELLAR_OK;
    status = compute_sum(noise, n, tail, out, err);
    if (status == CELLAR_OK) {
        pthread_mutex_lock(&noise->lock);
        *kept = *out;
        pthread_mutex_unlock(&noise->lock);
    }
    return status;
}

static cellar_status value_of_added(serve_noise *noise, size_t n, double tail, serve_value *out,
                                    cellar_error *err)
{
    serve_noise_sum sum;
    cellar_status status = find_sum(noise, n, tail, &sum, err);
    if (status != CELLAR_OK)
        return status;
    out->se = serve_noise_sd(noise, (double) n);
    out->low = fmax(0, out->count - sum.below);
    out->high = fmax(0, out->count + sum.above);
    return CELLAR_OK;
}

/* ---- other noise -------------------------------------------------------------------------------
 */

static void value_of_single(const serve_noise *noise, const int64_t *released, size_t n,
                            double tail, serve_value *out)
{
    double variance = 0;
    out->low = out->high = 0;
    for (size_t i = 0; i < n; i++) {
        const cellar_reading reading = {
            .number = released[i],
            .channel = {noise->mechanism, noise->negatives, noise->threshold, NULL}};
        cellar_moments moments;
        double low, high;
        cellar_interval_count(&reading, tail / 2 / (double) n, &low, &high);
        cellar_mechanism_moments(noise->mechanism, released[i] > 0 ? released[i] : 0,
                                 noise->negatives, &moments);
        out->low += low;
        out->high += high;
        variance += moments.variance;
    }
    out->se = sqrt(variance);
}

cellar_status serve_noise_value(serve_noise *noise, const int64_t *released, size_t n, double tail,
                                serve_value *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    out->se = out->low = out->high = n > 0 ? NAN : 0; /* none: nothing but structural zeros */
    if (n == 0)
        return CELLAR_OK;
    switch (noise->kind) {
    case SERVE_NOISE_ADDED:
        status = value_of_added(noise, n, tail, out, err);
        break;
    case SERVE_NOISE_SINGLE:
        value_of_single(noise, released, n, tail, out);
        break;
    case SERVE_NOISE_UNKNOWN:
        break;
    }
    out->se = nearbyint(out->se * SE_UNITS) / SE_UNITS;
    return status;
}
