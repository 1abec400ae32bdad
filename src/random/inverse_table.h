/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How inverse.c keeps a law for inverse_draw.c. */
#ifndef CELLAR_RANDOM_INVERSE_TABLE_H
#define CELLAR_RANDOM_INVERSE_TABLE_H

#include "random/inverse.h"

enum {
    CELLAR_INVERSE_STEP = 16,    /* lists are multiples of it */
    CELLAR_INVERSE_COLUMNS = 32, /* of the first halves of a long list */
};

/* Thresholds less 2^63, so that signed comparison orders them; filled up with all ones, which no
 * bits exceed.
 *
 * The first 32 bits of the thresholds of a long list are kept once more, but for the zeros and ones
 * at its ends: sorted, h is cut into COLUMNS stretches of n_rows each. The first row holds the last
 * number of each stretch, and row r > 0 the r-th: halves[COLUMNS r + c] = h[n_rows c + r - 1]. So
 * one number of each stretch lies in two vectors, from which 16 cells take theirs at a time without
 * an address that depends on it. */
struct cellar_inverse {
    cellar_law law;
    int64_t base;           /* the value of bits below all thresholds, */
    int64_t halves_base;    /* and below all halves */
    size_t n;               /* filled up */
    size_t first, n_middle; /* those between, by steps, that do not begin with 32 zeros or ones */
    size_t n_rows;          /* 0 when the list has no halves */
    int64_t *t;             /* on a cache line, as is */
    int32_t *halves;
    unsigned char room[];
};

#endif
