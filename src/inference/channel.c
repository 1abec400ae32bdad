/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/channel.h"

#include <math.h>

#include "mechanism/mechanism.h"

int cellar_channel_is_additive(const cellar_channel *channel)
{
    return channel->sum != NULL || channel->mechanism->ops->is_additive;
}

int cellar_channel_is_monotone(const cellar_channel *channel)
{
    const cellar_facts *facts = channel->mechanism->ops->facts;
    return cellar_channel_is_additive(channel) ||
           (facts != NULL && facts->is_monotone != NULL && facts->is_monotone(channel->mechanism));
}

int cellar_channel_is_clamped(const cellar_channel *channel)
{
    return channel->negatives == CELLAR_NEGATIVES_ZERO || channel->threshold > 0;
}

/* Numbers of at most this were released as zero. */
static int64_t channel_floor(const cellar_channel *channel)
{
    return channel->threshold > 0 ? channel->threshold - 1 : 0;
}

int64_t cellar_channel_clamp(const cellar_channel *channel, int64_t drawn)
{
    return cellar_channel_is_clamped(channel) && drawn <= channel_floor(channel) ? 0 : drawn;
}

int64_t cellar_channel_reach(const cellar_channel *channel)
{
    int64_t low, high;
    if (channel->sum != NULL)
        return cellar_noise_sum_reach(channel->sum);
    cellar_mechanism_support(channel->mechanism, 0, 0, &low, &high);
    return high;
}

static double channel_cdf(const cellar_channel *channel, int64_t count, int64_t drawn)
{
    if (channel->sum != NULL)
        return cellar_noise_sum_cdf(channel->sum, drawn - count);
    return cellar_mechanism_cdf(channel->mechanism, count, drawn);
}

double cellar_channel_log_pmf(const cellar_channel *channel, int64_t count, int64_t released)
{
    if (cellar_channel_is_clamped(channel)) {
        if (released == 0)
            return log(channel_cdf(channel, count, channel_floor(channel)));
        if (released <= channel_floor(channel))
            return -INFINITY;
    }
    if (channel->sum != NULL)
        return cellar_noise_sum_log_pmf(channel->sum, released - count);
    return cellar_mechanism_log_pmf(channel->mechanism, count, released);
}

double cellar_channel_at_most(const cellar_channel *channel, int64_t count, int64_t released)
{
    if (cellar_channel_is_clamped(channel)) {
        if (released < 0)
            return 0;
        if (released <= channel_floor(channel))
            released = channel_floor(channel);
    }
    return channel_cdf(channel, count, released);
}

double cellar_channel_at_least(const cellar_channel *channel, int64_t count, int64_t released)
{
    if (cellar_channel_is_clamped(channel)) {
        if (released <= 0)
            return 1;
        if (released <= channel_floor(channel))
            released = channel_floor(channel) + 1;
    }
    if (channel->sum != NULL) /* symmetric */
        return cellar_noise_sum_cdf(channel->sum, count - released);
    return cellar_mechanism_survival(channel->mechanism, count, released - 1);
}
