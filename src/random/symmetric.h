/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact symmetric integer noise for many cells, in time that tells nothing about it.
 *
 * The noise is X = S (1 + Y_1 + w_2 Y_2 + ...), all independent: S in {-1, 0, 1} is symmetric with
 * P(S = 0) = P(X = 0), and the magnitude less one is one digit Y_1 for a general law, or several
 * digits for a geometric one. Each digit is drawn by thresholds.h.
 *
 * A block of cells is drawn in passes whose trip counts depend on the law and the number of
 * cells only: every cell's first 32 bits are compared with every threshold; then a fixed number
 * of undecided cells (usually there is none) are found, drawn with 64 more bits and put back by
 * masks, not by index. More than that number of undecided cells, or a tie at 96 bits, each less
 * likely than 2^-64 in a block, take a further pass that an observer of time could notice. */
#ifndef CELLAR_RANDOM_SYMMETRIC_H
#define CELLAR_RANDOM_SYMMETRIC_H

#include "random/thresholds.h"

enum { CELLAR_SYMMETRIC_DIGITS_MAX = 8 };

typedef struct cellar_symmetric cellar_symmetric;

/* The digits of 1 + Y_1 + w_2 Y_2 + ...; weights[0] is 1. `sign` has the values 0 (negative),
 * 1 (positive) and 2 (zero). Laws are copied, what their contexts point to is kept.
 * On failure *out is NULL. */
cellar_status cellar_symmetric_create(cellar_law sign, const cellar_law *digits,
                                      const int64_t *weights, size_t n_digits,
                                      cellar_symmetric **out, cellar_error *err);
void cellar_symmetric_free(cellar_symmetric *sampler); /* NULL is fine */

/* released[i] = counts[i] + noise, for i < n. The arrays may be the same. */
cellar_status cellar_symmetric_add_noise(const cellar_symmetric *sampler, const int64_t *counts,
                                         size_t n, cellar_rng *rng, int64_t *released,
                                         cellar_error *err);

/* How many passes beyond the fixed ones the last draws of `sampler` could need, for tests:
 * the number of undecided cells a block has room for. */
size_t cellar_symmetric_n_slots(const cellar_symmetric *sampler);

/* 1: the vector instructions of this machine are used, 0: the portable ones. Results are the
 * same. For tests and benchmarks. */
void cellar_symmetric_use_vectors(cellar_symmetric *sampler, int use);

#endif
