/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The encodings of Parquet (Encodings.md of the format), but for dictionaries and truth values. */
#include "data/parquet/texts.h"

#include <string.h>

#include "data/parquet/bits.h"
#include "data/separators.h"

/* What one column may hold at a time: small files can describe very large pages. */
enum { LISTED_MAX = 1 << 24, LISTED_BYTES_MAX = 1 << 30 };

void parquet_texts_clear(parquet_texts *t)
{
    cellar_text_clear(&t->bytes);
    cellar_free(t->offsets);
    *t = (parquet_texts){0};
}

void parquet_texts_drop(parquet_texts *t, size_t first, size_t last)
{
    const size_t n = last - first;
    size_t from, to;
    if (n == 0)
        return;
    from = (size_t) t->offsets[first];
    to = (size_t) t->offsets[last];
    if (to > from) {
        memmove(t->bytes.bytes + from, t->bytes.bytes + to, t->bytes.length - to);
        t->bytes.length -= to - from;
    }
    for (size_t i = last; i <= t->n; i++)
        t->offsets[i - n] = t->offsets[i] - (int64_t) (to - from);
    t->n -= n;
}

/* The text that was added to the bytes ends here. */
static int end_text(parquet_texts *t)
{
    if (!cellar_grow(&t->offsets, &t->capacity, t->n + 2, sizeof *t->offsets))
        t->bytes.failed = 1;
    if (t->bytes.failed || t->bytes.length > LISTED_BYTES_MAX)
        return 0;
    t->offsets[0] = 0;
    t->offsets[++t->n] = (int64_t) t->bytes.length;
    return 1;
}

/* Bytes behind the last text that lookups may read. */
static int add_slack(parquet_texts *t)
{
    cellar_text_printf(&t->bytes, "%*s", CELLAR_TEXT_SLACK, "");
    if (t->bytes.failed)
        return 0;
    t->bytes.length -= CELLAR_TEXT_SLACK;
    return 1;
}

int parquet_texts_add_text(parquet_texts *t, const char *text)
{
    cellar_text_add_string(&t->bytes, text);
    return end_text(t) && add_slack(t);
}

static int add(parquet_texts *t, const parquet_column *column, const unsigned char *bytes,
               size_t length)
{
    return parquet_add_value(column, bytes, length, &t->bytes) && end_text(t);
}

static int is_bytes(const parquet_column *column)
{
    return column->physical == PARQUET_BYTES || column->physical == PARQUET_FIXED;
}

static int add_fixed(parquet_texts *t, const parquet_column *column, const unsigned char *at,
                     const unsigned char *end, size_t n)
{
    const size_t width = parquet_value_bytes(column);
    if ((size_t) (end - at) / width < n)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!add(t, column, at + i * width, width))
            return 0;
    return 1;
}

static int add_prefixed(parquet_texts *t, const parquet_column *column, const unsigned char *at,
                        const unsigned char *end, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t length;
        if (end - at < 4)
            return 0;
        length = (uint32_t) at[0] | (uint32_t) at[1] << 8 | (uint32_t) at[2] << 16 |
                 (uint32_t) at[3] << 24;
        at += 4;
        if (length > (size_t) (end - at) || !add(t, column, at, length))
            return 0;
        at += length;
    }
    return 1;
}

/* The bytes of a value lie n apart. */
static int add_split(parquet_texts *t, const parquet_column *column, const unsigned char *at,
                     const unsigned char *end, size_t n)
{
    const size_t width = parquet_value_bytes(column);
    unsigned char *value;
    int is_ok = width > 0 && (size_t) (end - at) / width >= n;
    if (!is_ok)
        return 0;
    value = cellar_alloc(width, 1);
    if (value == NULL) {
        t->bytes.failed = 1;
        return 0;
    }
    for (size_t i = 0; is_ok && i < n; i++) {
        for (size_t b = 0; b < width; b++)
            value[b] = at[b * n + i];
        is_ok = add(t, column, value, width);
    }
    cellar_free(value);
    return is_ok;
}

