/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canonical predicate of a cell: what keyed noise is a function of. */
#ifndef CELLAR_RELEASE_PREDICATE_H
#define CELLAR_RELEASE_PREDICATE_H

#include <cellar/random.h>

#include "table/table.h"

/* A cell means "variable is category" for each variable that is not at its total, in the order of
 * the variables' names. So one cell has one predicate, whatever other variables, orders or margins
 * the table around it has. The number of records in the table is part of it: tables that counted
 * different records (other filters, other rows dropped) never share noise, for in the difference
 * of their releases it would cancel. */
typedef struct cellar_predicate cellar_predicate; /* belongs to one thread */

/* Keeps `table`. On failure *out is NULL. */
cellar_status cellar_predicate_create(const cellar_table *table, cellar_predicate **out,
                                      cellar_error *err);
void cellar_predicate_free(cellar_predicate *predicate); /* NULL is fine */

/* Makes `rng` give the bits of the cell. */
cellar_status cellar_predicate_select(cellar_predicate *predicate, uint64_t index, cellar_rng *rng,
                                      cellar_error *err);

#endif
