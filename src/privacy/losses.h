/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The privacy losses ln P(b)/Q(b) of a pair one by one, b drawn from P. */
#ifndef CELLAR_PRIVACY_LOSSES_H
#define CELLAR_PRIVACY_LOSSES_H

#include <cellar/status.h>

#include "privacy/pair.h"

/* One released value, or several with the same loss. */
typedef struct cellar_loss {
    double mass; /* rounded up: relative error at most 2^-46 */
    double loss; /* absolute error at most loss_error of the list */
    int64_t index;
} cellar_loss;

typedef struct cellar_losses {
    cellar_loss *items; /* by rising loss */
    size_t n;
    double infinite;      /* mass of infinite loss, and of what was left out: rounded up */
    double infinite_true; /* mass of infinite loss alone, rounded down */
    double moved;         /* mass that was given a larger loss than its own */
    double loss_error;
    int is_lattice; /* every loss is offset + index * spacing, to within loss_error */
    fmpq_t offset, spacing;
    int has_largest; /* the largest finite loss is this rational */
    fmpq_t largest;
} cellar_losses;

/* `tail` is how much of the mass of P may be left out: it then counts as infinite loss. On failure
 * there is nothing to clear; CELLAR_ERR_OVERFLOW: too many values to be listed. */
cellar_status cellar_losses_create(const cellar_pair *pair, double tail, cellar_losses *out,
                                   cellar_error *err);
void cellar_losses_clear(cellar_losses *losses);

/* An empty list with room for n. On failure there is nothing to clear. */
cellar_status cellar_losses_init(cellar_losses *losses, size_t n, cellar_error *err);

/* Puts losses on their lattice, in the order of released values (losses_lattice.c): all of them the
 * rationals `exact`; or rising by the same amount from one value to the next, as those of Poisson
 * and negative binomial counts do: how far they are off the nearest lattice of doubles becomes a
 * part of their error. */
void cellar_losses_find_lattice(cellar_losses *out, const fmpq *exact);
void cellar_losses_find_steps(cellar_losses *out);

#endif
