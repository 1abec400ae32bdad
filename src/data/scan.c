/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/scan.h"

#include <string.h>
#include <strings.h>

#include <cellar/process.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "data/counts.h"
#include "data/scan_lanes.h"
#include "data/statfile.h"

/* Small enough to stay in the second-level cache from reading to counting. */
enum { CHUNK_BYTES = 256 * 1024 };

/* ---- opening --------------------------------------------------------------- */

static int name_ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcasecmp(path + n - m, ending) == 0;
}

static char scan_delimiter(const char *path, char asked)
{
    static const char *const tab_endings[] = {".tsv", ".tab", ".tsv.gz", ".tab.gz"};
    if (asked != '\0')
        return asked;
    for (size_t i = 0; i < sizeof tab_endings / sizeof *tab_endings; i++)
        if (name_ends_in(path, tab_endings[i]))
            return '\t';
    return ',';
}

static cellar_status scan_create(const char *path, const cellar_reader_options *options,
                                 cellar_scan **out, cellar_error *err)
{
    cellar_scan *scan;
    *out = NULL;
    if (options->delimiter == '"' || options->delimiter == '\n' || options->delimiter == '\r')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the delimiter cannot be a quote or a line end");
    scan = cellar_alloc(1, sizeof *scan);
    if (scan == NULL)
        return cellar_fail_memory(err, "a reader");
    scan->options = *options;
    scan->delimiter = scan_delimiter(path, options->delimiter);
    scan->path = cellar_alloc(strlen(path) + 1, 1);
    if (scan->path == NULL) {
        cellar_free(scan);
        return cellar_fail_memory(err, "a reader");
    }
    memcpy(scan->path, path, strlen(path));
    if (scan->options.format == CELLAR_DATA_AUTO)
        scan->options.format = cellar_statfile_format(path);
    *out = scan;
    return CELLAR_OK;
}

cellar_status cellar_scan_open(const char *path, const cellar_reader_options *options,
                               cellar_scan **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_scan *scan = NULL;
    cellar_stream *stream = NULL;

    *out = NULL;
    CELLAR_TRY(scan_create(path, options, &scan, err));
    if (options->format == CELLAR_DATA_AUTO && cellar_stored_is(path)) {
        CELLAR_TRY(cellar_stored_open(path, &scan->stored, err));
    } else if (scan->options.format != CELLAR_DATA_TEXT) {
        CELLAR_TRY(
            cellar_statfile_columns(path, &scan->options, &scan->columns, &scan->n_columns, err));
    } else {
        CELLAR_TRY(cellar_stream_open(path, &stream, err));
        CELLAR_TRY(cellar_chunks_open(stream, &scan->options, scan->delimiter, CHUNK_BYTES,
                                      &scan->chunks, err));
    }
    *out = scan;
    scan = NULL;
out:
    cellar_scan_close(scan);
    return status;
}

cellar_status cellar_scan_open_stored(cellar_stored_file *file,
                                      const cellar_reader_options *options, cellar_scan **out,
                                      cellar_error *err)
{
    cellar_status status = scan_create(file->name, options, out, err);
    if (status == CELLAR_OK)
        (*out)->stored = cellar_stored_retain(file);
    return status;
}

cellar_status cellar_scan_open_memory(const char *name, const char *bytes, size_t length,
                                      const cellar_reader_options *options, size_t chunk_bytes,
                                      cellar_scan **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_scan *scan = NULL;
    cellar_stream *stream = NULL;

    *out = NULL;
    CELLAR_TRY(scan_create(name, options, &scan, err));
    scan->options.format = CELLAR_DATA_TEXT;
    CELLAR_TRY(cellar_stream_open_memory(name, bytes, length, &stream, err));
    CELLAR_TRY(cellar_chunks_open(stream, &scan->options, scan->delimiter, chunk_bytes,
                                  &scan->chunks, err));
    *out = scan;
    scan = NULL;
out:
    cellar_scan_close(scan);
    return status;
}

