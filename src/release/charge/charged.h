/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that are released together, under one charge. */
#ifndef CELLAR_RELEASE_CHARGE_CHARGED_H
#define CELLAR_RELEASE_CHARGE_CHARGED_H

#include "release/charge/prepared.h"

/* Writes what was drawn to `staged_path`, as cellar_produce says. It may take releases: those that
 * it sets to NULL are its own. */
typedef cellar_status cellar_charged_write(void *context, const char *staged_path,
                                           const char *stamp, cellar_release **releases,
                                           cellar_error *err);

typedef struct cellar_charged_set {
    cellar_prepared *const *prepared; /* at least one; all about the same units */
    size_t n;
    const cellar_certificate *certificate; /* of all together: the price, and what is printed. NULL:
                                              none could be computed */
    const char *delta;                     /* the first at which it states epsilon; NULL: none */
    const char *what;                      /* what is released, in words */
    const char *form;                      /* how it is written: another form is another request */
    cellar_spend_options place;
    cellar_charged_write *write;
    void *context;
} cellar_charged_set;

/* Charges, draws and writes all of them, as cellar_prepared_spend() does one. */
cellar_status cellar_charged_spend(const cellar_charged_set *set, cellar_ledger *ledger,
                                   const cellar_payment *payment, cellar_spend_result *result,
                                   cellar_error *err);

/* How a release is written to the file that a charge or a note goes with, with nothing left to
 * guess; refuses what the format cannot hold. */
cellar_status cellar_charged_choose(const cellar_prepared *prepared,
                                    const cellar_charged_file *file,
                                    cellar_table_write_options *out, cellar_error *err);

/* Draws all of them and lets `write` write them, without a charge when `stamp` is NULL. */
cellar_status cellar_charged_draw(const cellar_charged_set *set, const char *path,
                                  const char *stamp, cellar_error *err);

/* Compares with what cellar_prepared_note() noted in an entry, by number from 1: CELLAR_ERR_RULE
 * when counts, keys or options are others now, so that a draw would not be the same. */
cellar_status cellar_prepared_check_note(const cellar_prepared *prepared,
                                         const cellar_ledger *ledger, size_t number,
                                         cellar_error *err);

#endif
