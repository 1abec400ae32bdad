/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Perturbed counts that another program wrote, and the true table with the same margins. */
#ifndef CELLAR_UTILITY_FOREIGN_H
#define CELLAR_UTILITY_FOREIGN_H

#include "table/table.h"

typedef struct utility_foreign {
    cellar_table *table; /* true, with the margins and upper levels that the file has */
    cellar_cells cells;  /* by the table's schema; numbers are two's complement in `count` */
} utility_foreign;

/* Reads a CSV file with a column for each variable of the table, and `column` with the numbers
 * (NULL: `count`, or the only other column). Clear *out in every case. */
cellar_status cellar_utility_foreign_read(const cellar_table *table, const char *path,
                                          const char *column, utility_foreign *out,
                                          cellar_error *err);
cellar_status cellar_utility_foreign_parse(const cellar_table *table, const char *name,
                                           const char *bytes, size_t length, const char *column,
                                           utility_foreign *out, cellar_error *err);
void cellar_utility_foreign_clear(utility_foreign *foreign);

#endif
