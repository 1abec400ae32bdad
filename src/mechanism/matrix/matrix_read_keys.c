/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layouts of the ONS and of Cantabular: a line per key, or per range of keys. */
#include "mechanism/matrix/matrix_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { ENTRIES_MAX = 4000000 };

/* "7", "0-63" or "0..63". */
static cellar_status field_range(const cellar_matrix_reader *r, size_t column, uint64_t highest,
                                 uint64_t *first, uint64_t *last, cellar_error *err)
{
    const cellar_csv_field *f = &r->csv.fields[column];
    size_t n_first = 0, skip = 0;
    while (n_first < f->length && f->bytes[n_first] >= '0' && f->bytes[n_first] <= '9')
        n_first++;
    if (n_first < f->length)
        skip = f->bytes[n_first] == '-' ? 1 : 2;
    if (skip == 2 && (f->length < n_first + 2 || memcmp(f->bytes + n_first, "..", 2) != 0))
        n_first = 0;
    if (!cellar_parse_u64(f->bytes, n_first, first) || *first > highest)
        return cellar_csv_fail(&r->csv, column, err,
                               "expected a whole number up to %" PRIu64 ", or a range such as 0-63",
                               highest);
    *last = *first;
    if (skip == 0)
        return CELLAR_OK;
    if (!cellar_parse_u64(f->bytes + n_first + skip, f->length - n_first - skip, last) ||
        *last < *first || *last > highest)
        return cellar_csv_fail(&r->csv, column, err,
                               "expected a range that ends from its beginning to %" PRIu64,
                               highest);
    return CELLAR_OK;
}

static cellar_status keys_line(cellar_matrix_reader *r, cellar_error *err)
{
    uint64_t row = 0, row_last = 0;
    cellar_key_range range = {.line = cellar_csv_line(&r->csv)};
    uint64_t rows_max = r->large == CELLAR_MATRIX_LARGE_ROTATE ? CELLAR_MATRIX_ROTATE_LAST
                                                               : CELLAR_MATRIX_ROWS_MAX - 1;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(field_range(r, r->columns[0], rows_max, &row, &row_last, err));
    CELLAR_TRY(field_range(r, r->columns[1], UINT32_MAX, &range.first, &range.last, err));
    CELLAR_TRY(cellar_matrix_reader_integer(r, r->columns[2], -CELLAR_MATRIX_CHANGE_MAX,
                                            CELLAR_MATRIX_CHANGE_MAX, &range.change, err));
    for (; row <= row_last; row++) {
        if (r->n_ranges == ENTRIES_MAX)
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                                   "%s:%" PRIu64 ": more than %d changes of counts by key",
                                   r->csv.name, range.line, ENTRIES_MAX));
        if (!cellar_grow(&r->ranges, &r->capacity, r->n_ranges + 1, sizeof *r->ranges))
            CELLAR_TRY(cellar_fail_memory(err, "a matrix"));
        range.row = row;
        r->ranges[r->n_ranges++] = range;
    }
out:
    return status;
}

static int range_order(const void *a, const void *b)
{
    const cellar_key_range *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1)
                                : (x->line > y->line) - (x->line < y->line);
}

/* Adds the segment of the keys before `end`. */
static cellar_status keys_add(cellar_matrix_reader *r, uint64_t row, int64_t change, uint64_t end,
                              cellar_error *err)
{
    cellar_status status;
    fmpq_t fraction;
    fmpq_init(fraction);
    fmpz_set_ui(fmpq_numref(fraction), end);
    fmpz_set_ui(fmpq_denref(fraction), r->matrix->n_keys);
    fmpq_canonicalise(fraction);
    status = cellar_matrix_add(r->matrix, (size_t) row, change, fraction, err);
    fmpq_clear(fraction);
    return status;
}

/* The segments of all rows; keys and rows that are not listed change nothing. */
static cellar_status keys_build(cellar_matrix_reader *r, size_t n_rows, uint64_t n_keys,
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t i = 0;

    CELLAR_TRY(cellar_matrix_create(n_rows, r->large, n_keys, &r->matrix, err));
    for (size_t row = 0; row < n_rows; row++) {
        uint64_t next = 0;
        for (; i < r->n_ranges && r->ranges[i].row == row; i++) {
            const cellar_key_range *range = &r->ranges[i];
            if (range->first < next)
                CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                                       "%s:%" PRIu64 ": column '%s': key %" PRIu64
                                       " of the count %zu has a change already",
                                       r->csv.name, range->line, r->csv.header[r->columns[1]],
                                       range->first, row));
            if (range->first > next)
                CELLAR_TRY(keys_add(r, row, 0, range->first, err));
            CELLAR_TRY(keys_add(r, row, range->change, range->last + 1, err));
            next = range->last + 1;
        }
        if (next < n_keys)
            CELLAR_TRY(keys_add(r, row, 0, n_keys, err));
    }
out:
    return status;
}

cellar_status cellar_matrix_reader_keys(cellar_matrix_reader *r, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t last_key = 0, last_row = 0;
    int found = 1;

    for (;;) {
        CELLAR_TRY(cellar_matrix_reader_next(r, &found, err));
        if (!found)
            break;
        CELLAR_TRY(keys_line(r, err));
    }
    if (r->n_ranges == 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: has no rows", r->csv.name));
    for (size_t i = 0; i < r->n_ranges; i++) {
        last_key = r->ranges[i].last > last_key ? r->ranges[i].last : last_key;
        last_row = r->ranges[i].row > last_row ? r->ranges[i].row : last_row;
    }
    if (r->large == CELLAR_MATRIX_LARGE_ROTATE)
        last_row = CELLAR_MATRIX_ROTATE_LAST;
    qsort(r->ranges, r->n_ranges, sizeof *r->ranges, range_order);
    CELLAR_TRY(keys_build(r, (size_t) last_row + 1, last_key + 1, err));
out:
    return status;
}
