/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is measured: the list of results, and where each block of it begins. */
#ifndef CELLAR_UTILITY_PLAN_H
#define CELLAR_UTILITY_PLAN_H

#include <cellar/utility.h>

#include "utility/association.h"
#include "utility/margins.h"
#include "utility/rank.h"
#include "utility/spread.h"

/* The first results, in this order. */
enum {
    UTILITY_L1,
    UTILITY_L2,
    UTILITY_L3,
    UTILITY_HELLINGER,
    UTILITY_HELLINGER_SQUARED,
    UTILITY_ABSOLUTE, /* l1 / cells */
    UTILITY_TOTAL,
    UTILITY_ZERO_POSITIVE,
    UTILITY_POSITIVE_ZERO,
    UTILITY_TOP_OVERLAP,
    UTILITY_TOP_TAU,
    UTILITY_PMSE, /* this one and the five after it: propensity.c */
    UTILITY_PMSE_RATIO,
    UTILITY_PMSE_STANDARDISED,
    UTILITY_VOAS_WILLIAMSON,
    UTILITY_FREEMAN_TUKEY,
    UTILITY_JENSEN_SHANNON,
    UTILITY_ASSOCIATION, /* UTILITY_N_STATISTICS of them */
    UTILITY_N_FIXED = UTILITY_ASSOCIATION + 6
};
enum { UTILITY_N_STATISTICS = 6 };  /* chi-square, df, G-square, V, two p-values */
enum { UTILITY_N_PER_MARGIN = 2 };  /* total variation, mean square */
enum { UTILITY_N_PER_WAYS = 2 };    /* mean and largest total variation */
enum { UTILITY_N_GAPS = 3 };        /* mean, largest, mean square */
enum { UTILITY_N_PER_STRATUM = 2 }; /* absolute, relative difference; then the radii */

typedef struct utility_plan {
    const cellar_utility_options *options;
    utility_frame frame;
    utility_margins margins;
    utility_top top;
    cellar_association original;
    const cellar_schema *gap_schema; /* of released margins; NULL: none, or too large */
    int gaps_left_out;               /* 1: too large */

    const uint64_t *counts, *radii;
    size_t n_counts, n_radii; /* strata: n_counts, and one of larger counts */
    uint64_t *stratum_cells;

    cellar_arena *arena; /* holds strings */
    cellar_utility_result *results;
    size_t n_results, capacity;
    size_t first_stratum, first_ways, first_margin, first_pair, first_gap, first_model, n_ways;
} utility_plan;

/* `gap_schema` may be NULL. Clear the plan in every case. */
cellar_status cellar_utility_plan_init(utility_plan *plan, const cellar_table *table,
                                       const cellar_schema *gap_schema,
                                       const cellar_utility_options *options, cellar_error *err);
void cellar_utility_plan_clear(utility_plan *plan); /* results and arena stay: they were given on */

/* The stratum of a count: n_counts for larger ones, SIZE_MAX for one that nobody looks at. */
size_t cellar_utility_plan_stratum(const utility_plan *plan, int64_t count);
/* Differences and radii. */
static inline size_t utility_plan_per_stratum(const utility_plan *plan)
{
    return UTILITY_N_PER_STRATUM + plan->n_radii;
}
/* The k-th result of a stratum: what is alike stands together. */
static inline size_t utility_plan_place(const utility_plan *plan, size_t stratum, size_t k)
{
    return plan->first_stratum + k * (plan->n_counts + 1) + stratum;
}
static inline int utility_plan_has_pairs(const utility_plan *plan)
{
    return plan->frame.n_variables > 2 && plan->first_gap > plan->first_pair;
}

/* The six statistics in the order of the results. */
void cellar_utility_statistics(const cellar_association *association, double *out);

/* ---- one copy ------------------------------------------------------------------------------- */

/* What a thread needs to measure copies. */
typedef struct utility_work {
    utility_cells released;
    double *margin_sums, *sums, *gap_sums;
    int64_t *heap;
    utility_tally tally;
} utility_work;

cellar_status cellar_utility_work_init(utility_work *work, const utility_plan *plan,
                                       cellar_error *err);
void cellar_utility_work_clear(utility_work *work);

/* Compares work->released, and `listed` for gaps (by the gap schema), with the table. Fills values,
 * one for each result; NAN for what does not exist. */
cellar_status cellar_utility_measure(const utility_plan *plan, utility_work *work,
                                     const cellar_cells *listed, double *values, cellar_error *err);

#endif