cellar_status cellar_scan_open_frame(frame_source *source, const char *name,
                                     const cellar_reader_options *options, cellar_scan **out,
                                     cellar_error *err)
{
    cellar_status status = scan_create(name, options, out, err);
    if (status == CELLAR_OK)
        (*out)->frame = source;
    else
        frame_source_close(source);
    return status;
}

void cellar_scan_close(cellar_scan *scan)
{
    if (scan == NULL)
        return;
    cellar_chunks_close(scan->chunks);
    cellar_stored_close(scan->stored);
    frame_source_close(scan->frame);
    cellar_columns_free(scan->columns, scan->n_columns);
    cellar_free(scan->path);
    cellar_free(scan);
}

cellar_reader_options cellar_reader_options_default(void)
{
    return (cellar_reader_options){0};
}

cellar_variable_spec cellar_variable_spec_default(void)
{
    return (cellar_variable_spec){0};
}

/* ---- running --------------------------------------------------------------- */

typedef struct scan_job {
    cellar_scan *scan;
    scan_run *run;
} scan_job;

static cellar_status text_job_lane(void *context, int lane, cellar_error *err)
{
    scan_job *job = context;
    return scan_text_lane(job->run, job->scan->chunks, job->scan->delimiter, lane, err);
}

static cellar_status stored_job_lane(void *context, int lane, cellar_error *err)
{
    scan_job *job = context;
    return scan_stored_lane(job->run, lane, err);
}

static cellar_status frame_job_lane(void *context, int lane, cellar_error *err)
{
    scan_job *job = context;
    return scan_frame_lane(job->run, job->scan->frame, job->scan->options.max_row_mib, lane, err);
}

/* SPSS, Stata and SAS files are read by one thread. */
static int scan_has_lanes(const cellar_scan *scan)
{
    return scan->chunks != NULL || scan->stored != NULL || scan->frame != NULL;
}

int cellar_scan_n_lanes(const cellar_scan *scan, const cellar_scan_options *options)
{
    if (!scan_has_lanes(scan))
        return 1;
    return options->n_lanes > 0 ? options->n_lanes : cellar_process_n_processors();
}

/* The uses of a run with, after the caller's, that of a column of counts. */
static cellar_status scan_add_counts(const cellar_scan *scan, scan_run *run, cellar_scan_use *uses,
                                     cellar_error *err)
{
    cellar_count_columns columns;
    cellar_status status;
    run->count_use = run->suspect_use = run->n_uses + 1;
    if (scan->stored != NULL) /* its rows are records: that was settled when it was built */
        return scan->options.count_column == NULL
                   ? CELLAR_OK
                   : cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                 "%s: is a store, in which every row is one record", scan->path);
    status = cellar_counts_find(scan, scan->path, &scan->options, &columns, err);
    if (status != CELLAR_OK)
        return status;
    if (columns.declared != CELLAR_NO_CODE) {
        run->count_column = scan->options.count_column;
        run->count_use = run->n_uses;
        uses[run->n_uses++] = (cellar_scan_use){.column = columns.declared};
    } else if (columns.suspected != CELLAR_NO_CODE) {
        run->suspect_use = run->n_uses;
        uses[run->n_uses++] = (cellar_scan_use){.column = columns.suspected};
    }
    return CELLAR_OK;
}

int cellar_scan_counts_first(const cellar_scan *scan, const cellar_scan_use *uses, size_t n_uses,
                             const cellar_scan_options *options, cellar_stored_request *request)
{
    return scan->stored != NULL &&
           scan_stored_request(scan->stored, uses, n_uses, options, request);
}

void cellar_scan_use_counts(cellar_scan *scan, cellar_stored_request *counted)
{
    scan->counted = counted;
}

