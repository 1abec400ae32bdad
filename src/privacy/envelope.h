/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A dominating pair where no pair of counts dominates all others: the envelope of their curves. */
#ifndef CELLAR_PRIVACY_ENVELOPE_H
#define CELLAR_PRIVACY_ENVELOPE_H

#include "privacy/losses.h"
#include "privacy/worst.h"

/* 1 when it is known how to bound all counts. */
int cellar_envelope_exists(const cellar_one_cell *cell);

/* The losses of the envelope of all pairs of the cell whose P is that of the larger count, or of
 * the smaller. `tail` is how much of each distribution may be left out. On failure there is nothing
 * to clear. */
cellar_status cellar_envelope_create(cellar_one_cell *cell, int larger_is_p, double tail,
                                     cellar_losses *out, cellar_error *err);

#endif
