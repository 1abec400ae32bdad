/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run over a data frame. Codes are looked up by number; other values are written as text first
 * and take the way of a file's fields. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/frame/scan.h"
#include "data/scan_lanes.h"

enum { MIB = 1 << 20, ROW_MIB = 4 };

void scan_frame_clear(scan_frame *frame)
{
    for (size_t u = 0; frame->uses != NULL && u < frame->n_uses; u++)
        cellar_free(frame->uses[u].codes);
    cellar_free(frame->uses);
    cellar_free(frame->marks);
    cellar_text_clear(&frame->text);
    cellar_text_clear(&frame->value);
}

cellar_status scan_frame_init(scan_frame *frame, const scan_run *run, size_t max_row_mib,
                              cellar_error *err)
{
    frame->n_uses = run->n_uses;
    frame->max_value = (max_row_mib > 0 ? max_row_mib : ROW_MIB) * MIB;
    frame->uses = cellar_alloc(run->n_uses, sizeof *frame->uses);
    frame->marks = cellar_alloc(2 * run->n_uses * FRAME_PIECE_ROWS, sizeof *frame->marks);
    if (frame->uses == NULL || frame->marks == NULL)
        return cellar_fail_memory(err, "a batch of rows");
    for (size_t u = 0; u < run->n_uses; u++)
        frame->uses[u].missing = CELLAR_CODE_ABSENT;
    return CELLAR_OK;
}

/* ---- codes ------------------------------------------------------------------- */

static const frame_column *column_of(const scan_frame *frame, const cellar_batch *batch, size_t u)
{
    return &frame->piece.columns[batch->run->uses[u].column];
}

/* Codes are known for the levels of one part; the next one may have others, or more. One more
 * stands for what is no level. */
static int prepare_codes(frame_use *use, const frame_column *column, const frame_piece *piece)
{
    const uint64_t n_levels = column->levels->n;
    if (use->part_number == piece->part_number)
        return 1;
    if (n_levels >= SIZE_MAX / sizeof *use->codes ||
        !cellar_grow(&use->codes, &use->capacity, (size_t) n_levels + 1, sizeof *use->codes))
        return 0;
    for (size_t i = column->levels_stay ? use->n_levels : 0; i <= n_levels; i++)
        use->codes[i] = CELLAR_CODE_ABSENT;
    use->n_levels = (size_t) n_levels;
    use->part_number = piece->part_number;
    return 1;
}

/* The code of a row by its level, which is looked at when it is met for the first time. */
static int32_t code_of(scan_frame *frame, cellar_batch *batch, size_t u, uint64_t row)
{
    const frame_column *column = column_of(frame, batch, u);
    const int is_missing = frame_is_missing(column, row);
    const uint64_t level =
        is_missing ? 0 : (uint64_t) frame_integer(column, row) - (uint64_t) column->first_code;
    int32_t *known = &frame->uses[u].missing;

    if (!is_missing) {
        if (level >= column->levels->n)
            return CELLAR_OUTCOME_NO_LEVEL;
        known = &frame->uses[u].codes[level];
    }
    if (*known != CELLAR_CODE_ABSENT)
        return *known;
    cellar_text_reset(&frame->value);
    if (!is_missing && frame_add_value(column->levels, level, &frame->value) != NULL)
        return CELLAR_OUTCOME_NO_LEVEL;
    return *known = batch_resolve(batch, u, &frame->value);
}

/* Levels that are known already; what is beyond them stands behind the last. */
#define LOOK_UP(type)                                                                              \
    {                                                                                              \
        const char *at = (const char *) column->values + first * sizeof(type);                     \
        for (size_t row = 0; row < n; row++) {                                                     \
            type value;                                                                            \
            uint64_t level;                                                                        \
            memcpy(&value, at + row * sizeof value, sizeof value);                                 \
            level = (uint64_t) value - base;                                                       \
            any |= codes[row] = look_up[level < n_levels ? level : n_levels];                      \
        }                                                                                          \
        break;                                                                                     \
    }

static int32_t look_up_codes(const frame_column *column, uint64_t first, size_t n,
                             const int32_t *look_up, int32_t *codes)
{
    const uint64_t n_levels = column->levels->n, base = (uint64_t) column->first_code;
    int32_t any = 0;
    switch (column->width * 2 + (column->is_unsigned != 0)) {
    case 2:
        LOOK_UP(int8_t)
    case 3:
        LOOK_UP(uint8_t)
    case 4:
        LOOK_UP(int16_t)
    case 5:
        LOOK_UP(uint16_t)
    case 8:
        LOOK_UP(int32_t)
    case 9:
        LOOK_UP(uint32_t)
    default:
        LOOK_UP(int64_t)
    }
    return any;
}

