/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulated copies of a table, each compared with it. */
#ifndef CELLAR_UTILITY_COPIES_H
#define CELLAR_UTILITY_COPIES_H

#include "utility/plan.h"

/* All that the copies gave. */
typedef struct utility_outcome {
    size_t n_copies;
    double *values; /* [copy][result] */
    utility_tally tally;
} utility_outcome;

cellar_status cellar_utility_outcome_init(utility_outcome *outcome, const utility_plan *plan,
                                          size_t n_copies, cellar_error *err);
void cellar_utility_outcome_clear(utility_outcome *outcome);

/* Seeded copies under a mechanism that draws each cell by itself. `zero_share` is the probability
 * that a zero is listed. */
cellar_status cellar_utility_copies_draw(const utility_plan *plan, const cellar_table *table,
                                         const cellar_mechanism *mechanism,
                                         const cellar_listing *listing, double zero_share,
                                         utility_outcome *outcome, cellar_error *err);

/* Seeded copies drawn as a whole with "multinomial-dirichlet:...". */
cellar_status cellar_utility_copies_dirichlet(const utility_plan *plan, const cellar_table *table,
                                              const char *spec,
                                              const cellar_protect_options *options,
                                              utility_outcome *outcome, cellar_error *err);

/* The one copy that a release is; *inner are its inner cells, which the caller clears. */
cellar_status cellar_utility_copies_release(const utility_plan *plan, const cellar_release *release,
                                            utility_outcome *outcome, utility_cells *inner,
                                            cellar_error *err);

/* The same for cells listed by the table's schema. */
cellar_status cellar_utility_copies_listed(const utility_plan *plan, const cellar_cells *listed,
                                           utility_outcome *outcome, cellar_error *err);

#endif
