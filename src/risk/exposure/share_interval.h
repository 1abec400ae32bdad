/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a share lies of which a sample is known. */
#ifndef CELLAR_RISK_EXPOSURE_SHARE_INTERVAL_H
#define CELLAR_RISK_EXPOSURE_SHARE_INTERVAL_H

/* The ends of the interval for a share of which `share` was seen among so many draws: the truth
 * lies beyond either with a chance of at most exp(-doubt). */
double cellar_share_least(double share, double n_draws, double doubt);
double cellar_share_most(double share, double n_draws, double doubt);

#endif
