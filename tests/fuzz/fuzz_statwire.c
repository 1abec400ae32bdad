/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a cellar-statread in the hands of a hostile file could answer; the first byte picks what it
 * was asked for. */
#include "base/error.h"
#include "base/text.h"
#include "data/statwire.h"

enum { COLUMNS = 3 };

/* Every byte of a row can be read. */
static cellar_status check_row(void *context, const cellar_field *fields, uint64_t row_index,
                               cellar_error *err)
{
    unsigned *sum = context;
    (void) row_index;
    (void) err;
    for (int i = 0; i < COLUMNS; i++)
        for (size_t k = 0; k < fields[i].length; k++)
            *sum += (unsigned char) fields[i].text[k];
    return CELLAR_OK;
}

static void check_columns(cellar_statwire *wire, cellar_error *err)
{
    char **names;
    size_t n;

    if (cellar_statwire_read_columns(wire, COLUMNS, &names, &n, err) != CELLAR_OK) {
        CELLAR_ASSERT(names == NULL && err->message[0] != '\0');
        return;
    }
    CELLAR_ASSERT(n > 0 && n <= COLUMNS);
    cellar_columns_free(names, n);
}

static void check_labels(cellar_statwire *wire, cellar_error *err)
{
    cellar_codelist *lists[COLUMNS];
    cellar_status status = cellar_statwire_read_labels(wire, COLUMNS, lists, err);

    for (int i = 0; i < COLUMNS; i++) {
        CELLAR_ASSERT(status == CELLAR_OK || lists[i] == NULL);
        cellar_codelist_free(lists[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_statwire wire;
    cellar_error err = {""};
    unsigned sum = 0;
    double fraction = 0;

    if (size == 0)
        return 0;
    cellar_statwire_open_memory(data + 1, size - 1, &wire);
    if (data[0] % 3 == CELLAR_STATWIRE_COLUMNS)
        check_columns(&wire, &err);
    else if (data[0] % 3 == CELLAR_STATWIRE_ROWS)
        cellar_statwire_read_rows(&wire, COLUMNS, check_row, &sum, &fraction, &err);
    else
        check_labels(&wire, &err);
    CELLAR_ASSERT(fraction >= 0 && fraction <= 1);
    cellar_statwire_clear(&wire);
    return 0;
}
