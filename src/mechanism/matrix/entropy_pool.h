/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A solution of a maximum-entropy row, as the solver hands it on to be refined. */
#ifndef CELLAR_MECHANISM_MATRIX_ENTROPY_POOL_H
#define CELLAR_MECHANISM_MATRIX_ENTROPY_POOL_H

#include "mechanism/matrix/entropy_row.h"

enum { CELLAR_ENTROPY_MULTIPLIERS = 3 };

/* Neighbours that share one probability. */
typedef struct cellar_entropy_pool {
    size_t n;
    long double sums[CELLAR_ENTROPY_MULTIPLIERS]; /* of T over the members */
    long double exponent;                         /* the mean of t . T */
    long double p;
    int is_free; /* 0: p is held by the bound on staying */
} cellar_entropy_pool;

/* Given which changes share a probability and which probabilities are held, solves again from the
 * multipliers `t` (for changes divided by `scale`), to CELLAR_ENTROPY_BITS. The answer does not
 * depend on where it starts: every machine gets the same one. 0 when it does not converge. */
int cellar_entropy_refine(const cellar_entropy_row *row, const cellar_entropy_pool *pools,
                          size_t n_pools, size_t n_active, const long double *t, double scale,
                          arb_ptr p);

#endif
