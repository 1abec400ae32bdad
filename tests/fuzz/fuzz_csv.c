/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Delimited text of any shape: no crash, and the same rows however it is cut into chunks. */
#include <stdlib.h>

#include "data/scan.h"

/* A long file is cut into larger pieces, because each costs time. */
enum { MOST_PIECES = 32 };

static cellar_status ignore_batch(void *context, int lane, cellar_batch *batch, cellar_error *err)
{
    uint64_t *sum = context;
    const int32_t *codes = cellar_batch_codes(batch, 0);
    (void) lane;
    (void) err;
    for (size_t i = 0; i < cellar_batch_n_rows(batch); i++)
        *sum += 1 + (uint64_t) codes[i];
    return CELLAR_OK;
}

static cellar_row_report scan(const char *bytes, size_t length,
                              const cellar_reader_options *options, size_t chunk_bytes,
                              cellar_status *status, uint64_t *sum)
{
    cellar_coder_spec coding = {.variable = "x", .missing_policy = CELLAR_MISSING_LEVEL};
    cellar_scan_options how = {.n_lanes = 1};
    cellar_scan_use use = {0};
    cellar_row_report report = {0};
    cellar_scan *file = NULL;
    *sum = 0;
    *status = cellar_scan_open_memory("f", bytes, length, options, chunk_bytes, &file, NULL);
    if (*status == CELLAR_OK)
        *status = cellar_coder_create(&coding, &use.coder, NULL);
    if (*status == CELLAR_OK)
        *status = cellar_scan_run(file, &use, 1, ignore_batch, sum, &how, &report, NULL);
    cellar_coder_free(use.coder);
    cellar_scan_close(file);
    return report;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_reader_options options = {.bad_rows = CELLAR_BAD_ROWS_SKIP};
    cellar_row_report whole, cut;
    cellar_status whole_status, cut_status;
    uint64_t whole_sum, cut_sum;

    if (size < 2)
        return 0;
    options.no_header = data[0] & 1;
    options.encoding = (cellar_encoding) (data[0] / 2 % 3);
    options.delimiter = data[0] & 64 ? ';' : ',';
    whole = scan((const char *) data + 2, size - 2, &options, size + 8, &whole_status, &whole_sum);
    cut = scan((const char *) data + 2, size - 2, &options, 1 + data[1] % 61 + size / MOST_PIECES,
               &cut_status, &cut_sum);
    if (whole_status != cut_status || whole_sum != cut_sum || whole.n_read != cut.n_read ||
        whole.n_bad != cut.n_bad)
        abort();
    return 0;
}
