/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The privacy losses ln P(b)/Q(b) of a pair one by one, b drawn from P. */
#ifndef CELLAR_PRIVACY_ATOMS_H
#define CELLAR_PRIVACY_ATOMS_H

#include <cellar/status.h>

#include "privacy/pair.h"

/* One released number, or many with the same loss. */
typedef struct cellar_atom {
    double mass; /* relative error at most 2^-46, and mass_error of the list */
    double loss; /* absolute error at most loss_error of the list */
} cellar_atom;

/* The losses of a pair one by one. */
typedef struct cellar_atoms {
    cellar_atom *items;
    size_t n;
    double infinite;      /* mass of infinite loss, and of what was left out: rounded up */
    double infinite_true; /* mass of infinite loss alone, rounded down */
    double moved;         /* mass that was given a larger loss than its own */
    double loss_error, mass_error;
    double split;   /* masses were split between losses that far apart at most (pld.h); 0: none */
    int is_lattice; /* every loss is offset + integer * spacing, to within loss_error */
    int64_t *index; /* that integer, when it is */
    fmpq_t offset, spacing;
} cellar_atoms;

/* `tail` is how much of the mass of P may be left out (and counted as infinite loss). */
cellar_status cellar_atoms_create(const cellar_pair *pair, double tail, cellar_atoms *out,
                                  cellar_error *err);
void cellar_atoms_clear(cellar_atoms *atoms);

/* Puts losses that rise nearly by the same from one released number to the next on a lattice, where
 * they are off by no more than `close` (1 + the largest): a part of their error then. */
void cellar_atoms_find_steps(cellar_atoms *atoms, double close);

/* ---- how they are made, see atoms.c ---- */

/* The same of a kernel whose laws have double-words, for a pair with a cache: *made tells.
 * Strictly, only where no more than about `tail` is left out; else wide laws are cut off. */
cellar_status cellar_atoms_by_words(const cellar_pair *pair, double tail, int is_strict,
                                    cellar_atoms *out, int *made, cellar_error *err);
/* The same of a monotone pair, in blocks (blocks.h). */
cellar_status cellar_atoms_by_blocks(const cellar_pair *pair, double tail, cellar_atoms *out,
                                     int *made, cellar_error *err);
/* About `knots` losses that dominate many more, by rising or falling loss: the masses of those in
 * between are split between them. */
cellar_status cellar_atoms_thin(const cellar_atoms *atoms, size_t knots, cellar_atoms *out,
                                cellar_error *err);
/* Room for n of them. On failure there is nothing to clear. */
cellar_status cellar_atoms_init(cellar_atoms *atoms, size_t n, cellar_error *err);

#endif
