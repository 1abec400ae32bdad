/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attackers who guess in every group that shows anything: the most frequent released value (hard),
 * or each value with its released share (soft). */
#ifndef CELLAR_RISK_HOMOGENEITY_THRESHOLD_H
#define CELLAR_RISK_HOMOGENEITY_THRESHOLD_H

#include <cellar/risk.h>

/* The laws of the released numbers of some counts, made once for many groups. */
typedef struct cellar_threshold cellar_threshold;

/* `counts` are ascending, all different, and start with 0. Noise too wide to be summed over is
 * refused (CELLAR_ERR_UNSUPPORTED): it can be simulated. */
cellar_status cellar_threshold_create(const cellar_mechanism *mechanism, const uint64_t *counts,
                                      size_t n_counts, cellar_threshold **out, cellar_error *err);
void cellar_threshold_free(cellar_threshold *threshold); /* NULL is fine */

/* The risk of a group of those counts: positive ones, and how many values have none. */
cellar_status cellar_threshold_assess(const cellar_threshold *threshold,
                                      cellar_risk_measure measure, const uint64_t *counts,
                                      size_t n_positive, uint64_t n_zeros, cellar_risk *out,
                                      cellar_error *err);

/* One group, counts in any order. */
cellar_status cellar_threshold_hard(const cellar_mechanism *mechanism, const uint64_t *counts,
                                    size_t n_values, cellar_risk *out, cellar_error *err);
cellar_status cellar_threshold_soft(const cellar_mechanism *mechanism, const uint64_t *counts,
                                    size_t n_values, cellar_risk *out, cellar_error *err);

#endif
