/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cell keys: one pass over the stored cells. */
#include <cellar/cell_key.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "release/guarantee/certify.h"
#include "release/files/description.h"
#include "release/charge/prepared.h"

enum { KEYS_BLOCK = 1 << 14 };

typedef struct keys_work {
    const cellar_table *table;
    const cellar_cell_key *cell_key;
    cellar_listing listing;
    int64_t *released;
    size_t *places; /* how many cells of a block are listed, then where they go */
    cellar_cells *out;
} keys_work;

static size_t keys_end(const keys_work *work, size_t block)
{
    size_t end = (block + 1) * KEYS_BLOCK;
    return end < work->table->cells.n ? end : work->table->cells.n;
}

static cellar_status keys_apply(void *context, size_t first, size_t last, int lane,
                                cellar_error *err)
{
    keys_work *work = context;
    const cellar_cells *cells = &work->table->cells;
    (void) lane;
    (void) err;
    for (size_t block = first; block < last; block++) {
        size_t start = block * KEYS_BLOCK, end = keys_end(work, block), n = 0;
        /* counts are below 2^62: the same bits are the same numbers */
        cellar_cell_key_apply(work->cell_key, (const int64_t *) cells->count + start,
                              cells->key + start, end - start, work->released + start);
        for (size_t i = start; i < end; i++)
            n += (size_t) cellar_listing_has(&work->listing, work->released[i]);
        work->places[block] = n;
    }
    return CELLAR_OK;
}

static cellar_status keys_copy(void *context, size_t first, size_t last, int lane,
                               cellar_error *err)
{
    keys_work *work = context;
    (void) lane;
    (void) err;
    for (size_t block = first; block < last; block++) {
        size_t place = work->places[block], end = keys_end(work, block);
        for (size_t i = block * KEYS_BLOCK; i < end; i++)
            if (cellar_listing_has(&work->listing, work->released[i])) {
                work->out->index[place] = table_index(work->table, i);
                work->out->count[place++] = (uint64_t) work->released[i];
            }
    }
    return CELLAR_OK;
}

static cellar_status keys_run(keys_work *work, cells_builder *out, int n_threads, cellar_error *err)
{
    size_t n = work->table->cells.n, n_blocks = (n + KEYS_BLOCK - 1) / KEYS_BLOCK, n_listed = 0;
    cellar_pool *pool = NULL;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_pool_create(n_threads, &pool, err));
    work->released = cellar_alloc_pages(n * sizeof *work->released + 1);
    work->places = cellar_alloc(n_blocks, sizeof *work->places);
    if (work->released == NULL || work->places == NULL) {
        status = cellar_fail_memory(err, "a release");
        goto out;
    }
    CELLAR_TRY(cellar_pool_for(pool, n_blocks, 1, keys_apply, work, err));
    for (size_t block = 0; block < n_blocks; block++) {
        size_t listed = work->places[block];
        work->places[block] = n_listed;
        n_listed += listed;
    }
    CELLAR_TRY(cellar_cells_reserve(out, &out->cells, n_listed, err));
    work->out = &out->cells;
    CELLAR_TRY(cellar_pool_for(pool, n_blocks, 1, keys_copy, work, err));
    out->cells.n = n_listed;
out:
    if (work->released != NULL)
        cellar_wipe(work->released, n * sizeof *work->released);
    cellar_free(work->released);
    cellar_free(work->places);
    cellar_pool_free(pool);
    return status;
}

static cellar_status keys_describe(cellar_protection *protection, const cellar_cell_key *cell_key,
                                   json_t **out, cellar_error *err)
{
    cellar_release_facts *facts = &protection->facts;
    json_t *certificate = NULL;
    cellar_status status;

    facts->mechanism = cellar_cell_key_spec(cell_key);
    facts->revision = cellar_cell_key_revision(cell_key);
    facts->noise = CELLAR_NOISE_RECORD_KEYS;
    status = cellar_release_certify_keys(protection, cell_key, &certificate, err);
    if (status != CELLAR_OK)
        return status;
    return cellar_description_create(facts, "cell-key", json_object(), certificate, out, err);
}

/* Cells whose noise follows from the keys of their records. */
typedef struct prepared_keys {
    cellar_prepared base;
    cellar_cell_key *cell_key;
} prepared_keys;

static cellar_status keys_draw(cellar_prepared *prepared, cells_builder *out, cellar_error *err)
{
    keys_work work = {.table = prepared->table,
                      .cell_key = ((const prepared_keys *) prepared)->cell_key,
                      .listing = prepared->protection.listing};
    return keys_run(&work, out, prepared->options.n_threads, err);
}

static void keys_clear(cellar_prepared *prepared)
{
    cellar_cell_key_free(((prepared_keys *) prepared)->cell_key);
}

cellar_status cellar_protect_prepare_cell_keys(const cellar_table *table, const char *spec,
                                               const cellar_protect_options *options,
                                               cellar_prepared **out, cellar_error *err)
{
    prepared_keys *keys = cellar_alloc(1, sizeof *keys);
    cellar_prepared *prepared;
    cellar_protect_options mine = *options;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (keys == NULL)
        return cellar_fail_memory(err, "a release");
    prepared = &keys->base;
    prepared->table = table;
    prepared->options = *options;
    prepared->draw = keys_draw;
    prepared->clear = keys_clear;
    mine.per_cell = 1;
    mine.total_epsilon = NULL;
    CELLAR_TRY(cellar_protection_refuse_weights(table, "cell-key", err));
    CELLAR_TRY(cellar_protection_init(&prepared->protection, table, &mine, err));
    if (table->cells.key == NULL && table->cells.n > 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "the table holds no record keys, which cell keys are made of"));
    CELLAR_TRY(cellar_cell_key_create(spec, cellar_table_key_range(table), &keys->cell_key, err));
    CELLAR_TRY(keys_describe(&prepared->protection, keys->cell_key, &prepared->description, err));
    *out = prepared;
    prepared = NULL;
out:
    cellar_prepared_free(prepared);
    return status;
}

cellar_status cellar_release_protect_cell_keys(const cellar_table *table, const char *spec,
                                               const cellar_protect_options *options,
                                               cellar_release **out, cellar_error *err)
{
    cellar_prepared *prepared;
    cellar_status status = cellar_protect_prepare_cell_keys(table, spec, options, &prepared, err);
    return cellar_prepared_finish(status, prepared, out, err);
}
