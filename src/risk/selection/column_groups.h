/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How exposed sets of columns are by the groups of people they make, asked for many sets at a time
 * that have most columns in common. */
#ifndef CELLAR_RISK_SELECTION_COLUMN_GROUPS_H
#define CELLAR_RISK_SELECTION_COLUMN_GROUPS_H

#include <cellar/selection.h>

typedef struct column_groups column_groups;

/* For the measures known and estimated. */
cellar_status cellar_column_groups_create(const cellar_profiles *profiles,
                                          const cellar_selection_options *options,
                                          column_groups **out, cellar_error *err);
void cellar_column_groups_free(column_groups *groups); /* NULL is fine */

/* The values of sets which all contain `base`; a selection_values. Above the limit of the options a
 * value is only known to be above it, until cellar_column_groups_exactly is called. Quickest when
 * the sets have one or two columns more than `base`, and `base` few more than the one before. */
cellar_status cellar_column_groups_values(void *context, uint64_t base, const uint64_t *sets,
                                          size_t n, double *out, cellar_error *err);
void cellar_column_groups_exactly(column_groups *groups);

#endif
