/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/adjustment/noise_law.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/mechanism.h"

static cellar_status noise_law_check(const cellar_release *release, cellar_error *err)
{
    if (release->facts.below == CELLAR_BELOW_SUPPRESS)
        return cellar_fail(
            err, CELLAR_ERR_RULE,
            "values of this release below %lld are suppressed, and fitting needs the "
            "value of every cell: fit a release that keeps them",
            (long long) release->facts.threshold);
    if (release->facts.negatives == CELLAR_NEGATIVES_ZERO || release->facts.threshold > 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "small or negative numbers of this release were set to zero, which "
                           "biases every sum: fit a release that keeps them");
    if (release->facts.is_weighted)
        return cellar_fail(
            err, CELLAR_ERR_RULE,
            "the numbers of this release are weighted sums, and fitting is for counts");
    if (release->facts.noise == CELLAR_NOISE_RECORD_KEYS ||
        strncmp(release->facts.mechanism, "multinomial-dirichlet:", 22) == 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the cells of this release were not perturbed independently, so its "
                           "totals cannot be fitted");
    return CELLAR_OK;
}

/* Small and large counts, among them those where matrices and roundings change their rows. */
static const int64_t noise_law_probes[] = {0, 1, 2, 3, 4, 5, 7, 11, 20, 100, 1000, 10000};
enum { NOISE_LAW_PROBES = sizeof noise_law_probes / sizeof *noise_law_probes };

/* Learns offset and variance from the moments at the probes. */
static cellar_status noise_law_probe(cellar_noise_law *law, cellar_error *err)
{
    for (size_t i = 0; i < NOISE_LAW_PROBES; i++) {
        const int64_t count = noise_law_probes[i];
        cellar_moments moments;
        cellar_mechanism_moments(law->mechanism, count, CELLAR_NEGATIVES_KEEP, &moments);
        const double offset = moments.mean - (double) count;
        if (i == 0) {
            law->offset = offset;
            law->variance = moments.variance;
        }
        if (!(fabs(offset - law->offset) <= 1e-6 * (1 + fabs(law->offset))))
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "the bias of '%s' depends on the count, so no linear estimate of "
                               "totals is unbiased",
                               cellar_mechanism_spec(law->mechanism));
        if (!(fabs(moments.variance - law->variance) <= 1e-9 * law->variance))
            law->variance = NAN;
    }
    if (law->variance == 0)
        return cellar_fail(err, CELLAR_ERR_RULE, "'%s' adds no noise: there is nothing to fit",
                           cellar_mechanism_spec(law->mechanism));
    return CELLAR_OK;
}

cellar_status cellar_noise_law_init(cellar_noise_law *law, const cellar_release *release,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *law = (cellar_noise_law){.variance = NAN};
    CELLAR_TRY(noise_law_check(release, err));
    CELLAR_TRY(cellar_mechanism_create(release->facts.mechanism, &law->mechanism, err));
    CELLAR_TRY(noise_law_probe(law, err));
    law->cached = cellar_alloc(CELLAR_NOISE_LAW_CACHED, sizeof *law->cached);
    if (law->cached == NULL)
        status = cellar_fail_memory(err, "the variances of a release");
out:
    return status;
}

void cellar_noise_law_clear(cellar_noise_law *law)
{
    cellar_mechanism_free(law->mechanism);
    cellar_free(law->cached);
    *law = (cellar_noise_law){.variance = NAN};
}

/* Large counts are rounded to 11 bits: their variances change slowly, and few need computing. */
static int64_t noise_law_nearby(int64_t count)
{
    int shift = 0;
    while (count >> shift >= CELLAR_NOISE_LAW_CACHED)
        shift++;
    return count >> shift << shift;
}

/* A mechanism may leave a count such as 0 alone; the fit could then never move it. A floor keeps
 * the equations solvable: such a cell counts as known to about a tenth. */
static double noise_law_moment(const cellar_noise_law *law, int64_t count)
{
    double mean, variance;
    cellar_mechanism_mean_variance(law->mechanism, count, &mean, &variance);
    return fmax(variance, 0.01);
}

double cellar_noise_law_variance(cellar_noise_law *law, int64_t released)
{
    if (!isnan(law->variance))
        return law->variance;
    const double estimate = fmin(fmax(nearbyint((double) released - law->offset), 0), 0x1p61);
    const int64_t count = noise_law_nearby((int64_t) estimate);
    if (count >= CELLAR_NOISE_LAW_CACHED)
        return noise_law_moment(law, count);
    if (law->cached[count] == 0)
        law->cached[count] = noise_law_moment(law, count);
    return law->cached[count];
}
