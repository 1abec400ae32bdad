/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delta and epsilon of one pair by the list of its losses, for laws that go on for so long that
 * sums over them take time. */
#ifndef CELLAR_PRIVACY_ONE_PART_H
#define CELLAR_PRIVACY_ONE_PART_H

#include "privacy/tight.h"

/* What is left out of a list, as a share of delta: as of compositions, so that these find it made.
 */
#define CELLAR_ONE_PART_LEFT (1e-6 / 64)

/* 1 when a law has so many numbers, but for `tail`, and not too many for a list. */
int cellar_one_part_is_long(const cellar_stake *stake, double tail);

/* About the delta of a pair of a kernel at some epsilon, by what the first number that exceeds it
 * is likely; 0 where none does, NAN where it is not known. Compositions have no less. */
double cellar_one_part_about(const cellar_stake *stake, double epsilon);

/* Upper bounds: delta at epsilon, of which *left_out is for what was left out, about `tail`; and
 * epsilon at delta, INFINITY where it is not known. */
double cellar_one_part_delta(const cellar_stake *stake, double epsilon, double tail,
                             double *left_out);
double cellar_one_part_epsilon(const cellar_stake *stake, double delta);

#endif