static cellar_status scan_rows(scan_job *job, cellar_error *err)
{
    const cellar_scan *scan = job->scan;
    cellar_pool *pool = NULL;
    cellar_job *const lane = scan->stored != NULL  ? stored_job_lane
                             : scan->frame != NULL ? frame_job_lane
                                                   : text_job_lane;
    cellar_status status = CELLAR_OK;
    for (size_t u = 0; scan->frame != NULL && u < job->run->n_uses; u++)
        CELLAR_TRY(frame_source_use(scan->frame, job->run->uses[u].column, err));
    if (!scan_has_lanes(scan))
        return scan_stat_run(job->run, scan->path, &scan->options, err);
    CELLAR_TRY(cellar_pool_create(cellar_scan_n_lanes(scan, job->run->options), &pool, err));
    status = cellar_pool_run(pool, lane, job, err);
out:
    cellar_pool_free(pool);
    return status;
}

/* Counts equal rows, unless that is done already, and runs over the cells; over the rows where a
 * fault must be reported with its row. */
static cellar_status scan_cells(scan_job *job, cellar_stored_request *request, cellar_error *err)
{
    scan_run *run = job->run;
    cellar_stored_request *const requests[] = {request};
    cellar_status status = CELLAR_OK;
    int is_done = 0;

    run->counted = job->scan->counted;
    if (run->counted == NULL) {
        CELLAR_TRY(cellar_stored_count(run->stored, requests, 1, run->options->n_lanes,
                                       &run->options->progress, err));
        run->counted = request;
    }
    CELLAR_TRY(scan_stored_cells(run, &is_done, err));
    run->counted = NULL;
    if (!is_done)
        CELLAR_TRY(scan_rows(job, err));
out:
    return status;
}

cellar_status cellar_scan_run(cellar_scan *scan, const cellar_scan_use *uses, size_t n_uses,
                              cellar_batch_sink *sink, void *context,
                              const cellar_scan_options *options, cellar_row_report *report,
                              cellar_error *err)
{
    cellar_status status = CELLAR_OK, fault;
    cellar_stored_request request = {0};
    cellar_scan_use *all = cellar_alloc(n_uses + 1, sizeof *all);
    scan_run run = {.file = scan->path,
                    .uses = all,
                    .n_uses = n_uses,
                    .sink = sink,
                    .context = context,
                    .options = options,
                    .bad_rows = scan->options.bad_rows,
                    .rows_not_lines = scan->chunks == NULL,
                    .stored = scan->stored};
    scan_job job = {.scan = scan, .run = &run};

    run_init(&run);
    if (all == NULL) {
        status = cellar_fail_memory(err, "a reader");
        goto out;
    }
    if (n_uses > 0)
        memcpy(all, uses, n_uses * sizeof *all);
    CELLAR_TRY(scan_add_counts(scan, &run, all, err));
    status = cellar_scan_counts_first(scan, uses, n_uses, options, &request)
                 ? scan_cells(&job, &request, err)
                 : scan_rows(&job, err);
    /* A fault in the data explains more than whatever else stopped the run. */
    fault =
        run_result(&run, scan->chunks != NULL ? cellar_chunks_lines_before(scan->chunks) : 0, err);
    if (fault != CELLAR_OK)
        status = fault;
    *report = run.report;
    report->suspect_delimiter = scan_suspect_delimiter(scan);
    if (scan->stored != NULL) {
        report->n_read += scan->stored->report.n_read;
        report->n_bad += scan->stored->report.n_bad;
        report->n_filtered += scan->stored->report.n_filtered;
    }
    report->is_aggregated = run.count_use < run.n_uses;
    if (run.suspect_use < run.n_uses && !run.suspect_is_innocent && report->n_read > report->n_bad)
        report->suspect = cellar_scan_column(scan, all[run.suspect_use].column)[0];
out:
    cellar_stored_request_clear(&request);
    cellar_free(all);
    run_clear(&run);
    return status;
}
