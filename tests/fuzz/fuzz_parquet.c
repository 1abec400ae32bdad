/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parquet files: any bytes give a message, or rows whose texts can be read. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "data/parquet/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Few bytes can stand for very many rows. */
enum { MANY_ROWS = 20000, MANY_GROUPS = 4, BATCH = 700 };

/* Reads what the cursor gives; the sum is there so that every byte is looked at. */
static unsigned fuzz_rows(parquet_cursor *cursor, uint64_t n_rows, cellar_error *err)
{
    static uint32_t texts[BATCH];
    unsigned sum = 0;
    if (n_rows > MANY_ROWS)
        n_rows = MANY_ROWS;
    while (n_rows > 0) {
        const size_t n = n_rows < BATCH ? (size_t) n_rows : BATCH;
        if (parquet_cursor_next(cursor, n, texts, err) != CELLAR_OK)
            return sum;
        for (size_t i = 0; i < n; i++) {
            const parquet_texts *all = parquet_cursor_texts(cursor);
            if (texts[i] == PARQUET_MISSING)
                continue;
            for (int64_t b = all->offsets[texts[i]]; b < all->offsets[texts[i] + 1]; b++)
                sum += (unsigned char) all->bytes.bytes[b];
        }
        n_rows -= n;
    }
    return sum;
}

static void fuzz_column(const parquet_file *file, size_t column)
{
    parquet_cursor *cursor;
    cellar_error err = {""};
    if (parquet_cursor_create(file, column, &cursor, &err) != CELLAR_OK) {
        CELLAR_ASSERT(err.message[0] != '\0');
        return;
    }
    for (size_t g = 0; g < file->n_groups && g < MANY_GROUPS; g++)
        if (parquet_cursor_begin(cursor, g, &err) == CELLAR_OK)
            (void) fuzz_rows(cursor, file->groups[g].n_rows, &err);
    parquet_cursor_free(cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parquet_file *file;
    cellar_error err = {""};
    if (parquet_open_memory("fuzz", data, size, &file, &err) != CELLAR_OK) {
        CELLAR_ASSERT(err.message[0] != '\0');
        return 0;
    }
    for (size_t c = 0; c < file->n_columns && c < 8; c++)
        fuzz_column(file, c);
    parquet_close(file);
    return 0;
}
