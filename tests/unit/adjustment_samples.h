/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seeded releases of small tables, for tests of what is fitted to them. */
#ifndef CELLAR_TESTS_ADJUSTMENT_SAMPLES_H
#define CELLAR_TESTS_ADJUSTMENT_SAMPLES_H

#include <cellar/adjustment.h>

#include "small_table.h"

/* A simulation: a release like any other, but that it cannot be written. */
static inline cellar_status sample_draw(const small_table *small, const char *spec, uint64_t seed,
                                        cellar_negatives negatives, cellar_release **out,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_table *table = small_table_create(small);
    cellar_protect_options options = cellar_protect_options_default();
    cellar_mechanism *mechanism = NULL;
    options.accept = CELLAR_ACCEPT_NO_PROTECTION | CELLAR_ACCEPT_LARGE_EPSILON;
    options.negatives = negatives;
    options.per_cell = 1;
    options.date = "2026-07-01";
    options.n_threads = 1;
    CELLAR_TRY(cellar_mechanism_create(spec, &mechanism, err));
    CELLAR_TRY(cellar_rng_create_seeded(seed, 0, &options.rng, err));
    CELLAR_TRY(cellar_release_protect(table, mechanism, &options, out, err));
out:
    cellar_rng_free(options.rng);
    cellar_mechanism_free(mechanism);
    cellar_table_free(table);
    return status;
}

static inline cellar_release *sample_release(const small_table *small, const char *spec,
                                             uint64_t seed)
{
    cellar_release *release = NULL;
    cellar_error err;
    if (sample_draw(small, spec, seed, CELLAR_NEGATIVES_KEEP, &release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return release;
}

#endif
