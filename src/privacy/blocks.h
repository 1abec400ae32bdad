/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The laws of two counts with monotone likelihood ratios, in blocks of numbers of about the same
 * loss: for laws that go on for so long that no list can hold a loss for every number. */
#ifndef CELLAR_PRIVACY_BLOCKS_H
#define CELLAR_PRIVACY_BLOCKS_H

#include "privacy/pair.h"

enum { CELLAR_BLOCKS_KEPT = 8, CELLAR_BLOCKS_NUMBERS_MAX = 3 << 19 };

/* Numbers b of block i have ln P(b | larger) / P(b | smaller) between edge[i] and edge[i + 1]. A
 * block of one number has the loss edge[i]. */
typedef struct cellar_blocks {
    const cellar_mechanism *m; /* NULL: none */
    int64_t smaller, larger;
    double tail; /* they were made for */
    uint64_t used;

    size_t n, room;
    int64_t n_numbers; /* in them */
    double *mass;      /* of the larger count */
    double *loss;      /* ln of the ratio of a block's two masses */
    double *edge;      /* n + 1 of them */
    double above; /* no less than the larger count has beyond the last block; infinite: no good */
    double below_larger, below_smaller; /* no less than the two have before the first one */
    double widest; /* no block of several numbers has a larger step from edge to edge */
    double error;  /* relative, of masses, and absolute, of losses and edges, but for roundings */
} cellar_blocks;

/* Some, of which the one used longest ago makes room. {0} is empty. */
typedef struct cellar_blocks_store {
    cellar_blocks items[CELLAR_BLOCKS_KEPT];
    uint64_t n_asked;
} cellar_blocks_store;

void cellar_blocks_store_clear(cellar_blocks_store *store);

/* Of all numbers but for `tail` of the larger count of a monotone pair that has a cache, or as far
 * as there is time for; NULL when they cannot be made. They stay until others are asked for. */
const cellar_blocks *cellar_blocks_of(const cellar_pair *pair, double tail);

#endif