static int add_numbers(parquet_texts *t, const parquet_column *column, const int64_t *numbers,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char bytes[8];
        for (size_t b = 0; b < 8; b++)
            bytes[b] = (unsigned char) ((uint64_t) numbers[i] >> (8 * b));
        if (!add(t, column, bytes, parquet_value_bytes(column)))
            return 0;
    }
    return 1;
}

static int add_lengths(parquet_texts *t, const parquet_column *column, const int64_t *lengths,
                       const unsigned char *at, const unsigned char *end, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (lengths[i] < 0 || lengths[i] > end - at || !add(t, column, at, (size_t) lengths[i]))
            return 0;
        at += lengths[i];
    }
    return 1;
}

/* How much of the value before each value begins with, and what follows. */
static int add_shared(parquet_texts *t, const parquet_column *column, const int64_t *shared,
                      const int64_t *lengths, const unsigned char *at, const unsigned char *end,
                      size_t n)
{
    cellar_text value = {0};
    int is_ok = 1;
    for (size_t i = 0; is_ok && i < n; i++) {
        if (shared[i] < 0 || (uint64_t) shared[i] > value.length || lengths[i] < 0 ||
            lengths[i] > end - at) {
            is_ok = 0;
            break;
        }
        value.length = (size_t) shared[i];
        cellar_text_add(&value, (const char *) at, (size_t) lengths[i]);
        at += lengths[i];
        t->bytes.failed |= value.failed;
        is_ok = !value.failed &&
                add(t, column, (const unsigned char *) (value.bytes != NULL ? value.bytes : ""),
                    value.length);
    }
    cellar_text_clear(&value);
    return is_ok;
}

static int add_deltas(parquet_texts *t, const parquet_column *column, parquet_encoding encoding,
                      const unsigned char *at, const unsigned char *end, size_t n)
{
    int64_t *numbers = cellar_alloc(2 * n, sizeof *numbers), *lengths = numbers;
    int is_ok = 0;
    if (numbers == NULL) {
        t->bytes.failed = 1;
        return 0;
    }
    at = parquet_deltas(at, end, n, numbers);
    if (at != NULL && encoding == PARQUET_ENCODING_DELTA_BYTES) {
        lengths = numbers + n;
        at = parquet_deltas(at, end, n, lengths);
    }
    if (at != NULL)
        is_ok = encoding == PARQUET_ENCODING_DELTAS ? add_numbers(t, column, numbers, n)
                : encoding == PARQUET_ENCODING_DELTA_LENGTHS
                    ? add_lengths(t, column, lengths, at, end, n)
                    : add_shared(t, column, numbers, lengths, at, end, n);
    cellar_free(numbers);
    return is_ok;
}

static int add_values(parquet_texts *t, const parquet_column *column, parquet_encoding encoding,
                      const unsigned char *at, const unsigned char *end, size_t n)
{
    const int is_int = column->physical == PARQUET_INT32 || column->physical == PARQUET_INT64;
    if (n > LISTED_MAX)
        return 0;
    switch (encoding) {
    case PARQUET_ENCODING_PLAIN:
        return column->physical == PARQUET_BYTES ? add_prefixed(t, column, at, end, n)
               : parquet_value_bytes(column) > 0 ? add_fixed(t, column, at, end, n)
                                                 : 0;
    case PARQUET_ENCODING_DELTAS:
        return is_int && add_deltas(t, column, encoding, at, end, n);
    case PARQUET_ENCODING_DELTA_LENGTHS:
        return column->physical == PARQUET_BYTES && add_deltas(t, column, encoding, at, end, n);
    case PARQUET_ENCODING_DELTA_BYTES:
        return is_bytes(column) && add_deltas(t, column, encoding, at, end, n);
    case PARQUET_ENCODING_SPLIT:
        return column->physical != PARQUET_BYTES && add_split(t, column, at, end, n);
    default:
        return 0;
    }
}

int parquet_texts_add(parquet_texts *t, const parquet_column *column, parquet_encoding encoding,
                      const unsigned char *at, const unsigned char *end, size_t n)
{
    return add_values(t, column, encoding, at, end, n) && add_slack(t);
}
