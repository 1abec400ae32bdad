/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What keyed noise is a function of, besides the key, the edition and the mechanism. */
#ifndef CELLAR_RELEASE_DRAW_PREDICATE_H
#define CELLAR_RELEASE_DRAW_PREDICATE_H

#include <cellar/random.h>

#include "table/table.h"

/* How the bytes below are made; a release with keyed noise says it. Scheme 1 depended on the
 * number of records and the categories of the cell alone, so that tables shared noise. */
enum { CELLAR_KEYED_SCHEME = 2 };

/* What all cells of one table have in common: 256 pseudo-random bits of the name of the data set,
 * the whole description of the table (table/tabulation.h) and all its numbers. Tables that differ
 * in any of these share no noise: not when other records were counted, for in the difference of
 * the releases it would cancel, and not when the numbers are equal, for that they are would be
 * seen (Rinott et al., section 2.2). The order of variables, codes and margins makes no
 * difference. */
typedef struct cellar_fingerprint {
    unsigned char bytes[32];
} cellar_fingerprint;

/* Makes the fingerprint of a table that says what was counted, under the key of `rng`, a keyed
 * generator. `dataset` may be NULL. */
cellar_status cellar_fingerprint_make(const cellar_table *table, const char *dataset,
                                      cellar_rng *rng, cellar_fingerprint *out, cellar_error *err);

/* The predicate of a cell is the fingerprint of its table and "variable is category" for each
 * variable that is not at its total, in the order of the variables' names. */
typedef struct cellar_predicate cellar_predicate; /* belongs to one thread */

/* Keeps `table` and `fingerprint`. On failure *out is NULL. */
cellar_status cellar_predicate_create(const cellar_table *table,
                                      const cellar_fingerprint *fingerprint, cellar_predicate **out,
                                      cellar_error *err);
void cellar_predicate_free(cellar_predicate *predicate); /* NULL is fine */

/* Makes `rng` give the bits of the cell. */
cellar_status cellar_predicate_select(cellar_predicate *predicate, uint64_t index, cellar_rng *rng,
                                      cellar_error *err);

#endif
