/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Epsilon over the cells that one unit touches, exactly. */
#ifndef CELLAR_RELEASE_GUARANTEE_SHARE_H
#define CELLAR_RELEASE_GUARANTEE_SHARE_H

#include <cellar/release.h>

#include "math/flint.h"

/* epsilon x n_parts as an exact decimal; "" for a mechanism without an epsilon that adds up. */
cellar_status cellar_share_total(const cellar_mechanism *mechanism, uint64_t n_parts, char *out,
                                 size_t size, cellar_error *err);

/* Reads a positive decimal, a total epsilon. */
cellar_status cellar_share_parse(const char *text, fmpq_t out, cellar_error *err);

/* 1: the mechanism has no epsilon that adds up, and the certificate of all cells together, at a
 * delta, has to be compared with the total (calibrate.h). */
int cellar_share_is_by_certificate(const cellar_mechanism *mechanism);

/* Refuses with CELLAR_ERR_RULE when epsilon x n_parts exceeds the total. Without an epsilon that
 * adds up a delta is required, and nothing is compared. */
cellar_status cellar_share_check(const cellar_mechanism *mechanism, uint64_t n_parts,
                                 const char *total_epsilon, const char *delta, cellar_error *err);

/* The largest decimal of 15 digits that is not above total x part, for a positive part. Fails when
 * the text is no positive decimal. */
cellar_status cellar_share_part(const char *total, const fmpq_t part, char out[64],
                                cellar_error *err);

#endif
