/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What groups hold. */
#ifndef CELLAR_RISK_HOMOGENEITY_GROUPS_H
#define CELLAR_RISK_HOMOGENEITY_GROUPS_H

#include <cellar/risk.h>

/* Groups with the same counts: positive ones ascending, and how many values have none. */
typedef struct cellar_group_kind {
    size_t first; /* of its counts in `counts` */
    size_t n_positive;
    uint64_t n_zeros;
    uint64_t size;  /* the sum of the counts */
    uint64_t times; /* how many groups */
} cellar_group_kind;

/* In `times` groups the value has that count. */
typedef struct cellar_value_count {
    uint64_t count, times;
    uint32_t value;
} cellar_value_count;

struct cellar_groups {
    uint64_t *counts;
    cellar_group_kind *kinds; /* ascending by counts, then by n_zeros: equal beginnings are near */
    size_t n_kinds;
    size_t n_values;
    uint64_t n_groups, n_homogeneous, n_homogeneous_records, n_records, n_empty, n_partial;
    double *value_records;            /* of each value, all records */
    double *value_shares;             /* of each value, the sum of its shares in the groups */
    size_t top_value;                 /* the most frequent */
    cellar_value_count *value_counts; /* positive counts, by value and count, each pair once */
    size_t n_value_counts;
    /* of groups from a table, in its order: */
    size_t n_rows, n_qid;
    uint32_t *row_kind;   /* which kind each is */
    uint32_t *categories; /* n_qid each */
};

/* Baseline, difference and the value before protection, beside a mean. */
void cellar_risk_frame(const cellar_groups *groups, cellar_risk_average average,
                       cellar_risk_summary *out);

#endif
