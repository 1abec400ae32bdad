/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates: any bytes give a sound estimate or a message. Up to a zero byte stands what goes
 * beside a CSV; without one the bytes are JSON-stat when they begin so, else px. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "release/estimate/estimate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_walk(const cellar_estimate *estimate)
{
    uint64_t before = 0;
    for (size_t i = 0; i < cellar_estimate_n_cells(estimate); i++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(estimate, i);
        CELLAR_ASSERT(cellar_schema_has_cell(cellar_estimate_schema(estimate), cell.index));
        CELLAR_ASSERT(i == 0 || cell.index > before);
        CELLAR_ASSERT(isfinite(cell.value) && (isnan(cell.se) || cell.se >= 0));
        before = cell.index;
    }
    CELLAR_ASSERT(cellar_estimate_method(estimate) != NULL);
    CELLAR_ASSERT(cellar_estimate_n_sources(estimate) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    size_t length = zero != NULL ? (size_t) (zero - data) : 0, skip = zero != NULL ? length + 1 : 0;
    cellar_table_read_options options = {.format = zero != NULL ? CELLAR_TABLE_CSV
                                                   : size > 0 && data[0] == '{'
                                                       ? CELLAR_TABLE_JSONSTAT
                                                       : CELLAR_TABLE_PX};
    cellar_source source = {.name = "fuzz",
                            .bytes = (const char *) data + skip,
                            .length = size - skip,
                            .options = &options,
                            .kind = CELLAR_SHEET_ESTIMATE};
    cellar_estimate *estimate = NULL;
    cellar_error err = {""};
    cellar_status status =
        cellar_estimate_parse(&source, (const char *) data, length, &estimate, &err);

    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    if (status == CELLAR_OK)
        fuzz_walk(estimate);
    cellar_estimate_free(estimate);
    return 0;
}
