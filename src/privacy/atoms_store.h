/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Losses that were made before: the ways in which a unit meets cells share them. */
#ifndef CELLAR_PRIVACY_ATOMS_STORE_H
#define CELLAR_PRIVACY_ATOMS_STORE_H

#include "privacy/atoms.h"

enum { CELLAR_ATOMS_KEPT = 16 };

typedef struct cellar_atoms_kept {
    const cellar_mechanism *m; /* NULL: none */
    int64_t count[2];
    double tail;
    uint64_t used;
    cellar_atoms atoms;
    cellar_atoms thin; /* of no losses: not made yet */
} cellar_atoms_kept;

/* Of which the one used longest ago makes room. {0} is empty. */
typedef struct cellar_atoms_store {
    cellar_atoms_kept items[CELLAR_ATOMS_KEPT];
    uint64_t n_asked;
    int is_short; /* memory ended once: a bound that does without these losses was taken */
} cellar_atoms_store;

void cellar_atoms_store_clear(cellar_atoms_store *store);

/* As cellar_atoms_create(); of a pair with a cache a copy of what is held for it, of no larger
 * tail. */
cellar_status cellar_atoms_get(const cellar_pair *pair, double tail, cellar_atoms *out,
                               cellar_error *err);

/* The same thinned out (cellar_atoms_thin). */
cellar_status cellar_atoms_get_thin(const cellar_pair *pair, double tail, cellar_atoms *out,
                                    cellar_error *err);

/* What is held for a pair with a cache, of a tail of at most `most`; if there is none yet, it is
 * made for `tail`. NULL when that fails. It stays until others are asked for. */
const cellar_atoms *cellar_atoms_hold(const cellar_pair *pair, double most, double tail,
                                      cellar_error *err);

#endif
