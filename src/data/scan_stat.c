/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SPSS, Stata and SAS files come row by row from their reader; here they gather into batches. */
#include "data/scan_lanes.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/statfile.h"

/* A batch has so many rows, or fewer where many columns are used, and bytes. */
enum { BATCH_ROWS = 4096, BATCH_FIELDS = 1 << 20, BATCH_BYTES = 1 << 20 };

typedef struct stat_lane {
    cellar_batch batch;
    cellar_text text;
    uint32_t *slices; /* the marks around each use, row by row */
    size_t n_rows, max_rows;
    double fraction;
} stat_lane;

static cellar_status stat_flush(stat_lane *lane, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_batch *batch = &lane->batch;
    scan_run *run = batch->run;
    size_t n_uses = run->n_uses;

    cellar_text_printf(&lane->text, "%*s", CELLAR_TEXT_SLACK, ""); /* readable bytes */
    if (lane->text.failed)
        return cellar_fail_memory(err, "a batch of rows");
    for (size_t u = 0; u < n_uses; u++)
        batch->slices[u] = (cellar_slices){.marks = lane->slices + 2 * u, .stride = 2 * n_uses};
    batch->text = lane->text.bytes;
    batch->n_split = lane->n_rows;
    batch->report.n_read += lane->n_rows;
    status = batch_deliver(batch, err);
    if (status == CELLAR_OK)
        status = run_finish_chunk(run, batch->sequence, lane->n_rows, err);
    batch->sequence++;
    lane->n_rows = 0;
    cellar_text_reset(&lane->text);
    if (status == CELLAR_OK && run->options->progress.report != NULL &&
        run->options->progress.report(run->options->progress.context, "reading", lane->fraction))
        status = cellar_fail(err, CELLAR_ERR_CANCELLED, "%s: reading was cancelled", run->file);
    return status;
}

static cellar_status stat_row(void *context, const cellar_field *fields, uint64_t row_index,
                              cellar_error *err)
{
    stat_lane *lane = context;
    scan_run *run = lane->batch.run;
    uint32_t *slice = lane->slices + lane->n_rows * 2 * run->n_uses;

    (void) row_index;
    for (size_t u = 0; u < run->n_uses; u++) {
        slice[2 * u] = (uint32_t) lane->text.length - 1; /* marks stand around a field */
        if (!fields[u].missing) /* what the format calls missing is an empty field here */
            cellar_text_add(&lane->text, fields[u].text, fields[u].length);
        slice[2 * u + 1] = (uint32_t) lane->text.length;
    }
    lane->n_rows++;
    if (lane->n_rows < lane->max_rows && lane->text.length < BATCH_BYTES)
        return CELLAR_OK;
    if (run_is_over(run, lane->batch.sequence))
        return cellar_fail(err, CELLAR_ERR_INPUT, "stopped at the first fault");
    return stat_flush(lane, err);
}

cellar_status scan_stat_run(scan_run *run, const char *path, const cellar_reader_options *options,
                            cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    stat_lane lane = {.max_rows = BATCH_ROWS};
    size_t *columns = cellar_alloc(run->n_uses, sizeof *columns);

    CELLAR_TRY(batch_init(&lane.batch, run, 0, err));
    if (run->n_uses > BATCH_FIELDS / BATCH_ROWS)
        lane.max_rows = 1 + BATCH_FIELDS / run->n_uses;
    lane.slices = cellar_alloc(lane.max_rows * 2 * run->n_uses, sizeof *lane.slices);
    if (lane.slices == NULL || columns == NULL) {
        status = cellar_fail_memory(err, "a batch of rows");
        goto out;
    }
    for (size_t u = 0; u < run->n_uses; u++)
        columns[u] = run->uses[u].column;
    CELLAR_TRY(cellar_statfile_read(path, options, columns, run->n_uses, stat_row, &lane,
                                    &lane.fraction, err));
    if (lane.n_rows > 0)
        CELLAR_TRY(stat_flush(&lane, err));
out:
    run_add_report(run, &lane.batch.report);
    batch_clear(&lane.batch);
    cellar_text_clear(&lane.text);
    cellar_free(lane.slices);
    cellar_free(columns);
    return status;
}
