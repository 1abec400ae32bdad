/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All cells drawn together: the multinomial-Dirichlet mechanism on a table without margins. */
#include <cellar/dirichlet.h>

#include <inttypes.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "release/guarantee/certify.h"
#include "release/files/description.h"
#include "release/draw/draw.h"
#include "release/charge/prepared.h"

#define DIRICHLET_MAX_CELLS UINT64_C(268435456)

/* The cells that take part, and their counts. */
typedef struct dirichlet_work {
    cellar_draw draw; /* only to ask which cells there are */
    size_t n;
    uint64_t *index;
    int64_t *counts, *released;
} dirichlet_work;

static cellar_status dirichlet_collect(dirichlet_work *work, cellar_error *err)
{
    const cellar_table *table = work->draw.table;
    uint64_t n_indices = cellar_schema_n_indices(table->schema);
    size_t position = 0;

    if (cellar_schema_n_possible(table->schema) > DIRICHLET_MAX_CELLS)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the cells are drawn together, and %" PRIu64 " are too many",
                           cellar_schema_n_possible(table->schema));
    work->index = cellar_alloc((size_t) n_indices, sizeof *work->index);
    work->counts = cellar_alloc((size_t) n_indices, sizeof *work->counts);
    work->released = cellar_alloc((size_t) n_indices, sizeof *work->released);
    if (work->index == NULL || work->counts == NULL || work->released == NULL)
        return cellar_fail_memory(err, "a release");
    for (uint64_t index = 0; index < n_indices; index++) {
        int64_t count = 0;
        if (position < table->cells.n && table_index(table, position) == index)
            count = (int64_t) table->cells.count[position++];
        if (!cellar_draw_has(&work->draw, index))
            continue;
        work->index[work->n] = index;
        work->counts[work->n++] = count;
    }
    return CELLAR_OK;
}

static void dirichlet_clear(dirichlet_work *work)
{
    if (work->counts != NULL)
        cellar_wipe(work->counts, work->n * sizeof *work->counts);
    cellar_free(work->counts);
    cellar_free(work->released);
    cellar_free(work->index);
    cellar_cells_clear(&work->draw.out.cells);
}

static cellar_status dirichlet_list(dirichlet_work *work, const cellar_listing *listing,
                                    cellar_error *err)
{
    cells_builder *out = &work->draw.out;
    size_t n_listed = 0;
    cellar_status status;

    for (size_t i = 0; i < work->n; i++)
        n_listed += (size_t) cellar_listing_has(listing, work->released[i]);
    status = cellar_cells_reserve(out, &out->cells, n_listed, err);
    if (status != CELLAR_OK)
        return status;
    CELLAR_ASSERT(out->cells.index != NULL);
    for (size_t i = 0; i < work->n; i++)
        if (cellar_listing_has(listing, work->released[i])) {
            out->cells.index[out->cells.n] = work->index[i];
            out->cells.count[out->cells.n++] = (uint64_t) work->released[i];
        }
    return CELLAR_OK;
}

/* Fresh noise, or the caller's generator for a simulation. */
static cellar_status dirichlet_draw(dirichlet_work *work, const cellar_dirichlet *dirichlet,
                                    cellar_rng *given, cellar_error *err)
{
    cellar_rng *rng = given;
    cellar_status status = CELLAR_OK;

    if (given == NULL)
        status = cellar_rng_create_secure(&rng, err);
    if (status == CELLAR_OK)
        status =
            cellar_dirichlet_sample(dirichlet, work->counts, work->n,
                                    cellar_dirichlet_total(dirichlet), rng, work->released, err);
    if (given == NULL)
        cellar_rng_free(rng);
    return status;
}

/* The mechanism with a total and a number of cells, which its guarantee depends on: the spec's, or
 * those of the table. Its own total is then shown by the release. */
static cellar_status dirichlet_open(const dirichlet_work *work, const char *spec,
                                    cellar_dirichlet **out, int *is_invariant, cellar_error *err)
{
    cellar_text text = {0};
    cellar_status status = cellar_dirichlet_create(spec, out, err);

    if (status != CELLAR_OK)
        return status;
    *is_invariant = cellar_dirichlet_total(*out) < 0;
    cellar_text_add_string(&text, spec);
    if (*is_invariant)
        cellar_text_printf(&text, ",total=%" PRIu64, cellar_table_n_records(work->draw.table));
    if (cellar_dirichlet_n_cells(*out) < 0)
        cellar_text_printf(&text, ",cells=%zu", work->n);
    cellar_dirichlet_free(*out);
    *out = NULL;
    status = text.failed ? cellar_fail_memory(err, "a mechanism")
                         : cellar_dirichlet_create(text.bytes, out, err);
    cellar_text_clear(&text);
    return status;
}

