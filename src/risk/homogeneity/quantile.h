/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantiles of weighted probabilities without sorting them all. */
#ifndef CELLAR_RISK_HOMOGENEITY_QUANTILE_H
#define CELLAR_RISK_HOMOGENEITY_QUANTILE_H

#include <stddef.h>

#include <cellar/status.h>

typedef struct cellar_weighted {
    const double *values; /* in [0,1] */
    const double *weights;
    size_t n;
} cellar_weighted;

/* out[i] is the smallest value v with weight(values <= v) >= levels[i] of all; levels ascend. */
cellar_status cellar_weighted_quantiles(const cellar_weighted *w, const double *levels,
                                        size_t n_levels, double *out, double *maximum,
                                        cellar_error *err);

#endif
