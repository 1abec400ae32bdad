/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tables to count, when many are wanted that share variables.
 *
 * A row costs about the same in every table that is counted, however many variables it has, as long
 * as the counters stay in the processor's caches. So a few tables of more variables are counted,
 * and the wanted ones are summed from them: all 120 tables of three of ten variables from 16. */
#ifndef CELLAR_TABLE_COUNTING_COVER_H
#define CELLAR_TABLE_COUNTING_COVER_H

#include "table/build.h"

typedef struct cellar_cover {
    cellar_tabulate_set *counted;
    size_t n_counted;
    size_t *source; /* of each wanted table: the counted one that has all its variables */
} cellar_cover;

/* Covers the wanted tables. A counted table is one of them, and more variables as long as it has at
 * most `cells_most` possible cells: n_categories[v] is the number of categories of variable v, or 0
 * where only the data will show it. On failure there is nothing to clear. */
cellar_status cellar_cover_init(cellar_cover *cover, const cellar_tabulate_set *wanted,
                                size_t n_wanted, const size_t *n_categories, uint64_t cells_most,
                                cellar_error *err);
void cellar_cover_clear(cellar_cover *cover); /* {0} is fine */

#endif
