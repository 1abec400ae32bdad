/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/adjustment/noise_moments.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/mechanism.h"

static cellar_status noise_moments_check(const cellar_release *release, cellar_error *err)
{
    if (release->facts.below == CELLAR_BELOW_SUPPRESS)
        return cellar_fail(
            err, CELLAR_ERR_RULE,
            "values of this release below %lld are suppressed, and fitting needs the "
            "value of every cell: fit a release that keeps them",
            (long long) release->facts.threshold);
    if (release->facts.negatives == CELLAR_NEGATIVES_ZERO || release->facts.threshold > 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "small or negative values of this release were set to zero, which "
                           "biases every sum: fit a release that keeps them");
    if (release->facts.is_weighted)
        return cellar_fail(
            err, CELLAR_ERR_RULE,
            "the values of this release are weighted sums, and fitting is for counts");
    if (release->facts.noise == CELLAR_NOISE_RECORD_KEYS ||
        strncmp(release->facts.mechanism, "multinomial-dirichlet:", 22) == 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the cells of this release were not perturbed independently, so its "
                           "totals cannot be fitted");
    return CELLAR_OK;
}

/* Small and large counts, among them those where matrices and roundings change their rows. */
static const int64_t noise_moments_probes[] = {0, 1, 2, 3, 4, 5, 7, 11, 20, 100, 1000, 10000};
enum { NOISE_MOMENTS_PROBES = sizeof noise_moments_probes / sizeof *noise_moments_probes };

/* Learns offset and variance from the moments at the probes. */
static cellar_status noise_moments_probe(cellar_noise_moments *noise, cellar_error *err)
{
    for (size_t i = 0; i < NOISE_MOMENTS_PROBES; i++) {
        const int64_t count = noise_moments_probes[i];
        cellar_moments moments;
        cellar_mechanism_moments(noise->mechanism, count, CELLAR_NEGATIVES_KEEP, &moments);
        const double offset = moments.mean - (double) count;
        if (i == 0) {
            noise->offset = offset;
            noise->variance = moments.variance;
        }
        if (!(fabs(offset - noise->offset) <= 1e-6 * (1 + fabs(noise->offset))))
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "the bias of '%s' depends on the count, so no linear estimate of "
                               "totals is unbiased",
                               cellar_mechanism_spec(noise->mechanism));
        if (!(fabs(moments.variance - noise->variance) <= 1e-9 * noise->variance))
            noise->variance = NAN;
    }
    if (noise->variance == 0)
        return cellar_fail(err, CELLAR_ERR_RULE, "'%s' adds no noise: there is nothing to fit",
                           cellar_mechanism_spec(noise->mechanism));
    return CELLAR_OK;
}

cellar_status cellar_noise_moments_init(cellar_noise_moments *noise, const cellar_release *release,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *noise = (cellar_noise_moments){.variance = NAN};
    CELLAR_TRY(noise_moments_check(release, err));
    CELLAR_TRY(cellar_mechanism_create(release->facts.mechanism, &noise->mechanism, err));
    CELLAR_TRY(noise_moments_probe(noise, err));
    noise->cached = cellar_alloc(CELLAR_NOISE_MOMENTS_CACHED, sizeof *noise->cached);
    if (noise->cached == NULL)
        status = cellar_fail_memory(err, "the variances of a release");
out:
    return status;
}

void cellar_noise_moments_clear(cellar_noise_moments *noise)
{
    cellar_mechanism_free(noise->mechanism);
    cellar_free(noise->cached);
    *noise = (cellar_noise_moments){.variance = NAN};
}

/* Large counts are rounded to 11 bits: their variances change slowly, and few need computing. */
static int64_t noise_moments_nearby(int64_t count)
{
    int shift = 0;
    while (count >> shift >= CELLAR_NOISE_MOMENTS_CACHED)
        shift++;
    return count >> shift << shift;
}

/* Some mechanisms never change a count such as 0; the fit could then never move it. A floor keeps
 * the equations solvable: such a cell counts as known to about a tenth. */
static double noise_moments_moment(const cellar_noise_moments *noise, int64_t count)
{
    double mean, variance;
    cellar_mechanism_mean_variance(noise->mechanism, count, &mean, &variance);
    return fmax(variance, 0.01);
}

double cellar_noise_moments_variance(cellar_noise_moments *noise, int64_t released)
{
    if (!isnan(noise->variance))
        return noise->variance;
    const double estimate = fmin(fmax(nearbyint((double) released - noise->offset), 0), 0x1p61);
    const int64_t count = noise_moments_nearby((int64_t) estimate);
    if (count >= CELLAR_NOISE_MOMENTS_CACHED)
        return noise_moments_moment(noise, count);
    if (noise->cached[count] == 0)
        noise->cached[count] = noise_moments_moment(noise, count);
    return noise->cached[count];
}