static cellar_status dirichlet_describe(cellar_protection *protection,
                                        const cellar_dirichlet *dirichlet, int is_invariant,
                                        const cellar_rng *rng, json_t **out, cellar_error *err)
{
    cellar_release_facts *facts = &protection->facts;
    json_t *certificate = NULL;
    cellar_status status;

    facts->mechanism = cellar_dirichlet_spec(dirichlet);
    facts->revision = cellar_dirichlet_revision(dirichlet);
    facts->noise =
        rng == NULL || cellar_rng_is_secure(rng) ? CELLAR_NOISE_SECURE : CELLAR_NOISE_SEEDED;
    status =
        cellar_release_certify_dirichlet(protection, dirichlet, is_invariant, &certificate, err);
    if (status != CELLAR_OK)
        return status;
    return cellar_description_create(facts, "multinomial-dirichlet",
                                     json_pack("{s:f, s:I}", "alpha",
                                               cellar_dirichlet_alpha(dirichlet), "total",
                                               (json_int_t) cellar_dirichlet_total(dirichlet)),
                                     certificate, out, err);
}

/* All that can be refused before anything is drawn. */
static cellar_status dirichlet_prepare(dirichlet_work *work, const char *spec,
                                       const cellar_protect_options *options,
                                       cellar_protection *protection, cellar_dirichlet **out,
                                       int *is_invariant, cellar_error *err)
{
    const cellar_table *table = work->draw.table;
    cellar_protect_options mine = *options;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    *protection = (cellar_protection){0};
    mine.per_cell = 1;
    mine.total_epsilon = NULL;
    if (mine.neighbours == CELLAR_NEIGHBOURS_DEFAULT)
        mine.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
    CELLAR_TRY(cellar_protection_refuse_weights(table, "multinomial-dirichlet", err));
    CELLAR_TRY(cellar_protection_init(protection, table, &mine, err));
    if (protection->facts.cells_per_record != 1 || options->key != NULL)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "multinomial-dirichlet draws all cells together, once: from a table "
                               "without margins or upper levels, and without a key"));
    CELLAR_TRY(dirichlet_collect(work, err));
    CELLAR_TRY(dirichlet_open(work, spec, out, is_invariant, err));
    if (*is_invariant && protection->facts.neighbours == CELLAR_NEIGHBOURS_ADD_REMOVE) {
        cellar_dirichlet_free(*out);
        *out = NULL;
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "the total is the table's own and is released exactly, so the release "
                             "cannot hide whether a unit is in the data; name a public total, or "
                             "use substitute neighbours, which hide the unit's categories");
    }
out:
    return status;
}

/* Cells that are drawn together. */
typedef struct prepared_dirichlet {
    cellar_prepared base;
    dirichlet_work work;
    cellar_dirichlet *dirichlet;
} prepared_dirichlet;

static cellar_status dirichlet_draw_prepared(cellar_prepared *prepared, cells_builder *out,
                                             cellar_error *err)
{
    prepared_dirichlet *all = (prepared_dirichlet *) prepared;
    cellar_status status = dirichlet_draw(&all->work, all->dirichlet, prepared->options.rng, err);
    if (status == CELLAR_OK)
        status = dirichlet_list(&all->work, &prepared->protection.listing, err);
    *out = all->work.draw.out;
    all->work.draw.out = (cells_builder){0};
    return status;
}

static void dirichlet_clear_prepared(cellar_prepared *prepared)
{
    prepared_dirichlet *all = (prepared_dirichlet *) prepared;
    dirichlet_clear(&all->work);
    cellar_dirichlet_free(all->dirichlet);
}

cellar_status cellar_protect_prepare_dirichlet(const cellar_table *table, const char *spec,
                                               const cellar_protect_options *options,
                                               cellar_prepared **out, cellar_error *err)
{
    prepared_dirichlet *all = cellar_alloc(1, sizeof *all);
    cellar_prepared *prepared;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (all == NULL)
        return cellar_fail_memory(err, "a release");
    prepared = &all->base;
    all->work.draw.table = table;
    prepared->table = table;
    prepared->options = *options;
    prepared->draw = dirichlet_draw_prepared;
    prepared->clear = dirichlet_clear_prepared;
    CELLAR_TRY(dirichlet_prepare(&all->work, spec, options, &prepared->protection, &all->dirichlet,
                                 &prepared->shows_total, err));
    CELLAR_TRY(dirichlet_describe(&prepared->protection, all->dirichlet, prepared->shows_total,
                                  options->rng, &prepared->description, err));
    *out = prepared;
    prepared = NULL;
out:
    cellar_prepared_free(prepared);
    return status;
}

cellar_status cellar_release_protect_dirichlet(const cellar_table *table, const char *spec,
                                               const cellar_protect_options *options,
                                               cellar_release **out, cellar_error *err)
{
    cellar_prepared *prepared;
    cellar_status status = cellar_protect_prepare_dirichlet(table, spec, options, &prepared, err);
    return cellar_prepared_finish(status, prepared, out, err);
}
