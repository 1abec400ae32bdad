/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The records of the benchmark of stores: 20 columns of small numbers and a record key, each a
 * function of its row and column, so that no file is needed to know them. */
#ifndef CELLAR_BENCH_STORE_PEOPLE_H
#define CELLAR_BENCH_STORE_PEOPLE_H

#include <stdint.h>

enum { PEOPLE_COLUMNS = 20 };
static const unsigned people_levels[PEOPLE_COLUMNS] = {100, 2, 10, 19, 10, 20, 5,  3, 8, 12,
                                                       6,   7, 4,  15, 25, 30, 50, 9, 2, 200};
static const uint64_t people_key_range = UINT64_C(1) << 32;

static inline uint64_t people_mix(uint64_t x) /* splitmix64 */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Low values are more common than high ones, as in a census. Column 0 is an area: rows of one lie
 * together. */
static inline unsigned people_value(uint64_t row, unsigned column, uint64_t n_rows)
{
    const uint64_t bits = people_mix(row * PEOPLE_COLUMNS + column) >> 32;
    if (column == 0)
        return (unsigned) (row * people_levels[0] / n_rows);
    return (unsigned) ((bits * bits >> 32) * people_levels[column] >> 32);
}

static inline uint64_t people_key(uint64_t row)
{
    return people_mix(~row) % people_key_range;
}

#endif
