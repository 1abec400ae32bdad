/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of profiles, and partitions of them by columns. */
#ifndef CELLAR_RISK_SELECTION_PROFILES_H
#define CELLAR_RISK_SELECTION_PROFILES_H

#include <cellar/selection.h>

struct cellar_profiles {
    size_t n_columns, n_rows;
    char **names;
    cellar_codelist **domains; /* levels are the leaves */
    uint32_t **levels;         /* levels[column][row] */
    uint64_t *counts;          /* of each row */
    uint64_t n_people;
};

/* Rows in groups that agree on the columns so far, group after group. Groups of fewer than `k`
 * people may be dropped: splitting them further leaves them below k. */
typedef struct partition {
    size_t n_rows, n_groups;
    uint32_t *order;  /* rows */
    uint32_t *starts; /* n_groups + 1 */
    uint64_t dropped; /* people */
} partition;

/* Room for the work, one slot per level of the column with the most. */
typedef struct refiner {
    const cellar_profiles *profiles;
    uint64_t *people;
    uint32_t *places;
    uint32_t *touched;
} refiner;

/* 0 when memory ends; so below. */
int cellar_refiner_init(const cellar_profiles *profiles, refiner *out);
void cellar_refiner_clear(refiner *r);

/* All rows in one group. */
int cellar_partition_whole(const cellar_profiles *profiles, partition *out);
void cellar_partition_clear(partition *p);

/* Splits every group by the levels of a column (as relabelled: levels[row]); groups of fewer than
 * `k` people are dropped (0: none). */
int cellar_partition_refine(refiner *r, const partition *from, const uint32_t *levels, uint64_t k,
                            partition *out);

/* Calls visit(context, people) for every group that the column would make, until it answers
 * anything but 0. */
typedef int partition_visitor(void *context, uint64_t people);
void cellar_partition_visit(refiner *r, const partition *from, const uint32_t *levels,
                            partition_visitor *visit, void *context);

#endif
