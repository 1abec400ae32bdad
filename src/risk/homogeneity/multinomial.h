/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts drawn with given shares: for simulation only. */
#ifndef CELLAR_RISK_HOMOGENEITY_MULTINOMIAL_H
#define CELLAR_RISK_HOMOGENEITY_MULTINOMIAL_H

#include <cellar/random.h>

/* Draws `size` members with shares counts[k] / size, as many as the n_values counts sum to. */
cellar_status cellar_multinomial_draw(const uint64_t *counts, size_t n_values, uint64_t size,
                                      cellar_rng *rng, int64_t *out, cellar_error *err);

#endif
