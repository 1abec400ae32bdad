/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How inverse.c keeps a law for inverse_draw.c. */
#ifndef CELLAR_RANDOM_INVERSE_TABLE_H
#define CELLAR_RANDOM_INVERSE_TABLE_H

#include "random/inverse.h"

enum {
    CELLAR_INVERSE_STEP = 16,     /* lists are multiples of it */
    CELLAR_INVERSE_CLASSES = 128, /* lists of one class are as long as each other */
};

/* Thresholds less 2^63, so that signed comparison orders them; filled up with all ones, which no
 * bits exceed. Long lists are cut into leaves. */
struct cellar_inverse {
    cellar_law law;
    int64_t base;    /* the value of bits below all thresholds */
    size_t n;        /* filled up */
    size_t leaf;     /* thresholds in a leaf; 0 for short lists */
    uint32_t class;  /* n / STEP - 1 of a short list, SCANNED / STEP + leaf / STEP - 1 of a long one
                      */
    int64_t *t;      /* on a cache line, as are the others */
    int32_t *halves; /* of a long list, the first 32 bits of each threshold, */
    int32_t *root;   /* and of the last of each leaf, filled up to as many as a leaf has */
    unsigned char room[];
};

#endif
