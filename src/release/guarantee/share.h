/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Epsilon over the cells that one unit touches, exactly. */
#ifndef CELLAR_RELEASE_GUARANTEE_SHARE_H
#define CELLAR_RELEASE_GUARANTEE_SHARE_H

#include <cellar/release.h>

#include "math/flint.h"

/* epsilon x n_parts as an exact decimal; "" for a mechanism without an epsilon that adds up. */
cellar_status cellar_share_total(const cellar_mechanism *mechanism, uint64_t n_parts, char *out,
                                 size_t size, cellar_error *err);

/* Refuses with CELLAR_ERR_RULE when epsilon x n_parts exceeds the total. */
cellar_status cellar_share_check(const cellar_mechanism *mechanism, uint64_t n_parts,
                                 const char *total_epsilon, cellar_error *err);

/* The largest decimal of 15 digits that is not above total x part, for a positive part. Fails when
 * the text is no positive decimal. */
cellar_status cellar_share_part(const char *total, const fmpq_t part, char out[64],
                                cellar_error *err);

#endif
