/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact expectations of results, and the spread of single cells by the law. */
#ifndef CELLAR_UTILITY_EXPECT_H
#define CELLAR_UTILITY_EXPECT_H

#include "utility/plan.h"

/* Fills `expected` where a sum over the law gives it; the rest stays NAN. With `gaps`, the table
 * has the aggregates that the gaps are about. *known tells whether the law could be summed. */
cellar_status cellar_utility_expect_results(utility_plan *plan, utility_law *law,
                                            const cellar_table *table, int gaps, int *known,
                                            cellar_error *err);

/* Absolute and relative differences for a count, by the law; *known is 0 when it is too wide. */
cellar_status cellar_utility_law_spreads(utility_law *law, int64_t count,
                                         cellar_utility_spread out[2], int *known,
                                         cellar_error *err);

#endif
