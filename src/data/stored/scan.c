/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run over a store, row by row: a category is looked up once for each lane, not for each row. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/scan_lanes.h"

enum { BATCH_ROWS = 8192 };
_Static_assert(STORED_GROUP_ROWS % BATCH_ROWS == 0, "a batch lies in one group");

typedef struct stored_use {
    size_t column;
    unsigned width;
    const void *values;                     /* in the group of the batch */
    const cellar_stored_variable *variable; /* NULL: numbers */
    cellar_coder *coder;
    int32_t *codes; /* of each value, CELLAR_CODE_ABSENT as long as it is not known */
} stored_use;

struct scan_stored {
    const cellar_stored_file *file;
    stored_use *uses;
    size_t n_uses;
    const uint32_t *order; /* where the rows of the data are; NULL: they are in their order */
    size_t first, n;       /* rows of the batch, in the group */
};

/* ---- uses -------------------------------------------------------------------- */

static cellar_status stored_init(scan_stored *stored, const scan_run *run, cellar_error *err)
{
    const cellar_stored_file *file = run->stored;
    stored->file = file;
    stored->uses = cellar_alloc(run->n_uses, sizeof *stored->uses);
    if (stored->uses == NULL)
        return cellar_fail_memory(err, "a reader");
    stored->n_uses = run->n_uses;
    for (size_t u = 0; u < run->n_uses; u++) {
        const size_t asked = run->uses[u].column;
        stored_use *use = &stored->uses[u];
        use->column = cellar_stored_place(file, asked);
        use->width = file->columns[use->column].width;
        use->coder = run->uses[u].coder;
        if (use->coder == NULL)
            continue;
        use->variable = &file->variables[asked];
        use->codes = cellar_alloc((size_t) use->variable->n_codes + 1, sizeof *use->codes);
        if (use->codes == NULL)
            return cellar_fail_memory(err, "a reader");
        for (size_t value = 0; value <= use->variable->n_codes; value++)
            use->codes[value] = CELLAR_CODE_ABSENT;
    }
    return CELLAR_OK;
}

static void stored_clear(scan_stored *stored)
{
    for (size_t u = 0; stored->uses != NULL && u < stored->n_uses; u++)
        cellar_free(stored->uses[u].codes);
    cellar_free(stored->uses);
}

/* ---- values ------------------------------------------------------------------- */

static uint64_t value_in_order(const scan_stored *stored, const stored_use *use, size_t row)
{
    const uint32_t at = stored->order[stored->first + row];
    const void *values;
    /* all pieces were checked before: this cannot fail */
    cellar_status status =
        cellar_stored_piece(stored->file, at / STORED_GROUP_ROWS, use->column, &values, NULL);
    return status == CELLAR_OK ? cellar_stored_value(values, use->width, at % STORED_GROUP_ROWS)
                               : 0;
}

static uint64_t use_value(const scan_stored *stored, const stored_use *use, size_t row)
{
    return stored->order != NULL
               ? value_in_order(stored, use, row)
               : cellar_stored_value(use->values, use->width, stored->first + row);
}

uint64_t scan_stored_number(const scan_stored *stored, size_t use, size_t row)
{
    return use_value(stored, &stored->uses[use], row);
}

static int32_t use_learn(stored_use *use, uint64_t value)
{
    const char *text = cellar_stored_text(use->variable, value);
    return use->codes[value] = cellar_coder_resolve(use->coder, text, strlen(text));
}

#define LOOK_UP(value_of_row)                                                                      \
    for (size_t row = 0; row < n; row++) {                                                         \
        const uint64_t value = (value_of_row);                                                     \
        int32_t code = look_up[value];                                                             \
        if (code == CELLAR_CODE_ABSENT)                                                            \
            code = use_learn(use, value);                                                          \
        any |= codes[row] = code;                                                                  \
    }

