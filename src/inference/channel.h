/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The way from a true count to the number that was released: the mechanism, and what became of its
 * number afterwards. Everything in this layer reads the noise through it. */
#ifndef CELLAR_INFERENCE_CHANNEL_H
#define CELLAR_INFERENCE_CHANNEL_H

#include <cellar/mechanism.h>

#include "inference/noise_sum.h"

typedef struct cellar_channel {
    const cellar_mechanism *mechanism;
    cellar_negatives negatives;
    int64_t threshold;           /* numbers below it were released as 0; 0: none */
    const cellar_noise_sum *sum; /* the number is a sum of cells with this noise; or NULL */
} cellar_channel;

/* Natural logarithm of P(released | count), a clamped zero with its whole tail. */
double cellar_channel_log_pmf(const cellar_channel *channel, int64_t count, int64_t released);
/* P(at most released | count), P(at least released | count). */
double cellar_channel_at_most(const cellar_channel *channel, int64_t count, int64_t released);
double cellar_channel_at_least(const cellar_channel *channel, int64_t count, int64_t released);

/* 1 when the noise is added, symmetric and log-concave: P(released | count) is then log-concave in
 * the count as well, tails included. */
int cellar_channel_is_additive(const cellar_channel *channel);
/* 1 when it is proved that larger counts make larger numbers likelier. */
int cellar_channel_is_monotone(const cellar_channel *channel);
/* 1 when numbers below some bound were released as zero. */
int cellar_channel_is_clamped(const cellar_channel *channel);
/* The largest |noise| of an additive channel; INT64_MAX when there is none. */
int64_t cellar_channel_reach(const cellar_channel *channel);

/* What a number drawn by the mechanism is released as. */
int64_t cellar_channel_clamp(const cellar_channel *channel, int64_t drawn);

#endif
