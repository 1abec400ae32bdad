/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/pair_cost.h"

#include <math.h>

const int cellar_pair_lengths[CELLAR_PAIR_LENGTHS] = {90, 250, 700};

double cellar_pair_fall(const cellar_mechanism *m, int64_t count)
{
    return m->ops->fall != NULL ? m->ops->fall(m, count) : 0;
}

double cellar_pair_pmf_cost(const cellar_mechanism *m)
{
    const double usual = 10;
    return m->ops->ball_cost > 0 ? m->ops->ball_cost : usual;
}

double cellar_pair_upper_cost(const cellar_mechanism *m, int64_t count)
{
    const double falls = 54, closed = 150;
    const double fall = cellar_pair_fall(m, count), summed = falls * CELLAR_PAIR_SUM_COST * fall;
    const int is_closed = fall > 0 && m->ops->has_closed_tails(m);
    return cellar_pair_pmf_cost(m) + (is_closed ? fmin(summed, closed) : summed);
}

int cellar_pair_tail_is_nothing(const cellar_mechanism *m, int64_t count, int64_t b)
{
    const double nothing = -790; /* 2^-1139 */
    const double factor = m->ops->tail_factor(m, count, b + 1);
    return isfinite(factor) && m->ops->log_pmf(m, count, b + 1) + log(factor) < nothing;
}

int cellar_pair_law_is_long(const cellar_mechanism *m, int64_t count)
{
    return cellar_pair_fall(m, count) > CELLAR_PAIR_FALL_LONG && !m->ops->has_closed_tails(m);
}

int cellar_pair_law_is_wide(const cellar_mechanism *m, int64_t count)
{
    return cellar_pair_fall(m, count) > CELLAR_PAIR_FALL_WIDE && !m->ops->has_closed_tails(m);
}

int cellar_pair_below_tells(const cellar_mechanism *m, int64_t count, int64_t b)
{
    const double least = 0x1p-14;
    return b < 1 << 17 &&
           exp(m->ops->log_pmf(m, count, b)) * m->ops->tail_factor(m, count, b) > least;
}

int cellar_pair_tail_is_told(const cellar_mechanism *m, int64_t count, int64_t b)
{
    return b < 1 << 14 && cellar_pair_below_tells(m, count, b);
}

int cellar_pair_tail_is_long(const cellar_mechanism *m, int64_t count, int64_t b)
{
    return cellar_pair_law_is_long(m, count) && !cellar_pair_below_tells(m, count, b);
}

int cellar_pair_is_slow(const cellar_mechanism *m, int64_t count)
{
    const double large = 1300;
    double mean, variance;
    if (m->ops->facts == NULL || m->ops->facts->quick == NULL)
        return 0;
    cellar_mechanism_mean_variance(m, count, &mean, &variance);
    return mean > large;
}

int cellar_pair_tail_is_far(const cellar_mechanism *m, int64_t count, double log_size,
                            double epsilon, double limit)
{
    const double spare = 72, each = 0.12, near = 4000; /* bits, us */
    const double bits = spare - (log_size - epsilon) / M_LN2;
    int i = 0;
    if (m->ops->facts == NULL || m->ops->facts->length == NULL || !isfinite(log_size))
        return 0;
    while (i < CELLAR_PAIR_LENGTHS && cellar_pair_lengths[i] < bits)
        i++;
    if (i == CELLAR_PAIR_LENGTHS)
        return m->ops->facts->length(m, count, exp2(-cellar_pair_lengths[i - 1])) > near;
    return each * m->ops->facts->length(m, count, exp2(-cellar_pair_lengths[i])) > limit;
}
