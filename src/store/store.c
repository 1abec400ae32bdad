/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/store.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "store/store.h"
#include "table/build.h"

/* ---- life cycle ---------------------------------------------------------------- */

cellar_status cellar_store_open(const char *path, cellar_store **out, cellar_error *err)
{
    cellar_status status;
    cellar_store *store = cellar_alloc(1, sizeof *store);
    *out = NULL;
    if (store == NULL)
        return cellar_fail_memory(err, "a store");
    status = cellar_stored_open(path, &store->file, err);
    if (status != CELLAR_OK)
        cellar_free(store);
    else
        *out = store;
    return status;
}

void cellar_store_close(cellar_store *store)
{
    if (store == NULL)
        return;
    cellar_stored_close(store->file);
    cellar_free(store);
}

/* ---- facts --------------------------------------------------------------------- */

cellar_store_facts cellar_store_about(const cellar_store *store)
{
    const cellar_stored_file *file = store->file;
    const cellar_stored_column *columns = file->columns;
    const int has_keys = columns[CELLAR_STORED_KEY].width > 0;
    return (cellar_store_facts){.n_rows = file->n_rows,
                                .size_bytes = file->length,
                                .n_variables = file->n_variables,
                                .key = columns[CELLAR_STORED_KEY].name,
                                .weight = columns[CELLAR_STORED_WEIGHT].name,
                                .unit = columns[CELLAR_STORED_UNIT].name,
                                .key_range = has_keys ? file->key_range : 0,
                                .n_units = columns[CELLAR_STORED_UNIT].limit,
                                .sorted_by = file->sorted_by};
}

cellar_store_variable cellar_store_variable_at(const cellar_store *store, size_t v)
{
    const cellar_stored_variable *variable = &store->file->variables[v];
    const cellar_stored_column *column = &store->file->columns[CELLAR_STORED_N_BESIDE + v];
    const int is_observed = variable->domain == CELLAR_STORED_OBSERVED;
    return (cellar_store_variable){.name = variable->spec.name,
                                   .column = variable->spec.column,
                                   .codelist = variable->list,
                                   .domain =
                                       cellar_codelist_domain(is_observed ? NULL : variable->list,
                                                              variable->spec.domain_public),
                                   .n_bytes = column->width,
                                   .has_missing = column->least == 0,
                                   .is_recoded = !cellar_recode_is_plain(&variable->spec.recode)};
}

/* ---- checks -------------------------------------------------------------------- */

static cellar_status verify_groups(void *context, size_t first, size_t last, int lane,
                                   cellar_error *err)
{
    const cellar_stored_file *file = context;
    cellar_status status = CELLAR_OK;
    const void *ignored;
    (void) lane;
    for (size_t g = first; g < last; g++)
        for (size_t c = 0; c < file->n_columns; c++)
            if (file->columns[c].width > 0)
                CELLAR_TRY(cellar_stored_check(file, g, c, &ignored, err));
out:
    return status;
}

/* Every row of the data has its own place. */
static cellar_status verify_order(const cellar_stored_file *file, cellar_error *err)
{
    unsigned char *seen = cellar_alloc((size_t) file->n_rows, 1);
    cellar_status status = CELLAR_OK;
    if (seen == NULL)
        return cellar_fail_memory(err, "the order of rows");
    for (size_t g = 0; g < file->n_groups; g++) {
        const void *values;
        CELLAR_TRY(cellar_stored_piece(file, g, CELLAR_STORED_ORDER, &values, err));
        for (size_t row = 0; row < cellar_stored_group_rows(file, g); row++)
            if (seen[((const uint32_t *) values)[row]]++ != 0) {
                status = cellar_fail(err, CELLAR_ERR_INPUT,
                                     "%s: the store is damaged: two rows of the data have the same "
                                     "place",
                                     file->name);
                goto out;
            }
    }
out:
    cellar_free(seen);
    return status;
}

cellar_status cellar_store_verify(const cellar_store *store, int n_threads, size_t *n_blocks,
                                  cellar_error *err)
{
    cellar_stored_file *file = store->file;
    cellar_pool *pool = NULL;
    cellar_status status = CELLAR_OK;
    size_t n_columns = 0;

    for (size_t c = 0; c < file->n_columns; c++)
        n_columns += file->columns[c].width > 0;
    CELLAR_TRY(cellar_pool_create(n_threads, &pool, err));
    CELLAR_TRY(cellar_pool_for(pool, file->n_groups, 1, verify_groups, file, err));
    if (file->columns[CELLAR_STORED_ORDER].width > 0)
        CELLAR_TRY(verify_order(file, err));
    if (n_blocks != NULL)
        *n_blocks = file->n_groups * n_columns;
out:
    cellar_pool_free(pool);
    return status;
}
