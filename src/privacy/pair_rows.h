/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both laws of a pair of counts in doubles, held: searches ask for delta at one epsilon after
 * another, and the laws are the same. */
#ifndef CELLAR_PRIVACY_PAIR_ROWS_H
#define CELLAR_PRIVACY_PAIR_ROWS_H

#include "mechanism/facts.h"
#include "privacy/pair_cache.h"

/* Some numbers in a row: what both laws have of them, and P'(b)/P(b) of all of them, that of the
 * larger count over that of the smaller one, where these are not both 0. */
typedef struct cellar_rows_block {
    double mass[2];
    double least, most;
} cellar_rows_block;

/* The last pair asked for. {0} is empty. */
typedef struct cellar_pair_rows {
    const cellar_mechanism *m; /* NULL: none */
    int64_t count, shift;
    double tail; /* they were made for */
    size_t n, n_blocks;
    double *p[2]; /* of the smaller count and of the larger one */
    cellar_rows_block *blocks;
    double outside[2]; /* no less than P of all other numbers */
    double blind[2];   /* what P has of those that come as 0 in the other law */
    double error;      /* relative, of a number */
} cellar_pair_rows;

void cellar_pair_rows_clear(cellar_pair_rows *rows);

/* As the fact `quick` of delta, `violation` being what P has where delta is made. `enough` > 0 has
 * the rows made for deltas of that size; 0 asks what there is already. Answers 0 where there is
 * none, or it does not go far enough. NULL as a cache has none. */
int cellar_pair_rows_quick(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                           int64_t shift, double epsilon, double enough, double numbers,
                           cellar_quick *out);

#endif
