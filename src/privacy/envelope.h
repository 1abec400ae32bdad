/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pair that dominates every pair of neighbouring counts of a mechanism. Where no pair of counts
 * is worst for every epsilon, the upper envelope of all their curves still is the curve of some
 * pair of laws, and that pair composes like any other: an upper bound, if not a tight one. */
#ifndef CELLAR_PRIVACY_ENVELOPE_H
#define CELLAR_PRIVACY_ENVELOPE_H

#include "privacy/pld.h"
#include "privacy/supremum.h"

/* 1 when all counts are bounded: there are finitely many different pairs, or a bound for large
 * counts is known. */
int cellar_envelope_exists(const cellar_reach *reach);

/* The losses of the dominating pair, P standing for the larger count or for the smaller. Released
 * negatives are kept, which dominates. `tail` is the mass of each law that may be left out (and
 * counts as infinite loss). */
cellar_status cellar_envelope_create(const cellar_reach *reach, int larger, double tail,
                                     cellar_atoms *out, cellar_error *err);

#endif
