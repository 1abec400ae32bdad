/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Releases: any bytes give a sound release or a message. Up to a zero byte stands what goes beside
 * a CSV; without one the bytes are JSON-stat when they begin so, else px. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "release/release.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_walk(const cellar_release *release)
{
    uint64_t before = 0;
    for (size_t i = 0; i < cellar_release_n_cells(release); i++) {
        cellar_released_cell cell = cellar_release_cell(release, i);
        CELLAR_ASSERT(cellar_schema_has_cell(cellar_release_schema(release), cell.index));
        CELLAR_ASSERT(i == 0 || cell.index > before);
        CELLAR_ASSERT(cell.released != 0 || cell.status == CELLAR_CELL_STRUCTURAL_ZERO);
        before = cell.index;
    }
    CELLAR_ASSERT(cellar_release_noise(release) != CELLAR_NOISE_SEEDED);
    CELLAR_ASSERT(cellar_verdict_name(cellar_release_verdict(release)) != NULL);
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
                            .kind = CELLAR_SHEET_RELEASE};
    cellar_release *release = NULL;
    cellar_error err = {""};
    cellar_status status =
        cellar_release_parse(&source, (const char *) data, length, &release, &err);

    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    if (status == CELLAR_OK)
        fuzz_walk(release);
    cellar_release_free(release);
    return 0;
}
