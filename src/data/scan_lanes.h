/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scan, and the kinds of data that it can run over. */
#ifndef CELLAR_DATA_SCAN_LANES_H
#define CELLAR_DATA_SCAN_LANES_H

#include "data/batch.h"
#include "data/chunks.h"
#include "data/frame/frame.h"
#include "data/parquet/file.h"

struct cellar_scan {
    char *path;
    cellar_reader_options options;
    char delimiter;
    cellar_chunks *chunks;          /* delimited text; NULL for other formats */
    cellar_stored_file *stored;     /* a store; NULL for other formats */
    cellar_stored_request *counted; /* of it, for the next run; NULL: nothing yet */
    frame_source *frame;            /* a data frame; NULL for other formats */
    parquet_file *parquet;          /* a Parquet file; NULL for other formats */
    char **columns;                 /* of other formats */
    size_t n_columns;
};

/* One lane of a run over delimited text: takes chunks until there are none. */
cellar_status scan_text_lane(scan_run *run, cellar_chunks *chunks, char delimiter, int lane,
                             cellar_error *err);

/* A run over an SPSS, Stata or SAS file, on the caller's thread. */
cellar_status scan_stat_run(scan_run *run, const char *path, const cellar_reader_options *options,
                            cellar_error *err);

/* One lane of a run over a store: takes pieces of groups until there are none. */
cellar_status scan_stored_lane(scan_run *run, int lane, cellar_error *err);
/* Whether equal rows can be counted before they are looked at, and how. */
int scan_stored_request(const cellar_stored_file *file, const cellar_scan_use *uses, size_t n_uses,
                        const cellar_scan_options *options, cellar_stored_request *request);
/* A run over the cells that were counted, on the caller's thread. *is_done is 0 when a value has to
 * be reported with its row: then nothing was delivered, and the rows are to be run over. */
cellar_status scan_stored_cells(scan_run *run, int *is_done, cellar_error *err);

/* One lane of a run over a data frame: takes pieces until there are none. */
cellar_status scan_frame_lane(scan_run *run, frame_source *source, size_t max_row_mib, int lane,
                              cellar_error *err);

/* One lane of a run over a Parquet file: takes row groups until there are none. */
cellar_status scan_parquet_lane(scan_run *run, const parquet_file *file, size_t max_row_mib,
                                int number, cellar_error *err);

/* Another delimiter in the name of the only column of a text: 0 where there is none. */
char scan_suspect_delimiter(const cellar_scan *scan);

#endif
