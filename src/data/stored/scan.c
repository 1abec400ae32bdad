/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run over a store, row by row, or cell by cell where equal rows were counted first. A category
 * is looked up once for each lane, not for each row. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/scan_lanes.h"
#include "data/stored/count.h"

enum { BATCH_ROWS = 8192 };
_Static_assert(STORED_GROUP_ROWS % BATCH_ROWS == 0, "a batch lies in one group");

typedef struct stored_use {
    size_t column;
    unsigned width;
    const void *values;                     /* in the group of the batch */
    const cellar_stored_variable *variable; /* NULL: numbers */
    cellar_coder *coder;
    int32_t *codes;   /* of each value, CELLAR_CODE_ABSENT as long as it is not known */
    size_t dimension; /* of the cells, where rows were counted first */
} stored_use;

struct scan_stored {
    const cellar_stored_file *file;
    stored_use *uses;
    size_t n_uses;
    const uint32_t *order; /* where the rows of the data are; NULL: they are in their order */
    size_t first, n;       /* rows of the batch, in the group */

    const cellar_stored_request *counted; /* rows are cells of it; NULL: they are records */
    uint32_t cells[BATCH_ROWS];
    uint64_t n_records[BATCH_ROWS];
};

/* ---- uses -------------------------------------------------------------------- */

static cellar_status stored_init(scan_stored *stored, const scan_run *run, cellar_error *err)
{
    const cellar_stored_file *file = run->stored;
    stored->file = file;
    stored->counted = run->counted;
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
        while (run->counted != NULL && run->counted->columns[use->dimension] != use->column)
            use->dimension++;
        use->variable = &file->variables[asked];
        use->codes = cellar_alloc((size_t) use->variable->n_codes + 1, sizeof *use->codes);
        if (use->codes == NULL)
            return cellar_fail_memory(err, "a reader");
        for (size_t value = 0; value <= use->variable->n_codes; value++)
            use->codes[value] = CELLAR_CODE_ABSENT;
    }
    return CELLAR_OK;
}

static void stored_free(scan_stored *stored)
{
    if (stored == NULL)
        return;
    for (size_t u = 0; stored->uses != NULL && u < stored->n_uses; u++)
        cellar_free(stored->uses[u].codes);
    cellar_free(stored->uses);
    cellar_free(stored);
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
    return stored->counted != NULL ? stored->counted->keys[stored->cells[row]]
                                   : use_value(stored, &stored->uses[use], row);
}

int scan_stored_weight(const scan_stored *stored, size_t use, size_t row, cellar_int128 *weight)
{
    if (stored->counted == NULL) {
        *weight = (cellar_int128) use_value(stored, &stored->uses[use], row);
        return 0;
    }
    *weight = (cellar_int128) stored->counted->weights[stored->cells[row]];
    return 1;
}

