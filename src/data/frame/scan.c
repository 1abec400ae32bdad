/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run over a data frame. Codes are looked up by number; other values are written as text first
 * and take the way of a file's fields. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/frame/frame.h"
#include "data/scan_lanes.h"

/* The text of one piece lies in one buffer, with marks of 32 bits. */
enum { PIECE_TEXT_MAX = 1 << 30, MIB = 1 << 20, ROW_MIB = 4 };

typedef struct frame_use {
    int is_looked_up;
    uint64_t part_number; /* whose levels `codes` is about */
    int32_t *codes;       /* of each level, CELLAR_CODE_ABSENT as long as it is not known */
    size_t capacity;
    int32_t missing; /* that of a missing value, or the same */
} frame_use;

struct scan_frame {
    frame_piece piece;
    frame_use *uses;
    size_t n_uses, max_value;
    uint32_t *marks; /* the marks around each use, row by row */
    cellar_text text, value;
};

static void frame_clear(scan_frame *frame)
{
    for (size_t u = 0; frame->uses != NULL && u < frame->n_uses; u++)
        cellar_free(frame->uses[u].codes);
    cellar_free(frame->uses);
    cellar_free(frame->marks);
    cellar_text_clear(&frame->text);
    cellar_text_clear(&frame->value);
}

static cellar_status frame_init(scan_frame *frame, const scan_run *run, size_t max_row_mib,
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

/* Codes are known for the levels of one part; the next one may have others. */
static int prepare_codes(frame_use *use, const frame_piece *piece, uint64_t n_levels)
{
    if (use->part_number == piece->part_number)
        return 1;
    if (n_levels > SIZE_MAX / sizeof *use->codes ||
        !cellar_grow(&use->codes, &use->capacity, (size_t) n_levels, sizeof *use->codes))
        return 0;
    for (size_t i = 0; i < n_levels; i++)
        use->codes[i] = CELLAR_CODE_ABSENT;
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

#define LOOK_UP(type)                                                                              \
    {                                                                                              \
        const char *at = (const char *) column->values + first * sizeof(type);                     \
        for (size_t row = 0; row < n; row++) {                                                     \
            type value;                                                                            \
            int32_t code = CELLAR_CODE_ABSENT;                                                     \
            memcpy(&value, at + row * sizeof value, sizeof value);                                 \
            if ((uint64_t) value - base < n_levels)                                                \
                code = look_up[(uint64_t) value - base];                                           \
            if (code == CELLAR_CODE_ABSENT || has_gaps)                                            \
                code = code_of(frame, batch, u, frame->piece.first + row);                         \
            any |= codes[row] = code;                                                              \
        }                                                                                          \
        break;                                                                                     \
    }

int32_t scan_frame_codes(scan_frame *frame, cellar_batch *batch, size_t u, int32_t *codes)
{
    const frame_column *column = column_of(frame, batch, u);
    const uint64_t first = column->offset + frame->piece.first;
    const uint64_t n_levels = column->levels->n, base = (uint64_t) column->first_code;
    const size_t n = frame->piece.n;
    /* a value that means missing may be the number of a level, too */
    const int has_gaps = column->validity != NULL || column->is_missing != NULL ||
                         (column->has_missing && (uint64_t) column->missing - base < n_levels);
    const int32_t *look_up;
    int32_t any = 0;

    if (!prepare_codes(&frame->uses[u], &frame->piece, n_levels)) {
        codes[0] = CELLAR_OUTCOME_NO_MEMORY;
        memset(codes + 1, 0, (n - 1) * sizeof *codes);
        return codes[0];
    }
    look_up = frame->uses[u].codes;
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

int scan_frame_is_coded(const scan_frame *frame, size_t u)
{
    return frame->uses[u].is_looked_up;
}

/* ---- texts ------------------------------------------------------------------- */

static cellar_status write_value(scan_frame *frame, const cellar_batch *batch, size_t u,
                                 uint64_t row, cellar_error *err)
{
    const size_t start = frame->text.length;
    const char *fault = frame_add_value(column_of(frame, batch, u), row, &frame->text);
    if (frame->text.failed)
        return cellar_fail_memory(err, "a batch of rows");
    if (fault == NULL && frame->text.length - start > frame->max_value)
        fault = "a text is longer than a row may be";
    if (fault == NULL && frame->text.length > PIECE_TEXT_MAX)
        fault = "8192 rows hold more than 1 GiB of text";
    if (fault != NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: column %zu: %s", batch->run->file,
                           batch->run->uses[u].column + 1, fault);
    return CELLAR_OK;
}

/* The fields that are not looked up, as texts with marks around them. */
static cellar_status write_texts(scan_frame *frame, const cellar_batch *batch, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint32_t *mark = frame->marks;
    cellar_text_reset(&frame->text);
    for (size_t row = 0; row < frame->piece.n; row++)
        for (size_t u = 0; u < frame->n_uses; u++, mark += 2) {
            if (frame->uses[u].is_looked_up)
                continue;
            mark[0] = (uint32_t) frame->text.length - 1;
            CELLAR_TRY(write_value(frame, batch, u, frame->piece.first + row, err));
            mark[1] = (uint32_t) frame->text.length;
        }
    cellar_text_printf(&frame->text, "%*s", CELLAR_TEXT_SLACK, ""); /* readable bytes */
    if (frame->text.failed)
        status = cellar_fail_memory(err, "a batch of rows");
out:
    return status;
}

/* ---- the lane ---------------------------------------------------------------- */

static cellar_status frame_report(const scan_run *run, double fraction, cellar_error *err)
{
    const cellar_progress *progress = &run->options->progress;
    if (progress->report == NULL || !progress->report(progress->context, "reading", fraction))
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_CANCELLED, "%s: reading was cancelled", run->file);
}

static cellar_status frame_batch(scan_frame *frame, cellar_batch *batch, cellar_error *err)
{
    scan_run *run = batch->run;
    cellar_status status = CELLAR_OK;
    size_t n_texts = 0;

    batch->sequence = frame->piece.sequence;
    for (size_t u = 0; u < run->n_uses; u++) {
        frame->uses[u].is_looked_up =
            run->uses[u].coder != NULL && column_of(frame, batch, u)->levels != NULL;
        n_texts += !frame->uses[u].is_looked_up;
        batch->slices[u] =
            (cellar_slices){.marks = frame->marks + 2 * u, .stride = 2 * frame->n_uses};
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
    CELLAR_TRY(frame_init(&frame, run, max_row_mib, err));
    batch.frame = &frame;
    for (;;) {
        CELLAR_TRY(frame_source_take(source, lane, lane_is_over, run, &frame.piece, err));
        if (frame.piece.n == 0)
            break;
        status = frame_batch(&frame, &batch, err);
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
    frame_clear(&frame);
    return status;
}
