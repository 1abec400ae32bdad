/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of files a scan can run over. */
#ifndef CELLAR_DATA_SCAN_LANES_H
#define CELLAR_DATA_SCAN_LANES_H

#include "data/batch.h"
#include "data/chunks.h"

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

#endif
