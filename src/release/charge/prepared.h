/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a release before its first draw. */
#ifndef CELLAR_RELEASE_CHARGE_PREPARED_H
#define CELLAR_RELEASE_CHARGE_PREPARED_H

#include <cellar/charged.h>

#include "release/protect.h"

/* The first member of each kind's own struct. */
struct cellar_prepared {
    const cellar_table *table; /* the caller's, weights and all */
    cellar_protection protection;
    cellar_protect_options options;
    int shows_total; /* the total drawn is the table's own */
    json_t *description;
    /* Draws the listed cells, which the caller clears. */
    cellar_status (*draw)(cellar_prepared *prepared, cells_builder *out, cellar_error *err);
    /* Fills in what to expect; NULL: there is no forecast. */
    cellar_status (*forecast)(const cellar_prepared *prepared, cellar_forecast *out,
                              cellar_error *err);
    void (*clear)(cellar_prepared *prepared); /* of what the kind adds; NULL: nothing */
};

/* The guarantee of a set of tables, which all of them print: none has one of its own. */
typedef struct cellar_set_guarantee {
    json_t *certificate;
    cellar_protection_level level; /* which was accepted */
} cellar_set_guarantee;

/* cellar_protect_prepare() for one table of a set; NULL: for one that is drawn alone. */
cellar_status cellar_protect_prepare_part(const cellar_table *table,
                                          const cellar_mechanism *mechanism,
                                          const cellar_protect_options *options,
                                          const cellar_set_guarantee *set, cellar_prepared **out,
                                          cellar_error *err);

/* The release says that it protects no better than `level`: of what it is released with. */
cellar_status cellar_prepared_lower(cellar_prepared *prepared, cellar_protection_level level,
                                    cellar_error *err);

/* Draws what was prepared, if `status` says that it was, and frees it. */
cellar_status cellar_prepared_finish(cellar_status status, cellar_prepared *prepared,
                                     cellar_release **out, cellar_error *err);

#endif
