/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a scan: what the lanes of one run share, and the batch each lane fills. */
#ifndef CELLAR_DATA_BATCH_H
#define CELLAR_DATA_BATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/text.h"
#include "data/dictionary.h"
#include "data/scan.h"

/* The first fault of the file: lanes work ahead, so it is the least in the order of the file that
 * counts, and its line is known only when all chunks before it have been read. */
typedef struct scan_fault {
    uint64_t sequence, line; /* chunk, and line within it (0 is its first) */
    char message[900];
    int found;
} scan_fault;

/* Shared by all lanes of a run. */
typedef struct scan_run {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    const char *file;
    const cellar_scan_use *uses;
    size_t n_uses;
    cellar_batch_sink *sink;
    void *context;
    const cellar_scan_options *options;
    cellar_bad_rows bad_rows;
    const char *count_column;
    size_t count_use, suspect_use; /* among the uses; n_uses: there is none */
    int suspect_is_innocent;       /* a value that is no positive whole number was met */
    int rows_not_lines;            /* the file has no lines: places are told as rows */
    scan_fault fault;
    uint64_t *lines; /* of each chunk that was read */
    size_t lines_capacity, n_lines;
    uint64_t next_in_order;         /* the chunk whose turn it is, where the order matters */
    int stopped;                    /* a lane failed: the others stop */
    cellar_stored_file *stored;     /* the data are a store; NULL: they are text */
    _Atomic uint64_t next_piece;    /* of the store: the next one to be taken */
    cellar_stored_request *counted; /* of the store: cells in the place of rows; or NULL */
    cellar_row_report report;
} scan_run;

/* Rows of a store (stored/scan.c). */
typedef struct scan_stored scan_stored;
int32_t scan_stored_codes(const scan_stored *stored, size_t use, int32_t *codes);
uint64_t scan_stored_number(const scan_stored *stored, size_t use, size_t row);
int scan_stored_weight(const scan_stored *stored, size_t use, size_t row, cellar_int128 *weight);

/* Rows of a data frame (frame/scan.c): codes that are looked up, and the rest as text. */
typedef struct scan_frame scan_frame;
int scan_frame_is_coded(const scan_frame *frame, size_t use);
int32_t scan_frame_codes(scan_frame *frame, cellar_batch *batch, size_t use, int32_t *codes);

/* A lane's rows: slices of a text, then codes. */
struct cellar_batch {
    scan_run *run;
    int lane;
    uint64_t sequence;

    const scan_stored *stored; /* the rows are those of a store, and there is no text */
    scan_frame *frame;         /* the rows are those of a data frame */
    char *text;
    size_t n_split;               /* rows the text was split into */
    const uint64_t *n_records_of; /* each of them, where equal rows were counted; NULL: one */
    cellar_slices *slices;        /* of each use: its field in every row */
    const uint32_t *line_of;      /* of each row; NULL: row r is line r */

    size_t n_rows; /* rows left to count */
    int32_t **codes;
    size_t code_capacity;
    uint32_t *split_of; /* which split row a counted row was */
    int all_counted;    /* split_of is the identity, and not filled */
    uint64_t *counts;   /* what each row left stands for; NULL: one record */
    uint64_t n_records; /* their sum over all batches of the lane */

    cellar_dictionary *cache; /* one per use */
    cellar_row_report report;
};

cellar_status batch_init(cellar_batch *batch, scan_run *run, int lane, cellar_error *err);
void batch_clear(cellar_batch *batch);

/* Codes the slices, sets aside the rows not to be counted, and gives the rest to the sink. */
cellar_status batch_deliver(cellar_batch *batch, cellar_error *err);

/* A row that cannot be used: under `skip` it is counted, under `error` the fault is remembered if
 * it is the first of the file. `column` may be NULL. */
void batch_bad_row(cellar_batch *batch, uint64_t line, const char *column, const char *why);

/* What the coder of a use makes of a text, which gets readable bytes after it. */
int32_t batch_resolve(cellar_batch *batch, size_t use, cellar_text *text);

/* The field of a use in a row of the text, and the line of that row. */
const char *batch_slice(const cellar_batch *batch, size_t use, size_t split, size_t *length);
uint64_t batch_line(const cellar_batch *batch, size_t split);

/* Rows that stand for several records (batch_counts.c): reads what each row left stands for; takes
 * it from equal rows that were counted; looks at a column that nobody declared. */
cellar_status batch_count(cellar_batch *batch, cellar_error *err);
void batch_take_counts(cellar_batch *batch);
void batch_suspect(cellar_batch *batch);

void run_init(scan_run *run);
void run_clear(scan_run *run);
/* 1 when no chunk after this one needs to be looked at any more. */
int run_is_over(scan_run *run, uint64_t sequence);
void run_stop(scan_run *run);
/* Called by each lane for each chunk when it is done with it, successfully or not. */
cellar_status run_finish_chunk(scan_run *run, uint64_t sequence, uint64_t n_lines,
                               cellar_error *err);
void run_add_report(scan_run *run, const cellar_row_report *report);
/* The fault as an error with its line, or CELLAR_OK. `lines_before` is what the header took. */
cellar_status run_result(scan_run *run, uint64_t lines_before, cellar_error *err);

#endif