int32_t scan_frame_codes(scan_frame *frame, cellar_batch *batch, size_t u, int32_t *codes)
{
    const frame_column *column = column_of(frame, batch, u);
    const uint64_t n_levels = column->levels->n;
    const size_t n = frame->piece.n;
    /* a value that means missing may be the number of a level, too */
    const int has_gaps = column->validity != NULL || column->is_missing != NULL ||
                         (column->has_missing &&
                          (uint64_t) column->missing - (uint64_t) column->first_code < n_levels);
    int32_t any;

    if (!prepare_codes(&frame->uses[u], column, &frame->piece)) {
        codes[0] = CELLAR_OUTCOME_NO_MEMORY;
        memset(codes + 1, 0, (n - 1) * sizeof *codes);
        return codes[0];
    }
    any =
        look_up_codes(column, column->offset + frame->piece.first, n, frame->uses[u].codes, codes);
    if (any >= 0 && !has_gaps)
        return any;
    any = 0;
    for (size_t row = 0; row < n; row++) {
        if (codes[row] == CELLAR_CODE_ABSENT || has_gaps)
            codes[row] = code_of(frame, batch, u, frame->piece.first + row);
        any |= codes[row];
    }
    return any;
}

int scan_frame_is_coded(const scan_frame *frame, size_t u)
{
    return frame->uses[u].is_looked_up;
}

/* ---- texts ------------------------------------------------------------------- */

static uint32_t *marks_of(const scan_frame *frame, size_t u)
{
    return frame->marks + 2 * u * FRAME_PIECE_ROWS;
}

/* The fields that are not looked up, as texts with marks around them. */
static cellar_status write_texts(scan_frame *frame, const cellar_batch *batch, cellar_error *err)
{
    cellar_text_reset(&frame->text);
    for (size_t u = 0; u < frame->n_uses; u++) {
        const char *fault;
        if (frame->uses[u].is_looked_up)
            continue;
        fault = frame_add_values(column_of(frame, batch, u), frame->piece.first, frame->piece.n,
                                 frame->max_value, &frame->text, marks_of(frame, u));
        if (fault != NULL && !frame->text.failed)
            return cellar_fail(err, CELLAR_ERR_INPUT, "%s: column %zu: %s", batch->run->file,
                               batch->run->uses[u].column + 1, fault);
    }
    cellar_text_printf(&frame->text, "%*s", CELLAR_TEXT_SLACK, ""); /* readable bytes */
    return frame->text.failed ? cellar_fail_memory(err, "a batch of rows") : CELLAR_OK;
}

/* ---- the lane ---------------------------------------------------------------- */

static cellar_status frame_report(const scan_run *run, double fraction, cellar_error *err)
{
    const cellar_progress *progress = &run->options->progress;
    if (progress->report == NULL || !progress->report(progress->context, "reading", fraction))
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_CANCELLED, "%s: reading was cancelled", run->file);
}

cellar_status scan_frame_batch(scan_frame *frame, cellar_batch *batch, cellar_error *err)
{
    scan_run *run = batch->run;
    cellar_status status = CELLAR_OK;
    size_t n_texts = 0;

    batch->sequence = frame->piece.sequence;
    for (size_t u = 0; u < run->n_uses; u++) {
        frame->uses[u].is_looked_up =
            run->uses[u].coder != NULL && column_of(frame, batch, u)->levels != NULL;
        n_texts += !frame->uses[u].is_looked_up;
        batch->slices[u] = (cellar_slices){.marks = marks_of(frame, u), .stride = 2};
    }
    if (n_texts > 0)
        CELLAR_TRY(write_texts(frame, batch, err));
    batch->text = frame->text.bytes;
    batch->n_split = frame->piece.n;
    batch->report.n_read += frame->piece.n;
    CELLAR_TRY(batch_deliver(batch, err));
    if (batch->lane == 0)
        CELLAR_TRY(frame_report(run, frame->piece.fraction, err));
    CELLAR_TRY(run_finish_chunk(run, batch->sequence, frame->piece.n, err));
out:
    return status;
}

static int lane_is_over(void *context, uint64_t sequence)
{
    return run_is_over(context, sequence);
}

cellar_status scan_frame_lane(scan_run *run, frame_source *source, size_t max_row_mib, int lane,
                              cellar_error *err)
{
    scan_frame frame = {0};
    cellar_batch batch = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(batch_init(&batch, run, lane, err));
    CELLAR_TRY(scan_frame_init(&frame, run, max_row_mib, err));
    batch.frame = &frame;
    for (;;) {
        CELLAR_TRY(frame_source_take(source, lane, lane_is_over, run, &frame.piece, err));
        if (frame.piece.n == 0)
            break;
        status = scan_frame_batch(&frame, &batch, err);
        frame_source_give_back(source, &frame.piece);
        if (status != CELLAR_OK)
            break;
    }
out:
    if (status != CELLAR_OK)
        run_stop(run);
    if (status != CELLAR_OK || run_is_over(run, UINT64_MAX))
        frame_source_stop(source);
    run_add_report(run, &batch.report);
    batch_clear(&batch);
    scan_frame_clear(&frame);
    return status;
}
