/* SPDX-License-Identifier: GPL-3.0-or-later */
/* R is what is released for the count c: c + k for noise k, or 0 where that is below the threshold
 * T. So R - c is k, or -c when it is cut off, and with S_i the sum of k^i q(k) over k < T - c
 *
 *     E(R - c) = E(k) - S_1 - c S_0,    E(R - c)^2 = E(k^2) - S_2 + c^2 S_0. */
#include "plan/law.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/mechanism.h"
#include "release/forecast.h"

static const double LAW_TAIL = 1e-15; /* what is left out of sums */
enum { LAW_WIDTH_MAX = 1 << 23 };

/* Sums of the noise below the threshold, which is all that is ever cut off. */
static cellar_status law_sum(plan_law *law, cellar_error *err)
{
    int64_t high;
    cellar_mechanism_support(law->mechanism, 0, LAW_TAIL, &law->low, &high);
    if (high >= law->listing.threshold)
        high = law->listing.threshold - 1;
    if (high < law->low)
        return CELLAR_OK;
    if ((uint64_t) high - (uint64_t) law->low >= LAW_WIDTH_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: the noise takes more values than can be listed",
                           cellar_mechanism_spec(law->mechanism));
    law->n = (size_t) (high - law->low) + 1;
    law->mass = cellar_alloc(law->n + 1, sizeof *law->mass);
    law->first = cellar_alloc(law->n + 1, sizeof *law->first);
    law->second = cellar_alloc(law->n + 1, sizeof *law->second);
    if (law->mass == NULL || law->first == NULL || law->second == NULL)
        return cellar_fail_memory(err, "the distribution of a mechanism");
    for (size_t i = 0; i < law->n; i++) {
        double k = (double) (law->low + (int64_t) i);
        double q = cellar_mechanism_pmf(law->mechanism, 0, law->low + (int64_t) i);
        law->mass[i + 1] = law->mass[i] + q;
        law->first[i + 1] = law->first[i] + k * q;
        law->second[i + 1] = law->second[i] + k * k * q;
    }
    return CELLAR_OK;
}

cellar_status cellar_plan_law_init(plan_law *law, const cellar_mechanism *mechanism,
                                   cellar_negatives negatives, uint64_t threshold,
                                   cellar_error *err)
{
    *law = (plan_law){.mechanism = mechanism,
                      .listing = {negatives, threshold > 1 ? (int64_t) threshold : 1}};
    law->cached = cellar_alloc(PLAN_LAW_CACHED, sizeof *law->cached);
    law->is_cached = cellar_alloc(PLAN_LAW_CACHED, 1);
    if (law->cached == NULL || law->is_cached == NULL)
        return cellar_fail_memory(err, "the distribution of a mechanism");
    if (!mechanism->ops->is_additive)
        return CELLAR_OK;
    cellar_mechanism_mean_variance(mechanism, 0, &law->offset, &law->variance);
    return negatives == CELLAR_NEGATIVES_ZERO ? law_sum(law, err) : CELLAR_OK;
}

void cellar_plan_law_clear(plan_law *law)
{
    cellar_free(law->mass);
    cellar_free(law->first);
    cellar_free(law->second);
    cellar_free(law->cached);
    cellar_free(law->is_cached);
    *law = (plan_law){0};
}

static void additive_moments(const plan_law *law, int64_t count, plan_moments *out)
{
    int64_t end = law->listing.threshold - count; /* noise below it is cut off */
    double c = (double) count, square = law->variance + law->offset * law->offset;
    size_t i = 0;
    if (law->mass != NULL && end > law->low)
        i = (uint64_t) (end - law->low) < law->n ? (size_t) (end - law->low) : law->n;
    out->bias = law->offset;
    if (i > 0) {
        out->bias -= law->first[i] + c * law->mass[i];
        square += c * c * law->mass[i] - law->second[i];
    }
    out->variance = fmax(square - out->bias * out->bias, 0);
}

/* A law on the counts themselves, which has no negatives. */
static void kernel_moments(const plan_law *law, int64_t count, plan_moments *out)
{
    double mean, variance, lost = 0, lost_square = 0;
    int64_t low, high;
    cellar_mechanism_mean_variance(law->mechanism, count, &mean, &variance);
    cellar_mechanism_support(law->mechanism, count, LAW_TAIL, &low, &high);
    if (law->listing.negatives == CELLAR_NEGATIVES_ZERO)
        for (int64_t b = low > 1 ? low : 1; b < law->listing.threshold && b <= high; b++) {
            double p = cellar_mechanism_pmf(law->mechanism, count, b);
            lost += (double) b * p;
            lost_square += (double) b * (double) b * p;
        }
    out->bias = mean - lost - (double) count;
    out->variance = fmax(variance + mean * mean - lost_square - (mean - lost) * (mean - lost), 0);
    if (lost == 0)
        out->variance = variance;
}

plan_moments cellar_plan_law_at(plan_law *law, int64_t count)
{
    plan_moments found;
    int small = count < PLAN_LAW_CACHED;
    if (small && law->is_cached[count])
        return law->cached[count];
    if (law->mechanism->ops->is_additive)
        additive_moments(law, count, &found);
    else
        kernel_moments(law, count, &found);
    found.listed = cellar_forecast_listed(law->mechanism, &law->listing, count);
    if (small) {
        law->cached[count] = found;
        law->is_cached[count] = 1;
    }
    return found;
}

double cellar_plan_law_false_positive(const plan_law *law)
{
    int64_t least = law->listing.negatives != CELLAR_NEGATIVES_ZERO ? 1 : law->listing.threshold;
    return cellar_mechanism_survival(law->mechanism, 0, least - 1);
}
