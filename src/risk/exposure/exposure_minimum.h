/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The optimisation behind the composition theorems: thresholds t_j whose product is at least t and
 * whose cost, the sum of Q_j(t_j) + weight_j t_j, is least. */
#ifndef CELLAR_RISK_EXPOSURE_EXPOSURE_MINIMUM_H
#define CELLAR_RISK_EXPOSURE_EXPOSURE_MINIMUM_H

#include <cellar/status.h>

#include "risk/exposure/exposure_curve.h"

/* The exposure of a column between its distinct shares: Q_j(t) = below[i] for t in
 * (share[i-1], share[i]]. Beyond the last share Q_j is 1, which no minimum needs. */
typedef struct minimum_column {
    size_t n;
    const double *share; /* ascending, positive */
    const double *log_share;
    const double *below;
    double weight; /* 0: only the shares themselves are worth considering as thresholds */
} minimum_column;

enum { MINIMUM_MAX_COLUMNS = CELLAR_MAX_VARIABLES + 1 };

typedef struct minimum_solution {
    double value; /* INFINITY when nothing below the given bound was found */
    double lower; /* no choice of thresholds costs less */
    double thresholds[MINIMUM_MAX_COLUMNS];
    uint64_t n_nodes;
} minimum_solution;

/* Looks for a cost below `known` with at most `max_nodes` nodes. */
cellar_status cellar_exposure_minimise(const minimum_column *columns, size_t n, double log_t,
                                       double known, uint64_t max_nodes, minimum_solution *solution,
                                       cellar_error *err);

#endif
