/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The risk of a group whose counts are given. */
#ifndef CELLAR_RISK_HOMOGENEITY_LOCAL_H
#define CELLAR_RISK_HOMOGENEITY_LOCAL_H

#include <cellar/risk.h>

#include "risk/homogeneity/presence.h"

/* Counts in any order, n_values of them. */
cellar_status cellar_risk_of_counts(const cellar_mechanism *mechanism, const uint64_t *counts,
                                    size_t n_values, cellar_risk *out, cellar_error *err);

/* Positive counts only, and how many values have none. */
void cellar_local(const cellar_presence *presence, const uint64_t *counts, size_t n_positive,
                  uint64_t n_zeros, cellar_risk *out);

#endif
