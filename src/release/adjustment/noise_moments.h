/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The noise of a release: how much to subtract from a released value, and its variance. */
#ifndef CELLAR_RELEASE_ADJUSTMENT_NOISE_MOMENTS_H
#define CELLAR_RELEASE_ADJUSTMENT_NOISE_MOMENTS_H

#include "release/release.h"

enum { CELLAR_NOISE_MOMENTS_CACHED = 4096 };

typedef struct cellar_noise_moments {
    cellar_mechanism *mechanism;
    double offset;   /* mean of released - count, the same for all counts */
    double variance; /* of it; NAN when it depends on the count */
    double *cached;  /* then: the variances of small counts, 0 where not asked for yet */
} cellar_noise_moments;

/* The moments of the noise in a release. Refuses (CELLAR_ERR_RULE), with the reason, a release
 * whose values have no constant bias. Clear it in every case. */
cellar_status cellar_noise_moments_init(cellar_noise_moments *noise, const cellar_release *release,
                                        cellar_error *err);
void cellar_noise_moments_clear(cellar_noise_moments *noise);

/* The variance of the noise in a released value, at the count that it estimates. */
double cellar_noise_moments_variance(cellar_noise_moments *noise, int64_t released);

#endif
