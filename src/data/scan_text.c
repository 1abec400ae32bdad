/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Delimited text: most chunks are plain (no quotes, every row complete), and then the positions of
 * the separators are all there is to know about their fields. Other chunks are split field by
 * field. */
#include "data/scan_lanes.h"

#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/rows.h"
#include "data/separators.h"

typedef struct text_lane {
    cellar_batch batch;
    cellar_chunk chunk;
    uint32_t *positions; /* positions[0] stands before the first separator */
    size_t positions_capacity;
    uint32_t *begin, *end; /* of one row, all columns */
    uint32_t *slices;      /* the marks around each use, row by row */
    size_t slices_capacity;
    uint32_t *line_of;
    size_t line_capacity;
    const cellar_chunks *chunks; /* knows the columns' names */
    size_t n_columns;
    char delimiter;
} text_lane;

static void lane_clear(text_lane *lane)
{
    batch_clear(&lane->batch);
    cellar_chunk_clear(&lane->chunk);
    cellar_free(lane->positions);
    cellar_free(lane->begin);
    cellar_free(lane->end);
    cellar_free(lane->slices);
    cellar_free(lane->line_of);
}

/* ---- plain chunks ---------------------------------------------------------- */

/* Every row has all its fields if the last separator of each is a newline and there are no others.
 */
static int lane_is_plain(const text_lane *lane, const cellar_separators *found)
{
    const uint32_t *position = lane->positions + 1;
    size_t n_rows = found->n_newlines;
    if (found->has_quote || found->n != n_rows * lane->n_columns)
        return 0;
    for (size_t row = 0; row < n_rows; row++)
        if (lane->chunk.text[position[row * lane->n_columns + lane->n_columns - 1]] != '\n')
            return 0;
    return 1;
}

/* The separators are the marks around the fields; before the first stands UINT32_MAX. */
static void lane_use_positions(text_lane *lane, const cellar_separators *found)
{
    cellar_batch *batch = &lane->batch;
    lane->positions[0] = UINT32_MAX;
    for (size_t u = 0; u < batch->run->n_uses; u++) {
        size_t column = batch->run->uses[u].column;
        batch->slices[u] = (cellar_slices){.marks = lane->positions + column,
                                           .stride = lane->n_columns,
                                           .may_end_in_cr = column + 1 == lane->n_columns};
    }
    batch->line_of = NULL;
    batch->n_split = found->n_newlines;
    batch->report.n_read += found->n_newlines;
}

/* ---- other chunks ---------------------------------------------------------- */

static uint32_t newlines_in(const char *text, size_t length)
{
    uint32_t n = 0;
    for (size_t i = 0; i < length; i++)
        n += text[i] == '\n';
    return n;
}

/* What is wrong with a row: the field that is malformed, or how many it has. */
typedef struct row_fault {
    const char *why;
    size_t field;
} row_fault;

/* Splits the row at `at`. Answers where the next one begins. */
static size_t lane_split_row(text_lane *lane, size_t at, size_t *n_fields, row_fault *fault)
{
    cellar_chunk *chunk = &lane->chunk;
    uint32_t begin, end;
    *n_fields = 0;
    *fault = (row_fault){NULL, 0};
    for (;;) {
        int kept = *n_fields < lane->n_columns;
        const char *wrong = NULL;
        at = cellar_field_split(chunk->text, at, chunk->length, lane->delimiter,
                                kept ? &lane->begin[*n_fields] : &begin,
                                kept ? &lane->end[*n_fields] : &end, &wrong);
        if (wrong != NULL && fault->why == NULL)
            *fault = (row_fault){wrong, *n_fields};
        ++*n_fields;
        if (chunk->text[at++] == '\n')
            return at;
    }
}

static cellar_status lane_keep_row(text_lane *lane, size_t n_rows, uint32_t line, cellar_error *err)
{
    size_t n_uses = lane->batch.run->n_uses;
    uint32_t *slice;
    if (!cellar_grow(&lane->slices, &lane->slices_capacity, (n_rows + 1) * 2 * n_uses,
                     sizeof *lane->slices) ||
        !cellar_grow(&lane->line_of, &lane->line_capacity, n_rows + 1, sizeof *lane->line_of))
        return cellar_fail_memory(err, "a batch of rows");
    slice = lane->slices + n_rows * 2 * n_uses;
    for (size_t u = 0; u < n_uses; u++) {
        size_t column = lane->batch.run->uses[u].column;
        slice[2 * u] = lane->begin[column] - 1; /* marks stand around a field */
        slice[2 * u + 1] = lane->end[column];
    }
    lane->line_of[n_rows] = line;
    return CELLAR_OK;
}

