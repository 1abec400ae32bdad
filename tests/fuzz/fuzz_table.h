/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fuzzers of table files share: a table that reads must be a sound one. */
#ifndef CELLAR_TESTS_FUZZ_TABLE_H
#define CELLAR_TESTS_FUZZ_TABLE_H

#include <cellar/table_file.h>

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_table(const uint8_t *data, size_t size, cellar_table_format format)
{
    cellar_table_read_options options = {.format = format};
    cellar_table *table;
    cellar_error err = {""};
    cellar_status status =
        cellar_table_parse("fuzz", (const char *) data, size, &options, &table, &err);

    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    if (status != CELLAR_OK)
        return 0;
    for (size_t i = 0; i < cellar_table_n_cells(table); i++) {
        cellar_cell cell = cellar_table_cell(table, i);
        CELLAR_ASSERT(cellar_schema_has_cell(cellar_table_schema(table), cell.index));
        CELLAR_ASSERT(i == 0 || cell.index > cellar_table_cell(table, i - 1).index);
        CELLAR_ASSERT(cell.count > 0 || cell.status != CELLAR_CELL_NORMAL);
    }
    cellar_table_free(table);
    return 0;
}

#endif
