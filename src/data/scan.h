/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass over a data file, by all threads: rows come out as small numbers, in batches. */
#ifndef CELLAR_DATA_SCAN_H
#define CELLAR_DATA_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/microdata.h>

#include "data/coder.h"
#include "data/frame/frame.h"
#include "data/stored/count.h"
#include "data/stored/file.h"

/* One use of one column: coded, or (without a coder) as raw text. */
typedef struct cellar_scan_use {
    size_t column;
    cellar_coder *coder;
    uint64_t largest; /* of a store: larger weights count as this; so many records of a unit count;
                         0: no bound */
} cellar_scan_use;

typedef struct cellar_batch cellar_batch;

/* Receives the rows that are to be counted, a batch at a time, on any lane. */
typedef cellar_status cellar_batch_sink(void *context, int lane, cellar_batch *batch,
                                        cellar_error *err);

size_t cellar_batch_n_rows(const cellar_batch *batch);
/* The codes of a use, all >= 0 (unless missing values were to be kept), one for each row. */
const int32_t *cellar_batch_codes(const cellar_batch *batch, size_t use);
/* The raw text of a use, not NUL-terminated, in the encoding of the file. */
const char *cellar_batch_text(const cellar_batch *batch, size_t use, size_t row, size_t *length);
/* The number in a column of a store's numbers; of a row that stands for several records the sum of
 * their keys, modulo the key range. 0: the column is text. */
int cellar_batch_number(const cellar_batch *batch, size_t use, size_t row, uint64_t *number);
/* A weight in units of 1e-9; CELLAR_WEIGHTS_SUMMED: the weights of all records of the row, each
 * clipped to the bound of the use. */
typedef enum cellar_stored_weights {
    CELLAR_WEIGHTS_TEXT,
    CELLAR_WEIGHTS_NUMBER,
    CELLAR_WEIGHTS_SUMMED
} cellar_stored_weights;
cellar_stored_weights cellar_batch_weight(const cellar_batch *batch, size_t use, size_t row,
                                          cellar_int128 *weight);
/* The number of records that each row stands for, at least 1; NULL: a row is a record. */
const uint64_t *cellar_batch_counts(const cellar_batch *batch);
/* The sum of `counts` (NULL: all are 1) of n rows. */
uint64_t cellar_counts_sum(const uint64_t *counts, size_t n);
/* For a sink that finds a row unusable and leaves it out: counts it as bad and, unless bad rows are
 * to be skipped, makes the run fail with the sentence and the row's place in the file. */
void cellar_batch_reject(cellar_batch *batch, const char *column, size_t row, const char *why);

typedef struct cellar_scan cellar_scan;

/* Opens a data file and reads the names of its columns. On failure *out is NULL. */
cellar_status cellar_scan_open(const char *path, const cellar_reader_options *options,
                               cellar_scan **out, cellar_error *err);
/* The same for a store that is open already. */
cellar_status cellar_scan_open_stored(cellar_stored_file *file,
                                      const cellar_reader_options *options, cellar_scan **out,
                                      cellar_error *err);
/* The same for delimited text in memory, which outlives the scan, cut into chunks of about
 * `chunk_bytes`: for tests and fuzzers. */
cellar_status cellar_scan_open_memory(const char *name, const char *bytes, size_t length,
                                      const cellar_reader_options *options, size_t chunk_bytes,
                                      cellar_scan **out, cellar_error *err);
/* The same for a data frame, called `name` in messages: takes over the source in every case. */
cellar_status cellar_scan_open_frame(frame_source *source, const char *name,
                                     const cellar_reader_options *options, cellar_scan **out,
                                     cellar_error *err);
void cellar_scan_close(cellar_scan *scan); /* NULL is fine */

size_t cellar_scan_n_columns(const cellar_scan *scan);
const char *cellar_scan_column(const cellar_scan *scan, size_t column);
/* The position of a column; CELLAR_ERR_ARGUMENT names the file and the nearest column. */
cellar_status cellar_scan_find_column(const cellar_scan *scan, const char *name, size_t *column,
                                      cellar_error *err);
/* The column of a variable of a table, and in `coder` how its fields become categories: encoding,
 * recode, code list and labels, and of a store what it was built with. The caller has set the rest.
 * *held is a list that must outlive the coder, to be freed, or NULL. */
cellar_status cellar_scan_variable(const cellar_scan *scan, const cellar_variable_spec *variable,
                                   cellar_coder_spec *coder, size_t *column, cellar_codelist **held,
                                   cellar_error *err);
/* The column of a condition. */
cellar_status cellar_scan_condition(const cellar_scan *scan, const cellar_condition *condition,
                                    size_t *column, cellar_error *err);
/* The column of record keys, weights or units. */
cellar_status cellar_scan_number(const cellar_scan *scan, cellar_stored_beside kind,
                                 const char *name, size_t *column, cellar_error *err);
/* The store that the data are, or NULL. */
const cellar_stored_file *cellar_scan_stored(const cellar_scan *scan);
/* The labels the file format gives the values of each column, NULL where it gives none. On failure
 * all are NULL. */
cellar_status cellar_scan_labels(const cellar_scan *scan, const size_t *columns, size_t n_columns,
                                 cellar_codelist **lists, cellar_error *err);
/* The encoding coders are to expect: the file's, or UTF-8 where the format converts. */
cellar_encoding cellar_scan_encoding(const cellar_scan *scan);

typedef struct cellar_scan_options {
    int n_lanes;      /* how many threads; 0: one per processor */
    int in_order;     /* 1: the sink is called for one batch after the other, in the file's order */
    int keep_missing; /* 1: rows with CELLAR_OUTCOME_MISSING among their codes reach the sink */
    cellar_progress progress;
} cellar_scan_options;

/* The number of lanes a scan with these options will use: the sink's `lane` is below it. */
int cellar_scan_n_lanes(const cellar_scan *scan, const cellar_scan_options *options);

/* Whether a run over a store counts equal rows first: the rows of its batches then stand for
 * several records. `request` says what is counted. */
int cellar_scan_counts_first(const cellar_scan *scan, const cellar_scan_use *uses, size_t n_uses,
                             const cellar_scan_options *options, cellar_stored_request *request);
/* What was counted for the next run, which outlives it: several scans can be counted at once. */
void cellar_scan_use_counts(cellar_scan *scan, cellar_stored_request *counted);

/* 1 when the bound on the records of units was kept already. */
int cellar_batch_units_are_bounded(const cellar_batch *batch);

/* Runs over all rows, once. `report` counts them, but for n_counted and n_over_unit, which are the
 * sink's. The first fault in the order of the file is the one reported. */
cellar_status cellar_scan_run(cellar_scan *scan, const cellar_scan_use *uses, size_t n_uses,
                              cellar_batch_sink *sink, void *context,
                              const cellar_scan_options *options, cellar_row_report *report,
                              cellar_error *err);

#endif
