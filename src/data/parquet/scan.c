/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run over a Parquet file: lanes take row groups, each with cursors of its own, and count the
 * rows as those of a data frame whose columns are numbers of texts. */
#include "base/error.h"
#include "base/memory.h"
#include "data/frame/scan.h"
#include "data/parquet/cursor.h"

typedef struct parquet_lane {
    const parquet_file *file;
    scan_frame frame;
    cellar_batch batch;
    parquet_cursor **cursors; /* by column of the file; NULL: it is not used */
    uint32_t **rows;          /* numbers of texts */
    frame_column *columns, *levels;
} parquet_lane;

static void lane_clear(parquet_lane *lane)
{
    for (size_t c = 0; c < lane->file->n_columns; c++) {
        if (lane->cursors != NULL)
            parquet_cursor_free(lane->cursors[c]);
        if (lane->rows != NULL)
            cellar_free(lane->rows[c]);
    }
    cellar_free(lane->cursors);
    cellar_free(lane->rows);
    cellar_free(lane->columns);
    cellar_free(lane->levels);
    batch_clear(&lane->batch);
    scan_frame_clear(&lane->frame);
}

static cellar_status use_column(parquet_lane *lane, size_t c, cellar_error *err)
{
    cellar_status status;
    if (lane->cursors[c] != NULL)
        return CELLAR_OK;
    status = parquet_cursor_create(lane->file, c, &lane->cursors[c], err);
    if (status != CELLAR_OK)
        return status;
    lane->rows[c] = cellar_alloc(FRAME_PIECE_ROWS, sizeof *lane->rows[c]);
    if (lane->rows[c] == NULL)
        return cellar_fail_memory(err, "a batch of rows");
    lane->levels[c] = (frame_column){.type = FRAME_TEXTS, .width = sizeof(int64_t)};
    lane->columns[c] = (frame_column){.type = FRAME_INTEGERS,
                                      .width = sizeof(uint32_t),
                                      .is_unsigned = 1,
                                      .n = FRAME_PIECE_ROWS,
                                      .values = lane->rows[c],
                                      .has_missing = 1,
                                      .missing = (int64_t) PARQUET_MISSING,
                                      .levels = &lane->levels[c]};
    return CELLAR_OK;
}

static cellar_status lane_init(parquet_lane *lane, scan_run *run, int number, size_t max_row_mib,
                               cellar_error *err)
{
    const size_t n = lane->file->n_columns;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(batch_init(&lane->batch, run, number, err));
    CELLAR_TRY(scan_frame_init(&lane->frame, run, max_row_mib, err));
    lane->cursors = cellar_alloc(n, sizeof *lane->cursors);
    lane->rows = cellar_alloc(n, sizeof *lane->rows);
    lane->columns = cellar_alloc(n, sizeof *lane->columns);
    lane->levels = cellar_alloc(n, sizeof *lane->levels);
    if (lane->cursors == NULL || lane->rows == NULL || lane->columns == NULL ||
        lane->levels == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a batch of rows"));
    for (size_t u = 0; u < run->n_uses; u++)
        CELLAR_TRY(use_column(lane, run->uses[u].column, err));
    lane->batch.frame = &lane->frame;
    lane->frame.piece.columns = lane->columns;
out:
    return status;
}

/* The next rows of every column. Codes of texts are kept from batch to batch as long as all texts
 * are those of dictionaries. */
static cellar_status read_rows(parquet_lane *lane, size_t group, size_t n, cellar_error *err)
{
    frame_piece *piece = &lane->frame.piece;
    int is_kept = 1;
    for (size_t c = 0; c < lane->file->n_columns; c++) {
        const parquet_texts *texts;
        cellar_status status;
        if (lane->cursors[c] == NULL)
            continue;
        status = parquet_cursor_next(lane->cursors[c], n, lane->rows[c], err);
        if (status != CELLAR_OK)
            return status;
        texts = parquet_cursor_texts(lane->cursors[c]);
        is_kept &= texts->n == parquet_cursor_n_dictionary(lane->cursors[c]);
        lane->levels[c].n = texts->n;
        lane->levels[c].values = texts->offsets;
        lane->levels[c].bytes = texts->bytes.bytes;
    }
    piece->first = 0;
    piece->n = n;
    /* odd for a group, even for a batch: they never meet */
    piece->part_number = is_kept ? 2 * (uint64_t) group + 1 : 2 * (piece->sequence + 1);
    return CELLAR_OK;
}

static cellar_status read_group(parquet_lane *lane, size_t group, uint64_t sequence,
                                cellar_error *err)
{
    const uint64_t n_rows = lane->file->groups[group].n_rows;
    cellar_status status = CELLAR_OK;
    for (size_t c = 0; c < lane->file->n_columns; c++)
        if (lane->cursors[c] != NULL)
            CELLAR_TRY(parquet_cursor_begin(lane->cursors[c], group, err));
    for (uint64_t done = 0; done < n_rows; done += FRAME_PIECE_ROWS, sequence++) {
        const uint64_t left = n_rows - done;
        if (run_is_over(lane->batch.run, sequence))
            return CELLAR_OK;
        lane->frame.piece.sequence = sequence;
        lane->frame.piece.fraction = (double) group / (double) lane->file->n_groups;
        CELLAR_TRY(read_rows(lane, group,
                             left < FRAME_PIECE_ROWS ? (size_t) left : FRAME_PIECE_ROWS, err));
        CELLAR_TRY(scan_frame_batch(&lane->frame, &lane->batch, err));
    }
out:
    return status;
}

cellar_status scan_parquet_lane(scan_run *run, const parquet_file *file, size_t max_row_mib,
                                int number, cellar_error *err)
{
    parquet_lane lane = {.file = file};
    cellar_status status = lane_init(&lane, run, number, max_row_mib, err);
    uint64_t sequence = 0;
    size_t next = 0;
    while (status == CELLAR_OK) {
        const size_t group = (size_t) atomic_fetch_add(&run->next_piece, 1);
        if (group >= file->n_groups)
            break;
        for (; next < group; next++) /* batches of the groups that others take */
            sequence += (file->groups[next].n_rows + FRAME_PIECE_ROWS - 1) / FRAME_PIECE_ROWS;
        status = read_group(&lane, group, sequence, err);
    }
    if (status != CELLAR_OK)
        run_stop(run);
    run_add_report(run, &lane.batch.report);
    lane_clear(&lane);
    return status;
}
