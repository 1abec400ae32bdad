/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One group whose counts are random given its size: what every engine is asked, and answers. */
#ifndef CELLAR_RISK_HOMOGENEITY_GROUP_H
#define CELLAR_RISK_HOMOGENEITY_GROUP_H

#include <cellar/risk.h>

#include "risk/homogeneity/presence.h"

/* Values that have the same share, or the same parameter of the prior. */
typedef struct cellar_group_part {
    double weight;  /* the expected count (size times share), or alpha; positive */
    uint64_t times; /* how many values have it */
} cellar_group_part;

typedef struct cellar_group {
    const cellar_presence *presence;
    uint64_t size;
    const cellar_group_part *parts;
    size_t n_parts;
    uint64_t n_never; /* values with share zero */
    int has_prior;    /* 1: weights are alphas */
    double total;     /* of all weights */
    double floor;     /* what is surely below need not be computed; 0: everything */
} cellar_group;

/* The part of the risk over counts in which several values are positive (scenarios 6, 7, 8) and
 * the part of scenario 8 in which a random member has the value claimed. */
typedef struct cellar_group_spread {
    double empty, stray, shown, right;
} cellar_group_spread;

/* K. */
uint64_t cellar_group_n_values(const cellar_group *group);
/* P(all members have one value). */
double cellar_group_homogeneous(const cellar_group *group);
/* The same for one value of a part, as a logarithm. */
double cellar_group_log_all(const cellar_group *group, size_t part);

/* The engines below leave out the values that never occur (n_never must be 0). */

/* Groups up to this size are done by direct products. */
enum { CELLAR_GROUP_SMALL = 256 };

/* The spread by direct products; size at most CELLAR_PRODUCT_MAX. */
cellar_status cellar_group_by_product(const cellar_group *group, cellar_group_spread *out,
                                      cellar_error *err);
/* The spread by contour integrals at the saddle point, for shares; any size from 2 on. */
cellar_status cellar_group_by_saddle(const cellar_group *group, cellar_group_spread *out,
                                     cellar_error *err);
/* The spread by windows of the absent values, for priors; any size from 2 on. */
cellar_status cellar_group_by_window(const cellar_group *group, cellar_group_spread *out,
                                     cellar_error *err);

/* All of it, by the engine that fits. */
cellar_status cellar_group_assess(const cellar_group *group, cellar_risk *out, cellar_error *err);

/* The risk made of its parts; `homogeneous` is P(all members have one value). */
void cellar_risk_compose(const cellar_presence *presence, uint64_t size, uint64_t n_values,
                         double homogeneous, const cellar_group_spread *spread, cellar_risk *out);

/* Claim, precision and the rest from scenarios and `right`; scenarios 3 and 5 from the others. */
void cellar_risk_finish(cellar_risk *risk, double homogeneous);

#endif
