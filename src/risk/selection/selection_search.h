/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heaviest set of at most 64 items whose value, which never falls as the set grows, is within a
 * limit. */
#ifndef CELLAR_RISK_SELECTION_SELECTION_SEARCH_H
#define CELLAR_RISK_SELECTION_SELECTION_SEARCH_H

#include <cellar/selection.h>

typedef cellar_status selection_value(void *context, uint64_t set, double *value,
                                      cellar_error *err);

/* The values of sets which all contain `base`. Quickest for a base that grows step by step. */
typedef cellar_status selection_values(void *context, uint64_t base, const uint64_t *sets, size_t n,
                                       double *values, cellar_error *err);

typedef struct selection_problem {
    size_t n_items;
    const double *weights; /* above 0 */
    uint64_t must, must_not;
    double limit;
    size_t n_wanted; /* how many sets: the best, and maximal ones after it */
    uint64_t max_evaluations;
    selection_value *value;   /* either this */
    selection_values *values; /* or this */
    void *context;
    cellar_progress progress;
} selection_problem;

typedef struct selection_result {
    cellar_selection_set *sets; /* n_wanted of room */
    size_t n_sets;
    double gap;
    uint64_t n_evaluations;
} selection_result;

/* Asks the problem, whichever way it answers. */
cellar_status cellar_selection_ask(const selection_problem *problem, uint64_t base,
                                   const uint64_t *sets, size_t n, double *values,
                                   cellar_error *err);

/* Fills `result`, whose sets the caller has allocated. */
cellar_status cellar_selection_search(const selection_problem *problem, selection_result *result,
                                      cellar_error *err);

#endif
