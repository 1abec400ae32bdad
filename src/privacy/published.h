/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The deltas that papers give for some mechanisms, to stand beside the proven ones. */
#ifndef CELLAR_PRIVACY_PUBLISHED_H
#define CELLAR_PRIVACY_PUBLISHED_H

#include <flint/fmpq.h>

#include "privacy/pair.h"

/* NAN when nothing is published for this mechanism at this epsilon. `min_count` is the smallest
 * count in the data when it is known (eq. 10 of the Poisson paper), 0 otherwise; `cache` may be
 * NULL. */
double cellar_published_delta(const cellar_mechanism *m, const fmpq_t epsilon, uint64_t min_count,
                              cellar_pair_cache *cache);

#endif
