/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How values spread: tallies of differences, and quantiles of weighted values. */
#ifndef CELLAR_UTILITY_SPREAD_H
#define CELLAR_UTILITY_SPREAD_H

#include <cellar/utility.h>

/* How often a difference b - a occurred, by the place of a among the counts looked at. */
typedef struct utility_tally_entry {
    int64_t away;
    uint64_t times; /* 0: the place is free */
    size_t stratum;
} utility_tally_entry;

/* A hash table; {0} is empty. */
typedef struct utility_tally {
    utility_tally_entry *entries;
    size_t n, size; /* size: a power of two, or 0 */
} utility_tally;

void cellar_utility_tally_clear(utility_tally *tally);
/* 0 when memory ends. */
int cellar_utility_tally_add(utility_tally *tally, size_t stratum, int64_t away, uint64_t times);
/* Adds all of `from`; 0 when memory ends. */
int cellar_utility_tally_merge(utility_tally *tally, const utility_tally *from);

typedef struct utility_weighted {
    double value, weight;
} utility_weighted;

/* Fills mean and quantiles from values with weights, which are sorted. Nothing: all NAN. */
void cellar_utility_spread_fill(utility_weighted *items, size_t n, cellar_utility_spread *out);

/* The level-quantile of sorted numbers, interpolated between order statistics. */
double cellar_utility_quantile(const double *sorted, size_t n, double level);

int cellar_utility_order(const void *a, const void *b); /* of doubles, ascending, for qsort */

#endif
