/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Enclosures that were computed once: the points of a profile ask for the same ones. */
#ifndef CELLAR_PRIVACY_PAIR_CACHE_H
#define CELLAR_PRIVACY_PAIR_CACHE_H

#include <arb.h>

#include "mechanism/mechanism.h"
#include "privacy/pair_cost.h"
#include "privacy/work.h"

typedef struct cellar_pair_cache cellar_pair_cache;

typedef enum cellar_pair_kind { CELLAR_PAIR_PMF, CELLAR_PAIR_UPPER } cellar_pair_kind;

/* NULL when memory ends. */
cellar_pair_cache *cellar_pair_cache_create(void);
void cellar_pair_cache_free(cellar_pair_cache *cache); /* NULL is fine */

/* What has been done of what the certificate may take; NULL without a cache. */
cellar_work *cellar_pair_cache_work(cellar_pair_cache *cache);

/* 1 and the enclosure of P(B = b | count) or P(B > b | count) when it is held. */
int cellar_pair_cache_get(const cellar_pair_cache *cache, const cellar_mechanism *m,
                          cellar_pair_kind kind, int64_t count, int64_t b, int64_t bits, arb_t out);
void cellar_pair_cache_put(cellar_pair_cache *cache, const cellar_mechanism *m,
                           cellar_pair_kind kind, int64_t count, int64_t b, int64_t bits,
                           const arb_t value);

/* Room for losses, for blocks of laws and for laws in doubles, see atoms_store.h, blocks.h and
 * pair_rows.h; NULL without a cache. */
struct cellar_atoms_store *cellar_pair_cache_atoms(cellar_pair_cache *cache);
struct cellar_blocks_store *cellar_pair_cache_blocks(cellar_pair_cache *cache);
struct cellar_pair_rows *cellar_pair_cache_doubles(cellar_pair_cache *cache);

/* What is remembered of all pairs of counts from one on: a bound of delta_p at some epsilon. */
typedef struct cellar_rest {
    int64_t from; /* 0: none yet */
    double epsilon, bound;
    double tried; /* the last epsilon at which it was looked for from the first count on */
    int has_wide, has_narrow; /* deltas at which its laws are known to be wide, and not to be */
    double wide, narrow;
} cellar_rest;

/* The place of the last one found; NULL without a cache. */
cellar_rest *cellar_pair_cache_rest(cellar_pair_cache *cache, const cellar_mechanism *m,
                                    int64_t shift);

/* The worst of all pairs of counts at some epsilon, as a search found it. */
typedef struct cellar_known {
    const cellar_mechanism *m; /* NULL: nothing */
    int64_t shift, smallest;
    int is_delta;
    double epsilon;
    double bound, least;
    int64_t count, neighbour;
    int everywhere, is_attained;
} cellar_known;

/* What is known where these five are the same; else a place to put it, with them in it and `bound`
 * NAN. NULL without a cache. */
cellar_known *cellar_pair_cache_known(cellar_pair_cache *cache, const cellar_known *asked);

/* The curve of an envelope (envelope.c), as it was last made. */
typedef struct cellar_curve_node {
    double g, value;
} cellar_curve_node;

enum { CELLAR_CURVE_RESTS = 48 };
typedef struct cellar_curve {
    cellar_curve_node *nodes; /* of the cache; NULL: to be made and put here */
    size_t n;
    double tail; /* what of each law it leaves out */
    /* What is known of all counts but the first ones (envelope_laws.h), whatever is left out. */
    int has_rest;
    double ordered_from, rest[CELLAR_CURVE_RESTS];
} cellar_curve;

/* Its place; NULL without a cache. */
cellar_curve *cellar_pair_cache_curve(cellar_pair_cache *cache, const cellar_mechanism *m,
                                      int64_t shift, int64_t smallest, int larger);

/* Kernels that enclose many numbers at once are asked for whole rows, from 0 on. */
enum { CELLAR_PAIR_ROW_MAX = 2048 };
/* 1 and P(B = b | count) where such a row says it. */
int cellar_pair_cache_pmf(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                          int64_t b, int64_t bits, arb_t out);
/* The same for P(B > b | count), unless it is too small to be what a row leaves. */
int cellar_pair_cache_upper(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                            int64_t b, int64_t bits, arb_t out);
/* 1 and P(B > b | count) of a wide law, of which the last one asked for is remembered: another near
 * it takes only what lies between. */
int cellar_pair_cache_tail(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                           int64_t b, int64_t bits, arb_t out);
/* The same for P(B <= b | count), where double-words say it. */
int cellar_pair_cache_lower(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                            int64_t b, int64_t bits, arb_t out);

/* The law of a count in double-words where it holds b; NULL elsewhere. It stays until another count
 * is asked for. */
const cellar_law_row *cellar_pair_cache_words(cellar_pair_cache *cache, const cellar_mechanism *m,
                                              int64_t count, int64_t b);
/* The same where it can be finished to 2^-bits (law_row.h). */
const cellar_law_row *cellar_pair_cache_words_to(cellar_pair_cache *cache,
                                                 const cellar_mechanism *m, int64_t count,
                                                 int bits);

#endif
