/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What has to hold before anything is drawn, shared by all ways to make a release. */
#ifndef CELLAR_RELEASE_PROTECT_H
#define CELLAR_RELEASE_PROTECT_H

#include "release/release.h"
#include "release/draw/zeros.h"
#include "table/table.h"

/* A table and options that passed every check. Clear it in every case. */
typedef struct cellar_protection {
    const cellar_table *table; /* of the numbers to perturb: the caller's, or `rounded` */
    cellar_table *rounded;     /* the weighted sums as whole numbers; NULL without weights */
    cellar_schema *schema;     /* the release's: the table's, with asserted domains */
    cellar_listing listing;
    cellar_release_facts facts; /* all but mechanism, revision, noise, key_id, total_epsilon, level
                                 */
    cellar_certificate *certificate; /* the price, and what is printed; NULL: none is computed yet,
                                        or none could be */
    unsigned accepted;               /* levels of protection that may be released */
    char date[16];
} cellar_protection;

/* What options say about a release of tables of which one record touches so many cells. */
cellar_release_facts cellar_protection_facts(const cellar_protect_options *options,
                                             uint64_t cells_per_record);
/* Checks what does not depend on the mechanism. */
cellar_status cellar_protection_init(cellar_protection *out, const cellar_table *table,
                                     const cellar_protect_options *options, cellar_error *err);
/* Cells, records, weights and sides that one unit meets, which multiply epsilon. */
uint64_t cellar_protection_n_parts(const cellar_release_facts *facts);
void cellar_protection_clear(cellar_protection *protection);

/* Refuses a weighted table with CELLAR_ERR_RULE, in the name of a mechanism that takes counts. */
cellar_status cellar_protection_refuse_weights(const cellar_table *table, const char *mechanism,
                                               cellar_error *err);

/* Adds the structural zeros that only the table knows to listed cells, which stay in order. */
cellar_status cellar_protection_add_marks(const cellar_table *table, cells_builder *out,
                                          cellar_error *err);

#endif
