/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two ways to the expected risk of all groups of a table: products of power series, and the
 * same at points of a circle. */
#ifndef CELLAR_RISK_HOMOGENEITY_EXPECTED_WORK_H
#define CELLAR_RISK_HOMOGENEITY_EXPECTED_WORK_H

#include "risk/homogeneity/expected.h"

enum { EXPECTED_CHUNK = 2048 }; /* groups in a piece of work: fixed, so that sums are too */

/* What the lanes of a chunk add up to: the scenarios that are computed, `right`, and on circles the
 * largest number met on the way to each value, whose rounding is that of the value. */
enum { SUM_1, SUM_2, SUM_4, SUM_6, SUM_7, SUM_8, SUM_RIGHT, SUM_LARGEST, N_SUMS };
typedef struct cellar_expected_sums {
    cellar_lanes at[N_SUMS];
} cellar_expected_sums;

typedef struct cellar_expected_work {
    const cellar_expected *run;
    cellar_pool *pool;
    cellar_lane_table *table;
    double (*poisson)[CELLAR_PRODUCT_MAX + 1]; /* [count][j] */
    cellar_lanes *absent_powers;               /* of count 0, up to n_values */
    double norms[CELLAR_PRODUCT_MAX + 1];      /* 1 / Poisson(n; n) */
    size_t degree;                             /* largest size that is done by either way */
    double floor;                              /* what is below is left out */
    cellar_lanes *values;
    cellar_expected_sums total;
} cellar_expected_work;

/* 1 when a kind is done by either way: several values in truth, and not too large. */
int cellar_expected_is_small(const cellar_expected_work *work, size_t kind);
const uint64_t *cellar_expected_counts(const cellar_expected_work *work, size_t kind);

/* From coefficients over counts with several positive values to the scenarios of a small kind. */
void cellar_expected_add(const cellar_expected_work *work, size_t index,
                         const cellar_lanes at[PRODUCT_N_KINDS], cellar_expected_sums *sums);
/* A kind that is not small. */
cellar_status cellar_expected_add_rest(const cellar_expected_work *work, size_t kind,
                                       cellar_expected_sums *sums, cellar_error *err);
void cellar_expected_sum(cellar_expected_work *work, const cellar_expected_sums *chunks,
                         size_t n_chunks);

/* All kinds, added to work->total: by products, right to the floor; on circles, to 1e-12 of the
 * largest numbers met. */
cellar_status cellar_expected_products(cellar_expected_work *work, cellar_error *err);
cellar_status cellar_expected_circles(cellar_expected_work *work, cellar_error *err);

#endif
