/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/charge/prepared.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "mechanism/mechanism.h"
#include "release/guarantee/calibrate.h"
#include "release/guarantee/certify.h"
#include "release/files/description.h"
#include "release/draw/draw.h"
#include "release/forecast.h"
#include "release/guarantee/share.h"

/* Up to so many indices every cell is visited; beyond, it depends on how many zeros are listed. */
#define PROTECT_DENSE UINT64_C(67108864)
#define PROTECT_KEYED UINT64_C(1073741824)
static const double PROTECT_DENSE_SHARE = 0.125;

/* ---- the plan -------------------------------------------------------------- */

/* Everything that can be known and refused before the first bit is drawn. */
static cellar_status protect_plan(cellar_protection *protection, const cellar_mechanism *mechanism,
                                  const cellar_protect_options *options, cellar_forecast *forecast,
                                  cellar_error *err)
{
    cellar_release_facts *facts = &protection->facts;
    uint64_t n_parts = cellar_protection_n_parts(facts);
    uint64_t n_indices = cellar_schema_n_indices(protection->schema);
    cellar_status status = CELLAR_OK;

    if (mechanism->ops->is_joint)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s does not draw cells independently",
                           cellar_mechanism_name(mechanism));
    *forecast = (cellar_forecast){.cells_per_record = facts->cells_per_record,
                                  .n_possible = cellar_schema_n_possible(protection->schema)};
    if (options->total_epsilon != NULL)
        CELLAR_TRY(
            cellar_share_check(mechanism, n_parts, options->total_epsilon, options->delta, err));
    CELLAR_TRY(cellar_share_total(mechanism, n_parts, forecast->total_epsilon,
                                  sizeof forecast->total_epsilon, err));
    if (options->key != NULL && n_indices > PROTECT_KEYED)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "keyed noise visits every cell, and %" PRIu64 " are too many",
                               n_indices));
    facts->mechanism = cellar_mechanism_spec(mechanism);
    facts->revision = cellar_mechanism_revision(mechanism);
    facts->total_epsilon = forecast->total_epsilon[0] != '\0' ? forecast->total_epsilon : NULL;
    forecast->empty_size =
        (double) forecast->n_possible * cellar_forecast_listed(mechanism, &protection->listing, 0);
    if (forecast->empty_size > (double) options->max_cells)
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "about %.4g of the %" PRIu64 " possible cells would be listed though "
                             "they were empty, more than the %" PRIu64
                             " allowed; a threshold lowers this count",
                             forecast->empty_size, forecast->n_possible, options->max_cells);
out:
    return status;
}

/* A key belongs to one edition. Under one key a table that did not change between two editions
 * would have the same release in both if they had the same name, and that it did not would be
 * seen. */
static cellar_status protect_check_key(const cellar_table *table,
                                       const cellar_protect_options *options, cellar_error *err)
{
    const char *edition;
    if (options->key == NULL)
        return CELLAR_OK;
    edition = cellar_key_edition(options->key);
    if (options->rng != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "noise comes from a key or a generator");
    if (edition == NULL)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the key names no edition of the data; noise needs a key made for one");
    if (options->edition == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "keyed noise needs the edition of the data that was counted");
    if (strcmp(edition, options->edition) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the key is for the edition '%s' of the data, and '%s' was counted: "
                           "each edition has a key of its own",
                           edition, options->edition);
    if (table->tabulation == NULL)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the table does not say what was counted, which keyed noise has to "
                           "depend on; tabulate the records and keep the table as JSON-stat or "
                           "PC-Axis, which carry it (CSV does not)");
    return CELLAR_OK;
}

/* ---- drawing --------------------------------------------------------------- */

static cellar_status protect_open_rng(const cellar_mechanism *mechanism,
                                      const cellar_protect_options *options, cellar_rng **out,
                                      cellar_error *err)
{
    unsigned char secret[CELLAR_KEY_SECRET_BYTES];
    cellar_rng_scope scope = {options->edition, cellar_mechanism_spec(mechanism),
                              cellar_mechanism_revision(mechanism)};
    cellar_status status;
    if (options->key == NULL)
        return cellar_rng_create_secure(out, err);
    cellar_key_secret(options->key, CELLAR_KEY_NOISE, secret);
    status = cellar_rng_create_keyed(secret, &scope, out, err);
    cellar_wipe(secret, sizeof secret);
    return status;
}

