/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows of a batch count, and with which weight and key. */
#ifndef CELLAR_TABLE_COUNTING_LANE_H
#define CELLAR_TABLE_COUNTING_LANE_H

#include <cellar/tabulate.h>

#include "data/scan.h"
#include "data/units.h"
#include "table/counting/accumulate.h"

/* What decides about a row: its weight, its key and its unit, by their places in the scan. */
typedef struct cellar_admission {
    const cellar_tabulate_spec *spec;
    size_t weight_use, key_use, unit_use;
    uint64_t key_range;           /* 0: no keys */
    cellar_int128 largest_weight; /* what weights are clipped to; 0: not at all */
    cellar_units *units;          /* NULL: every record is a unit of its own */
    int number_units;             /* 1: units are numbered, and admit every record */
} cellar_admission;

/* What one thread needs beside the counters. */
typedef struct cellar_lane {
    const int32_t *codes[CELLAR_MAX_VARIABLES];
    size_t n_codes[CELLAR_MAX_VARIABLES];
    int32_t *kept[CELLAR_MAX_VARIABLES]; /* codes of the rows left after weights, keys and units */
    size_t kept_capacity[CELLAR_MAX_VARIABLES];
    uint64_t *counts;
    cellar_int128 *weights;
    uint64_t *record_keys;
    uint64_t *unit_numbers;
    size_t counts_capacity, weights_capacity, keys_capacity, units_capacity;
    uint64_t n_counted, n_over_unit;
} cellar_lane;

typedef enum cellar_admitted {
    CELLAR_ROW_COUNTS,
    CELLAR_ROW_REJECTED, /* and its run knows */
    CELLAR_ROW_OVER_UNIT,
    CELLAR_ROW_NO_MEMORY
} cellar_admitted;

/* Makes room in the arrays of weights, keys and unit numbers, as far as they are needed. 0 when
 * memory ends. */
int cellar_lane_reserve(const cellar_admission *admission, cellar_lane *lane, size_t n);
/* Whether a row that stands for `count` records counts: its weight, key and unit number go to
 * position `n` of the lane's arrays. */
cellar_admitted cellar_lane_admit(const cellar_admission *admission, cellar_lane *lane,
                                  cellar_batch *batch, size_t row, uint64_t count, size_t n);

/* Leaves the rows of a batch that weights, keys and units admit; rows->codes are those of the lane.
 */
cellar_status cellar_lane_pick(cellar_lane *lane, const cellar_admission *admission,
                               cellar_batch *batch, cellar_coded_rows *rows, cellar_error *err);
void cellar_lane_clear(cellar_lane *lane);

#endif
