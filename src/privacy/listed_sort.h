/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Puts losses in order. */
#ifndef CELLAR_PRIVACY_LISTED_SORT_H
#define CELLAR_PRIVACY_LISTED_SORT_H

#include "privacy/atoms.h"

/* By rising loss, which is finite; `room` holds n more. */
void cellar_atoms_sort(cellar_atom *items, cellar_atom *room, size_t n);

#endif