/* A generator for every lane. The caller's own is lane 0's, and there are no other lanes. */
static cellar_status protect_open_noise(cellar_draw *draw, const cellar_protect_options *options,
                                        cellar_error *err)
{
    cellar_status status =
        cellar_pool_create(options->rng != NULL ? 1 : options->n_threads, &draw->pool, err);
    int n_lanes;
    if (status != CELLAR_OK)
        return status;
    n_lanes = cellar_pool_n_lanes(draw->pool);
    draw->rngs = cellar_alloc((size_t) n_lanes, sizeof *draw->rngs);
    if (draw->rngs == NULL)
        return cellar_fail_memory(err, "a release");
    if (options->rng != NULL) {
        draw->rngs[0] = options->rng;
        return CELLAR_OK;
    }
    for (int lane = 0; lane < n_lanes && status == CELLAR_OK; lane++)
        status = protect_open_rng(draw->mechanism, options, &draw->rngs[lane], err);
    return status;
}

static void protect_close_noise(cellar_draw *draw, const cellar_protect_options *options)
{
    for (int lane = 0;
         draw->rngs != NULL && options->rng == NULL && lane < cellar_pool_n_lanes(draw->pool);
         lane++)
        cellar_rng_free(draw->rngs[lane]);
    cellar_free(draw->rngs);
    cellar_pool_free(draw->pool);
}

static cellar_noise_source protect_noise(const cellar_protect_options *options)
{
    if (options->key != NULL)
        return CELLAR_NOISE_KEYED;
    return options->rng == NULL || cellar_rng_is_secure(options->rng) ? CELLAR_NOISE_SECURE
                                                                      : CELLAR_NOISE_SEEDED;
}

static cellar_status protect_draw(cellar_draw *draw, const cellar_forecast *forecast,
                                  cellar_error *err)
{
    cellar_zeros *zeros = NULL;
    cellar_status status;

    uint64_t n_indices = cellar_schema_n_indices(draw->table->schema);

    if (n_indices <= PROTECT_DENSE || draw->keyed ||
        forecast->empty_size >= PROTECT_DENSE_SHARE * (double) forecast->n_possible)
        return cellar_draw_dense(draw, err);
    status = cellar_zeros_create(draw->mechanism, draw->listing, &zeros, err);
    draw->zeros = zeros;
    if (status == CELLAR_OK)
        status = cellar_draw_sparse(draw, err);
    cellar_zeros_free(zeros);
    return status;
}

/* 1: only the certificate shows whether the total epsilon is kept. */
static int protect_has_to_compare(const cellar_mechanism *mechanism,
                                  const cellar_protect_options *options)
{
    return options->total_epsilon != NULL && cellar_share_is_by_certificate(mechanism);
}

/* What is said about the release; known before anything is drawn. `set` has the guarantee of what
 * it is drawn together with; NULL: it is drawn alone. */
static cellar_status protect_describe(cellar_protection *protection,
                                      const cellar_mechanism *mechanism,
                                      const cellar_protect_options *options,
                                      const cellar_set_guarantee *set, json_t **out,
                                      cellar_error *err)
{
    json_t *certificate = set != NULL ? json_incref(set->certificate) : NULL;
    cellar_status status = CELLAR_OK;

    protection->facts.noise = protect_noise(options);
    protection->facts.key_id = options->key != NULL ? cellar_key_id(options->key) : NULL;
    if (set != NULL)
        protection->facts.level = set->level;
    else
        status = cellar_release_certify(protection, mechanism, &certificate, err);
    if (status == CELLAR_OK && protect_has_to_compare(mechanism, options))
        status = cellar_calibrate_check(protection->certificate, options->total_epsilon, err);
    if (status != CELLAR_OK) {
        json_decref(certificate);
        return status;
    }
    return cellar_description_create(&protection->facts, cellar_mechanism_name(mechanism),
                                     cellar_description_parameters(mechanism), certificate, out,
                                     err);
}

