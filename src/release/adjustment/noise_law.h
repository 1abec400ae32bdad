/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a released number says about its count: how much to take away, and how far it may be off. */
#ifndef CELLAR_RELEASE_ADJUSTMENT_NOISE_LAW_H
#define CELLAR_RELEASE_ADJUSTMENT_NOISE_LAW_H

#include "release/release.h"

enum { CELLAR_NOISE_LAW_CACHED = 4096 };

typedef struct cellar_noise_law {
    cellar_mechanism *mechanism;
    double offset;   /* mean of released - count, the same for all counts */
    double variance; /* of it; NAN when it depends on the count */
    double *cached;  /* then: the variances of small counts, 0 where not asked for yet */
} cellar_noise_law;

/* The law of a release's numbers. Refuses (CELLAR_ERR_RULE), with the reason, a release from whose
 * numbers no unbiased estimate follows by taking away a constant. Clear it in every case. */
cellar_status cellar_noise_law_init(cellar_noise_law *law, const cellar_release *release,
                                    cellar_error *err);
void cellar_noise_law_clear(cellar_noise_law *law);

/* The variance of the noise in a released number: of the count it estimates. */
double cellar_noise_law_variance(cellar_noise_law *law, int64_t released);

#endif
