/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a store are those of the data it was built from, to the last letter of what they say
 * was counted. */
#ifndef CELLAR_TABLE_COUNTING_STORED_H
#define CELLAR_TABLE_COUNTING_STORED_H

#include "data/stored/file.h"
#include "table/counting/lane.h"

/* The key range of the store's keys; refuses keys that are to be made in another way. */
cellar_status cellar_stored_admission(const cellar_stored_file *file,
                                      const cellar_tabulate_spec *spec, cellar_admission *admission,
                                      cellar_error *err);

/* What cellar_tabulation_describe() would say of the data the store was built from. `columns` are
 * the stored variables of the spec's. */
cellar_status cellar_stored_describe(const cellar_stored_file *file,
                                     const cellar_tabulate_spec *spec, const size_t *columns,
                                     const cellar_condition *const *conditions, char **out,
                                     cellar_error *err);

#endif
