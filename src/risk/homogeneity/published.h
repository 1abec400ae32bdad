/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The closed forms of the papers, as printed, for comparison. */
#ifndef CELLAR_RISK_HOMOGENEITY_PUBLISHED_H
#define CELLAR_RISK_HOMOGENEITY_PUBLISHED_H

#include "risk/homogeneity/group.h"

/* 1 for the mechanisms the papers treat: laplace and gaussian. */
int cellar_published_knows(const cellar_mechanism *mechanism);

/* Both terms, or the first alone (`first_only`), of a group of given size: eqs (12), (13), (22) and
 * (23) of the paper of 2022; `first_only` eqs (3.4), (3.10) of that of 2020. */
void cellar_published_group(const cellar_group *group, int first_only, cellar_risk *out);

#endif