static uint64_t value_of_cell(const scan_stored *stored, const stored_use *use, uint32_t cell)
{
    const cellar_stored_request *r = stored->counted;
    return cell / r->stride[use->dimension] % r->radix[use->dimension] + r->least[use->dimension];
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

    if (stored->counted != NULL) {
        LOOK_UP(value_of_cell(stored, use, stored->cells[row]))
    } else if (stored->order != NULL) {
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
    scan_stored *stored = cellar_alloc(1, sizeof *stored);
    cellar_batch batch = {0};
    cellar_status status = CELLAR_OK;

    if (stored == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a reader"));
    CELLAR_TRY(batch_init(&batch, run, lane, err));
    CELLAR_TRY(stored_init(stored, run, err));
    if (by_order)
        CELLAR_TRY(stored_check_all(stored, err));
    batch.stored = stored;
    for (;;) {
        batch.sequence = atomic_fetch_add(&run->next_piece, 1);
        if (batch.sequence >= n_batches || run_is_over(run, batch.sequence))
            break;
        CELLAR_TRY(stored_batch(stored, &batch, by_order, err));
    }
out:
    if (status != CELLAR_OK)
        run_stop(run);
    run_add_report(run, &batch.report);
    batch_clear(&batch);
    stored_free(stored);
    return status;
}

/* ---- cells --------------------------------------------------------------------- */

int scan_stored_request(const cellar_stored_file *file, const cellar_scan_use *uses, size_t n_uses,
                        const cellar_scan_options *options, cellar_stored_request *request)
{
    *request = (cellar_stored_request){0};
    if (options->keep_missing)
        return 0;
    for (size_t u = 0; u < n_uses; u++) {
        const size_t place = cellar_stored_place(file, uses[u].column);
        size_t d = 0;
        if (place == CELLAR_STORED_UNIT)
            request->max_per_unit = uses[u].largest;
        request->adds_keys |= place == CELLAR_STORED_KEY;
        if (place == CELLAR_STORED_WEIGHT) {
            request->adds_weights = 1;
            request->largest_weight = uses[u].largest;
        }
        if (place < CELLAR_STORED_N_BESIDE)
            continue;
        while (d < request->n && request->columns[d] != place)
            d++;
        if (d == STORED_DIMENSIONS_MAX)
            return 0;
        request->columns[d] = place;
        request->n += d == request->n;
    }
    return options->in_order == (request->max_per_unit > 0) &&
           cellar_stored_request_fits(request, file);
}

/* The next cells with records, up to a batch of them. Answers where to go on. */
static uint32_t take_cells(scan_stored *stored, uint32_t next)
{
    const cellar_stored_request *r = stored->counted;
    for (stored->n = 0; next < r->n_cells && stored->n < BATCH_ROWS; next++)
        if (r->counts[next] > 0) {
            stored->n_records[stored->n] = r->counts[next];
            stored->cells[stored->n++] = next;
        }
    return next;
}

/* Whether no cell holds a value that would have to be reported with its row. */
static cellar_status check_cells(scan_stored *stored, int32_t *codes, int *are_good,
                                 cellar_error *err)
{
    *are_good = 1;
    for (uint32_t next = 0; next < stored->counted->n_cells;) {
        next = take_cells(stored, next);
        for (size_t u = 0; u < stored->n_uses; u++) {
            if (stored->uses[u].coder == NULL || scan_stored_codes(stored, u, codes) >= 0)
                continue;
            for (size_t i = 0; i < stored->n; i++) {
                if (codes[i] == CELLAR_OUTCOME_NO_MEMORY)
                    return cellar_fail_memory(err, "a dictionary");
                *are_good &= codes[i] >= 0 || codes[i] == CELLAR_OUTCOME_FILTERED ||
                             codes[i] == CELLAR_OUTCOME_MISSING;
            }
        }
    }
    return CELLAR_OK;
}

static cellar_status deliver_cells(scan_stored *stored, cellar_batch *batch, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    batch->stored = stored;
    for (uint32_t next = 0; next < stored->counted->n_cells;) {
        next = take_cells(stored, next);
        batch->n_split = stored->n;
        batch->n_records_of = stored->n_records;
        batch->report.n_read += cellar_counts_sum(stored->n_records, stored->n);
        CELLAR_TRY(batch_deliver(batch, err));
        CELLAR_TRY(run_finish_chunk(batch->run, batch->sequence, 0, err));
        batch->sequence++;
    }
out:
    return status;
}

/* Which cells count: those whose values all are categories. */
static void mark_cells(scan_stored *stored, int32_t *codes, uint8_t *is_counted)
{
    for (uint32_t next = 0; next < stored->counted->n_cells;) {
        next = take_cells(stored, next);
        for (size_t i = 0; i < stored->n; i++)
            is_counted[stored->cells[i]] = 1;
        for (size_t u = 0; u < stored->n_uses; u++) {
            if (stored->uses[u].coder == NULL || scan_stored_codes(stored, u, codes) >= 0)
                continue;
            for (size_t i = 0; i < stored->n; i++)
                is_counted[stored->cells[i]] &= codes[i] >= 0;
        }
    }
}

static cellar_status bound_units(scan_stored *stored, int32_t *codes, cellar_batch *batch,
                                 cellar_error *err)
{
    cellar_stored_request *request = batch->run->counted;
    uint8_t *is_counted = cellar_alloc(request->n_cells, 1);
    uint64_t n_over = 0;
    cellar_status status;
    if (is_counted == NULL)
        return cellar_fail_memory(err, "units");
    mark_cells(stored, codes, is_counted);
    status = cellar_stored_bound_units(stored->file, request, is_counted, &n_over, err);
    cellar_free(is_counted);
    batch->report.n_read += n_over;
    batch->report.n_over_unit += n_over;
    return status;
}

cellar_status scan_stored_cells(scan_run *run, int *is_done, cellar_error *err)
{
    scan_stored *stored = cellar_alloc(1, sizeof *stored);
    int32_t *codes = cellar_alloc(BATCH_ROWS, sizeof *codes);
    cellar_batch batch = {0};
    cellar_status status = CELLAR_OK;

    if (stored == NULL || codes == NULL) {
        status = cellar_fail_memory(err, "a reader");
        goto out;
    }
    CELLAR_TRY(batch_init(&batch, run, 0, err));
    CELLAR_TRY(stored_init(stored, run, err));
    CELLAR_TRY(check_cells(stored, codes, is_done, err));
    *is_done |= run->bad_rows == CELLAR_BAD_ROWS_SKIP;
    if (*is_done && run->counted->max_per_unit > 0)
        CELLAR_TRY(bound_units(stored, codes, &batch, err));
    if (*is_done)
        CELLAR_TRY(deliver_cells(stored, &batch, err));
out:
    run_add_report(run, &batch.report);
    batch_clear(&batch);
    stored_free(stored);
    cellar_free(codes);
    return status;
}
