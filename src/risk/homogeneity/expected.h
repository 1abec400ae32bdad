/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expected risk of all groups of a table, eight mechanisms at a time. */
#ifndef CELLAR_RISK_HOMOGENEITY_EXPECTED_H
#define CELLAR_RISK_HOMOGENEITY_EXPECTED_H

#include "base/threads.h"
#include "risk/homogeneity/groups.h"
#include "risk/homogeneity/presence.h"
#include "risk/homogeneity/product.h"

typedef struct cellar_expected {
    const cellar_groups *groups;
    const double *homogeneous; /* of each kind, P(all members have one value) */
    const double *weights;     /* of each kind in the means */
    const cellar_presence *const *presences;
    size_t n_lanes; /* at most CELLAR_LANES */
} cellar_expected;

/* Of each kind of group, the P that all members have one value when counts are drawn with the
 * observed shares. */
void cellar_expected_homogeneous(const cellar_groups *groups, double *out);

/* values[kind][lane] is the risk of each kind, means[lane] the weighted sum of all. */
cellar_status cellar_expected_run(const cellar_expected *run, cellar_pool *pool,
                                  cellar_lanes *values, cellar_risk *means, cellar_error *err);

#endif