cellar_status cellar_protect_forecast(const cellar_table *table, const cellar_mechanism *mechanism,
                                      const cellar_protect_options *options, cellar_forecast *out,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_protection protection;
    json_t *description = NULL;
    const unsigned every = CELLAR_ACCEPT_NO_PROTECTION | CELLAR_ACCEPT_LARGE_EPSILON;

    CELLAR_TRY(cellar_protection_init(&protection, table, options, err));
    CELLAR_TRY(protect_plan(&protection, mechanism, options, out, err));
    CELLAR_TRY(protect_check_key(table, options, err));
    if ((every & ~options->accept) != 0 ||
        protect_has_to_compare(mechanism, options)) /* else no certificate refuses anything */
        CELLAR_TRY(protect_describe(&protection, mechanism, options, NULL, &description, err));
    CELLAR_TRY(cellar_forecast_fill(protection.table, mechanism, &protection.listing, out, err));
out:
    json_decref(description);
    cellar_protection_clear(&protection);
    return status;
}

/* Cells that are drawn each by itself. */
typedef struct prepared_cells {
    cellar_prepared base;
    const cellar_mechanism *mechanism;
    cellar_forecast forecast;
} prepared_cells;

static cellar_status cells_draw(cellar_prepared *prepared, cells_builder *out, cellar_error *err)
{
    const prepared_cells *cells = (const prepared_cells *) prepared;
    const cellar_protect_options *options = &prepared->options;
    cellar_draw draw = {.mechanism = cells->mechanism,
                        .table = prepared->protection.table,
                        .listing = prepared->protection.listing,
                        .keyed = options->key != NULL,
                        .progress = options->progress};
    cellar_status status = protect_open_noise(&draw, options, err);
    if (status == CELLAR_OK && draw.keyed)
        status = cellar_fingerprint_make(draw.table, options->dataset, draw.rngs[0],
                                         &draw.fingerprint, err);
    if (status == CELLAR_OK)
        status = protect_draw(&draw, &cells->forecast, err);
    protect_close_noise(&draw, options);
    cellar_wipe(&draw.fingerprint, sizeof draw.fingerprint);
    *out = draw.out;
    return status;
}

static cellar_status cells_forecast(const cellar_prepared *prepared, cellar_forecast *out,
                                    cellar_error *err)
{
    const prepared_cells *cells = (const prepared_cells *) prepared;
    const cellar_protection *protection = &prepared->protection;
    *out = cells->forecast;
    return cellar_forecast_fill(protection->table, cells->mechanism, &protection->listing, out,
                                err);
}

cellar_status cellar_protect_prepare_part(const cellar_table *table,
                                          const cellar_mechanism *mechanism,
                                          const cellar_protect_options *options,
                                          const cellar_set_guarantee *set, cellar_prepared **out,
                                          cellar_error *err)
{
    prepared_cells *cells = cellar_alloc(1, sizeof *cells);
    cellar_prepared *prepared;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (cells == NULL)
        return cellar_fail_memory(err, "a release");
    prepared = &cells->base;
    cells->mechanism = mechanism;
    prepared->table = table;
    prepared->options = *options;
    prepared->draw = cells_draw;
    prepared->forecast = cells_forecast;
    CELLAR_TRY(cellar_protection_init(&prepared->protection, table, options, err));
    CELLAR_TRY(protect_plan(&prepared->protection, mechanism, options, &cells->forecast, err));
    CELLAR_TRY(protect_check_key(table, options, err));
    CELLAR_TRY(protect_describe(&prepared->protection, mechanism, options, set,
                                &prepared->description, err));
    *out = prepared;
    prepared = NULL;
out:
    cellar_prepared_free(prepared);
    return status;
}

cellar_status cellar_protect_prepare(const cellar_table *table, const cellar_mechanism *mechanism,
                                     const cellar_protect_options *options, cellar_prepared **out,
                                     cellar_error *err)
{
    return cellar_protect_prepare_part(table, mechanism, options, NULL, out, err);
}

cellar_status cellar_release_protect(const cellar_table *table, const cellar_mechanism *mechanism,
                                     const cellar_protect_options *options, cellar_release **out,
                                     cellar_error *err)
{
    cellar_prepared *prepared;
    cellar_status status = cellar_protect_prepare(table, mechanism, options, &prepared, err);
    return cellar_prepared_finish(status, prepared, out, err);
}
