/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores: any heading over any values gives a message, or a store that can be counted.
 *
 * An input is the length of the heading (two bytes), the heading, and values. Around them a file is
 * made whose lengths and checksums are right, so that what is behind them is reached. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/stored/heading.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MANY_BYTES = 1 << 20, MANY_CODES = 2000 };

/* What the heading says of sizes: the bytes of the groups and of their checksums. 0: it is refused,
 * or large. */
static int fuzz_sizes(const char *heading, size_t length, size_t *n_data, size_t *n_sums)
{
    cellar_stored_file *file = cellar_alloc(1, sizeof *file);
    cellar_error err = {""};
    uint64_t bytes = 0, group_bytes;
    cellar_status status;
    CELLAR_ASSERT(file != NULL);
    file->n_owners = 1;
    file->name = "fuzz";
    file->arena = cellar_arena_create((size_t) 1 << 26);
    CELLAR_ASSERT(file->arena != NULL);
    status = cellar_stored_read_heading(file, heading, length, &err);
    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    if (status == CELLAR_OK) {
        cellar_stored_lay_out(file->columns, file->n_columns, &group_bytes);
        bytes = file->n_rows / STORED_GROUP_ROWS * group_bytes;
        for (size_t c = 0; c < file->n_columns; c++)
            bytes += cellar_stored_piece_bytes(&file->columns[c], file->n_rows % STORED_GROUP_ROWS);
        *n_sums =
            (size_t) ((file->n_rows + STORED_GROUP_ROWS - 1) / STORED_GROUP_ROWS) * file->n_columns;
    }
    *n_data = (size_t) bytes;
    cellar_stored_close(file);
    return status == CELLAR_OK && bytes <= MANY_BYTES;
}

/* One group at most, since more would be too many bytes for a file of many columns; then no
 * checksum is right. */
static void fuzz_sums(const unsigned char *values, const cellar_stored_file *file, uint64_t *sums)
{
    for (size_t c = 0; c < file->n_columns && file->n_groups == 1; c++) {
        const size_t piece = (size_t) cellar_stored_piece_bytes(&file->columns[c],
                                                                cellar_stored_group_rows(file, 0));
        sums[c] = cellar_stored_sum(values, piece);
        values += piece;
    }
}

static void fuzz_tabulate(const cellar_store *store)
{
    const size_t n = store->file->n_variables < 3 ? store->file->n_variables : 3;
    cellar_variable_spec by[3] = {{0}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    for (size_t v = 0; v < n; v++) {
        if (store->file->variables[v].n_codes > MANY_CODES)
            return;
        by[v].column = store->file->variables[v].spec.name;
    }
    spec.variables = by;
    spec.missing_policy = CELLAR_MISSING_DROP;
    for (spec.n_variables = 1; spec.n_variables <= n; spec.n_variables++)
        for (int way = 0; way < 3; way++) {
            cellar_store_answer answer;
            spec.record_key_column = way == 1 ? store->file->columns[CELLAR_STORED_KEY].name : NULL;
            spec.weight_column = way == 1 ? store->file->columns[CELLAR_STORED_WEIGHT].name : NULL;
            spec.unit_column = way == 2 ? store->file->columns[CELLAR_STORED_UNIT].name : NULL;
            spec.max_per_unit = spec.unit_column != NULL;
            cellar_store_tabulate(store, &spec, 1, 1, &answer);
            CELLAR_ASSERT((answer.status == CELLAR_OK) == (answer.error.message[0] == '\0'));
            CELLAR_ASSERT((answer.status == CELLAR_OK) == (answer.table != NULL));
            cellar_table_free(answer.table);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t length = size >= 2 ? (size_t) data[0] + 256u * data[1] : 0;
    const char *heading = (const char *) data + 2;
    size_t n_data = 0, n_sums = 0, total;
    stored_start start = {.mark = STORED_MARK, .version = STORED_VERSION};
    stored_tail tail = {.mark = STORED_MARK, .version = STORED_VERSION};
    cellar_store store = {NULL};
    cellar_error err = {""};
    unsigned char *bytes;

    if (size < 2 || length > size - 2 || !fuzz_sizes(heading, length, &n_data, &n_sums))
        return 0;
    total = STORED_START + n_data + n_sums * sizeof(uint64_t) + length + sizeof tail;
    bytes = cellar_alloc(total, 1);
    CELLAR_ASSERT(bytes != NULL);
    tail.heading_at = STORED_START + n_data + n_sums * sizeof(uint64_t);
    tail.heading_length = length;
    memcpy(bytes, &start, sizeof start);
    for (size_t i = 0; i < n_data && size > 2 + length; i++)
        bytes[STORED_START + i] = data[2 + length + i % (size - 2 - length)];
    memcpy(bytes + tail.heading_at, heading, length);
    memcpy(bytes + total - sizeof tail, &tail, sizeof tail);
    if (cellar_stored_open_memory("fuzz", bytes, total, 1, &store.file, &err) == CELLAR_OK) {
        fuzz_sums(bytes + STORED_START, store.file,
                  (uint64_t *) (void *) (bytes + STORED_START + n_data));
        if (cellar_store_verify(&store, 1, NULL, &err) != CELLAR_OK)
            CELLAR_ASSERT(err.message[0] != '\0');
        fuzz_tabulate(&store);
    } else
        CELLAR_ASSERT(err.message[0] != '\0');
    cellar_stored_close(store.file);
    cellar_free(bytes);
    return 0;
}
