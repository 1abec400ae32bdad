/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals, one way of making them a file. */
#ifndef CELLAR_INFERENCE_INTERVAL_PARTS_H
#define CELLAR_INFERENCE_INTERVAL_PARTS_H

#include <cellar/interval.h>

#include "inference/channel.h"
#include "inference/noise_sum.h"

/* A number and the channel that it came through; or a sum of numbers whose law depends on more than
 * the sum of their counts: then these are kept, and each came through the channel. */
typedef struct cellar_reading {
    int64_t number;
    uint64_t n_noises;
    cellar_channel channel;
    cellar_noise_sum *sum;    /* owned; the channel's when the noises of numbers add up */
    cellar_mechanism *closed; /* owned; the channel's when sums follow the same law */
    int64_t *parts;           /* owned; in ascending order */
    size_t n_parts;
    int is_of_parts;
} cellar_reading;

/* ---- what is read off the table (reading.c) ---- */

/* The sum of the cells in `set` that are not in `without` (NULL: none). Clear it in every case. */
cellar_status cellar_reading_init(cellar_reading *reading, const cellar_noisy *noisy,
                                  const cellar_cell_set *set, const cellar_cell_set *without,
                                  cellar_error *err);
void cellar_reading_clear(cellar_reading *reading);

/* ---- confidence intervals for counts (interval_exact.c) ---- */

/* Inverts the exact law: counts that would give a number as large, and as small, with a chance of
 * at least tail. */
void cellar_interval_count(const cellar_reading *reading, double tail, double *low, double *high);
/* The same for sums of parts, wider than need be (interval_box.c). */
cellar_status cellar_interval_sum(const cellar_reading *reading, double tail, double *low,
                                  double *high, cellar_error *err);
/* Whichever of the two it is. */
cellar_status cellar_interval_number(const cellar_reading *reading, double tail, double *low,
                                     double *high, cellar_error *err);
/* Where one is, and where it is not: the difference of two readings with added noise. */
cellar_status cellar_interval_difference(const cellar_reading *a, const cellar_reading *b,
                                         const cellar_mechanism *mechanism, double tail,
                                         double *low, double *high, cellar_error *err);
/* The share of a in a + b, two readings with added noise: E. C. Fieller's way, with the exact law
 * of the noise in place of the normal one. */
void cellar_interval_share(const cellar_reading *a, const cellar_reading *b, double tail,
                           double *low, double *high);

/* ---- the means behind the counts (interval_profile.c) ---- */

/* By the profile of the likelihood of one or two Poisson means; `b` NULL for one. */
cellar_status cellar_interval_profile(const cellar_reading *a, const cellar_reading *b,
                                      cellar_comparison comparison, double confidence,
                                      cellar_interval_estimate *out, cellar_error *err);

/* The mean of a reading, by inversion of the law of noise and sampling together: covers with at
 * least its confidence (interval_mean.c). */
cellar_status cellar_interval_mean(const cellar_reading *reading, double tail, double *low,
                                   double *high, cellar_error *err);

/* ---- given a prior (interval_bayes.c) ---- */

cellar_status cellar_interval_bayes(const cellar_reading *a, const cellar_reading *b,
                                    cellar_comparison comparison, cellar_prior prior,
                                    double confidence, cellar_interval_estimate *out,
                                    cellar_error *err);

#endif
