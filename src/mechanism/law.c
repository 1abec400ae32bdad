/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distribution of a mechanism: its own functions where it has them, sums over its support
 * elsewhere. */
#include "mechanism/mechanism.h"

#include <math.h>

/* Mass left out where a sum stands in for a function: below half an ulp of any result in use. */
static const double NEGLIGIBLE = 1e-20;

double cellar_mechanism_log_pmf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    return m->ops->log_pmf(m, count, released);
}

double cellar_mechanism_pmf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    return exp(m->ops->log_pmf(m, count, released));
}

void cellar_mechanism_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                              int64_t *high)
{
    m->ops->support(m, count, tail, low, high);
}

/* P(at least `near`) or P(at most `near`), summed from the far end, where terms are smallest. The
 * far end is moved out until what it leaves out is negligible against the first term. */
static double law_sum_tail(const cellar_mechanism *m, int64_t count, int64_t near, int upper)
{
    double tail = NEGLIGIBLE, sum = 0, first = exp(m->ops->log_pmf(m, count, near));
    int64_t low, high;
    m->ops->support(m, count, tail, &low, &high);
    if (upper ? near <= low : near >= high)
        return 1;
    while (tail > first * NEGLIGIBLE && tail > 1e-300)
        tail *= 1e-20;
    m->ops->support(m, count, tail, &low, &high);
    if (upper)
        for (int64_t b = high; b >= near; b--)
            sum += exp(m->ops->log_pmf(m, count, b));
    else
        for (int64_t b = low; b <= near; b++)
            sum += exp(m->ops->log_pmf(m, count, b));
    return sum < 1 ? sum : 1;
}

double cellar_mechanism_cdf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    if (m->ops->cdf != NULL)
        return m->ops->cdf(m, count, released);
    return law_sum_tail(m, count, released, 0);
}

double cellar_mechanism_survival(const cellar_mechanism *m, int64_t count, int64_t released)
{
    if (m->ops->survival != NULL)
        return m->ops->survival(m, count, released);
    return released == INT64_MAX ? 0 : law_sum_tail(m, count, released + 1, 1);
}

double cellar_mechanism_released_pmf(const cellar_mechanism *m, int64_t count, int64_t released,
                                     cellar_negatives negatives)
{
    if (negatives != CELLAR_NEGATIVES_ZERO || released > 0)
        return cellar_mechanism_pmf(m, count, released);
    return released == 0 ? cellar_mechanism_cdf(m, count, 0) : 0;
}

double cellar_mechanism_presence(const cellar_mechanism *m, int64_t count)
{
    return cellar_mechanism_survival(m, count, 0);
}

static double entropy_term(double p)
{
    return p > 0 ? -p * log(p) : 0;
}

void cellar_mechanism_moments_by_sum(const cellar_mechanism *m, int64_t count,
                                     cellar_negatives negatives, cellar_moments *out)
{
    double first = 0, second = 0, entropy = 0; /* moments about the count, which keeps digits */
    int64_t low, high;

    m->ops->support(m, count, NEGLIGIBLE, &low, &high);
    if (negatives == CELLAR_NEGATIVES_ZERO && low <= 0) {
        double p = cellar_mechanism_cdf(m, count, 0), d = -(double) count;
        first = d * p;
        second = d * d * p;
        entropy = entropy_term(p);
        low = 1;
    }
    for (int64_t b = low; b <= high; b++) {
        double log_p = m->ops->log_pmf(m, count, b), p = exp(log_p), d = (double) (b - count);
        first += d * p;
        second += d * d * p;
        entropy -= p > 0 ? p * log_p : 0;
    }
    out->presence = cellar_mechanism_presence(m, count);
    out->mean = (double) count + first;
    out->variance = second - first * first;
    out->entropy = entropy;
}

void cellar_mechanism_moments(const cellar_mechanism *m, int64_t count, cellar_negatives negatives,
                              cellar_moments *out)
{
    if (negatives == CELLAR_NEGATIVES_ZERO || m->ops->moments == NULL) {
        cellar_mechanism_moments_by_sum(m, count, negatives, out);
        return;
    }
    m->ops->moments(m, count, out);
    out->presence = cellar_mechanism_presence(m, count);
}

void cellar_mechanism_mean_variance(const cellar_mechanism *m, int64_t count, double *mean,
                                    double *variance)
{
    cellar_moments moments;
    if (m->ops->mean_variance != NULL) {
        m->ops->mean_variance(m, count, mean, variance);
        return;
    }
    cellar_mechanism_moments(m, count, CELLAR_NEGATIVES_KEEP, &moments);
    *mean = moments.mean;
    *variance = moments.variance;
}

void cellar_mechanism_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                               int64_t bits, arb_t out)
{
    m->ops->pmf_ball(m, count, released, bits, out);
}