static void lane_fault(text_lane *lane, uint32_t line, size_t n_fields, const row_fault *fault)
{
    char why[160];
    const char *column = NULL;
    if (fault->why != NULL && fault->field < lane->n_columns)
        column = cellar_chunks_column(lane->chunks, fault->field);
    if (fault->why != NULL)
        snprintf(why, sizeof why, "%s", fault->why);
    else
        snprintf(why, sizeof why, "expected %zu fields, found %zu", lane->n_columns, n_fields);
    batch_bad_row(&lane->batch, line, column, why);
}

static cellar_status lane_split(text_lane *lane, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_batch *batch = &lane->batch;
    size_t n_uses = batch->run->n_uses, n_rows = 0;
    uint32_t line = 0;

    for (size_t at = 0; at < lane->chunk.length;) {
        size_t n_fields, start = at;
        row_fault fault;
        /* a quoted newline counts as a line, and taking quotes off moves bytes: count first */
        size_t length =
            cellar_row_length(lane->chunk.text + at, lane->chunk.length - at, lane->delimiter);
        uint32_t n_lines = newlines_in(lane->chunk.text + at, length);
        at = lane_split_row(lane, at, &n_fields, &fault);
        CELLAR_ASSERT(at == start + length);
        batch->report.n_read++;
        if (fault.why != NULL || n_fields != lane->n_columns)
            lane_fault(lane, line, n_fields, &fault);
        else
            CELLAR_TRY(lane_keep_row(lane, n_rows++, line, err));
        line += n_lines;
    }
    for (size_t u = 0; n_rows > 0 && u < n_uses; u++)
        batch->slices[u] = (cellar_slices){.marks = lane->slices + 2 * u, .stride = 2 * n_uses};
    batch->line_of = lane->line_of;
    batch->n_split = n_rows;
out:
    return status;
}

/* ---- the lane -------------------------------------------------------------- */

static cellar_status lane_chunk(text_lane *lane, uint64_t *n_lines, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_chunk *chunk = &lane->chunk;
    cellar_separators found;
    size_t needed = chunk->length + CELLAR_TEXT_SLACK + 1;

    if (needed > lane->positions_capacity) { /* old positions need not be kept */
        cellar_free(lane->positions);
        lane->positions_capacity = 0;
        lane->positions = cellar_alloc_pages(needed * sizeof *lane->positions);
        if (lane->positions == NULL)
            return cellar_fail_memory(err, "the fields of a chunk");
        lane->positions_capacity = needed;
    }
    found =
        cellar_separators_find(chunk->text, chunk->length, lane->delimiter, lane->positions + 1);
    *n_lines = found.n_newlines;
    lane->batch.sequence = chunk->sequence;
    lane->batch.text = chunk->text;
    if (lane_is_plain(lane, &found))
        lane_use_positions(lane, &found);
    else
        CELLAR_TRY(lane_split(lane, err));
    CELLAR_TRY(batch_deliver(&lane->batch, err));
out:
    return status;
}

cellar_status scan_text_lane(scan_run *run, cellar_chunks *chunks, char delimiter, int lane_number,
                             cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    text_lane lane = {
        .delimiter = delimiter, .chunks = chunks, .n_columns = cellar_chunks_n_columns(chunks)};

    CELLAR_TRY(batch_init(&lane.batch, run, lane_number, err));
    lane.begin = cellar_alloc(lane.n_columns, sizeof *lane.begin);
    lane.end = cellar_alloc(lane.n_columns, sizeof *lane.end);
    if (lane.begin == NULL || lane.end == NULL) {
        status = cellar_fail_memory(err, "a row");
        goto out;
    }
    for (;;) {
        uint64_t n_lines = 0;
        CELLAR_TRY(cellar_chunks_next(chunks, &lane.chunk, &run->options->progress, err));
        if (lane.chunk.length == 0 || run_is_over(run, lane.chunk.sequence))
            break;
        status = lane_chunk(&lane, &n_lines, err);
        if (status != CELLAR_OK)
            run_stop(run);
        if (run_finish_chunk(run, lane.chunk.sequence, n_lines, status == CELLAR_OK ? err : NULL) !=
                CELLAR_OK &&
            status == CELLAR_OK)
            status = CELLAR_ERR_MEMORY;
        if (status != CELLAR_OK)
            break;
    }
out:
    if (status != CELLAR_OK)
        run_stop(run);
    run_add_report(run, &lane.batch.report);
    lane_clear(&lane);
    return status;
}
