/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small table protected in the plain way, for tests of releases. */
#ifndef CELLAR_TESTS_RELEASE_SAMPLES_H
#define CELLAR_TESTS_RELEASE_SAMPLES_H

#include "check.h"

#include <cellar/charged.h>

#include "small_table.h"
#include "make_mechanism.h"

static const small_table plain = {.n_variables = 2,
                                  .sizes = {3, 4},
                                  .domain = CELLAR_DOMAIN_DECLARED,
                                  .n_cells = 3,
                                  .index = {0, 5, 11},
                                  .count = {2, 1, 900}};

static inline cellar_protect_options keep(void)
{
    cellar_protect_options options = cellar_protect_options_default();
    options.accept = CELLAR_ACCEPT_NO_PROTECTION | CELLAR_ACCEPT_LARGE_EPSILON;
    options.negatives = CELLAR_NEGATIVES_KEEP;
    options.date = "2026-07-01";
    options.n_threads = 1;
    return options;
}

static inline cellar_status protect(const small_table *small, const char *spec,
                                    const cellar_protect_options *options, cellar_release **out,
                                    cellar_error *err)
{
    cellar_table *table = small_table_create(small);
    cellar_mechanism *m = make(spec);
    cellar_status status = cellar_release_protect(table, m, options, out, err);
    cellar_forecast forecast;
    cellar_prepared *prepared;
    assert_int_equal(cellar_protect_forecast(table, m, options, &forecast, NULL), status);
    assert_int_equal(cellar_protect_prepare(table, m, options, &prepared, NULL), status);
    cellar_prepared_free(prepared);
    cellar_mechanism_free(m);
    cellar_table_free(table);
    return status;
}

#endif