int32_t scan_stored_codes(const scan_stored *stored, size_t u, int32_t *codes)
{
    stored_use *use = &stored->uses[u];
    const int32_t *look_up = use->codes;
    const size_t n = stored->n;
    int32_t any = 0;

    if (stored->order != NULL) {
        LOOK_UP(value_in_order(stored, use, row))
    } else if (use->width == 1) {
        const uint8_t *values = (const uint8_t *) use->values + stored->first;
        LOOK_UP(values[row])
    } else {
        const uint16_t *values = (const uint16_t *) use->values + stored->first;
        LOOK_UP(values[row])
    }
    return any;
}

/* ---- the lane ------------------------------------------------------------------ */

/* In the order of the data a batch may hold rows of every group. */
static cellar_status stored_check_all(const scan_stored *stored, cellar_error *err)
{
    const void *ignored;
    cellar_status status = CELLAR_OK;
    for (size_t u = 0; u < stored->n_uses; u++)
        for (size_t g = 0; g < stored->file->n_groups; g++)
            CELLAR_TRY(cellar_stored_piece(stored->file, g, stored->uses[u].column, &ignored, err));
out:
    return status;
}

static cellar_status stored_load(scan_stored *stored, uint64_t first_row, int by_order,
                                 cellar_error *err)
{
    const size_t group = (size_t) (first_row / STORED_GROUP_ROWS);
    const size_t rows = cellar_stored_group_rows(stored->file, group);
    cellar_status status = CELLAR_OK;
    const void *values;

    stored->first = (size_t) (first_row % STORED_GROUP_ROWS);
    stored->n = rows - stored->first < BATCH_ROWS ? rows - stored->first : BATCH_ROWS;
    if (by_order) {
        CELLAR_TRY(cellar_stored_piece(stored->file, group, CELLAR_STORED_ORDER, &values, err));
        stored->order = values;
        return CELLAR_OK;
    }
    for (size_t u = 0; u < stored->n_uses; u++)
        CELLAR_TRY(cellar_stored_piece(stored->file, group, stored->uses[u].column,
                                       &stored->uses[u].values, err));
out:
    return status;
}

static cellar_status stored_report(const scan_run *run, uint64_t done, cellar_error *err)
{
    const cellar_progress *progress = &run->options->progress;
    if (progress->report == NULL || !progress->report(progress->context, "reading",
                                                      (double) done / (double) run->stored->n_rows))
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_CANCELLED, "%s: reading was cancelled", run->file);
}

static cellar_status stored_batch(scan_stored *stored, cellar_batch *batch, int by_order,
                                  cellar_error *err)
{
    const uint64_t first_row = batch->sequence * BATCH_ROWS;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(stored_load(stored, first_row, by_order, err));
    batch->n_split = stored->n;
    batch->report.n_read += stored->n;
    CELLAR_TRY(batch_deliver(batch, err));
    if (batch->lane == 0)
        CELLAR_TRY(stored_report(batch->run, first_row + stored->n, err));
    CELLAR_TRY(run_finish_chunk(batch->run, batch->sequence, stored->n, err));
out:
    return status;
}

cellar_status scan_stored_lane(scan_run *run, int lane, cellar_error *err)
{
    const int by_order =
        run->options->in_order && run->stored->columns[CELLAR_STORED_ORDER].width > 0;
    const uint64_t n_batches = (run->stored->n_rows + BATCH_ROWS - 1) / BATCH_ROWS;
    scan_stored stored = {0};
    cellar_batch batch = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(batch_init(&batch, run, lane, err));
    CELLAR_TRY(stored_init(&stored, run, err));
    if (by_order)
        CELLAR_TRY(stored_check_all(&stored, err));
    batch.stored = &stored;
    for (;;) {
        batch.sequence = atomic_fetch_add(&run->next_piece, 1);
        if (batch.sequence >= n_batches || run_is_over(run, batch.sequence))
            break;
        CELLAR_TRY(stored_batch(&stored, &batch, by_order, err));
    }
out:
    if (status != CELLAR_OK)
        run_stop(run);
    run_add_report(run, &batch.report);
    batch_clear(&batch);
    stored_clear(&stored);
    return status;
}
