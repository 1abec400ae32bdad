/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seeded copies of a released table, attacked. */
#ifndef CELLAR_RISK_HOMOGENEITY_SIMULATE_H
#define CELLAR_RISK_HOMOGENEITY_SIMULATE_H

#include "base/threads.h"
#include "risk/homogeneity/groups.h"

/* Fills mean, maximum and quantiles (of the groups' mean risks over the copies), and sd. Every
 * piece of every copy has a stream of its own: the result does not depend on the threads. */
cellar_status cellar_simulate(const cellar_groups *groups, const cellar_mechanism *mechanism,
                              const cellar_risk_options *options, cellar_pool *pool,
                              const double *weights, cellar_risk_summary *out, cellar_error *err);

#endif
