/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Single values of columns in memory, as texts. */
#include <math.h>
#include <string.h>

#include "data/frame/frame.h"

/* Buffers come from elsewhere and need not be aligned. */
#define LOAD(type, pointer, row)                                                                   \
    type loaded;                                                                                   \
    memcpy(&loaded, (const char *) (pointer) + (row) * sizeof loaded, sizeof loaded)

int64_t frame_integer(const frame_column *column, uint64_t row)
{
    const uint64_t at = column->offset + row;
    switch (column->width) {
    case 1: {
        LOAD(uint8_t, column->values, at);
        return column->is_unsigned ? (int64_t) loaded : (int8_t) loaded;
    }
    case 2: {
        LOAD(uint16_t, column->values, at);
        return column->is_unsigned ? (int64_t) loaded : (int16_t) loaded;
    }
    case 4: {
        LOAD(uint32_t, column->values, at);
        return column->is_unsigned ? (int64_t) loaded : (int32_t) loaded;
    }
    default: {
        LOAD(int64_t, column->values, at);
        return loaded;
    }
    }
}

static int bit_at(const uint8_t *bits, uint64_t at)
{
    return bits[at / 8] >> at % 8 & 1;
}

int frame_is_missing(const frame_column *column, uint64_t row)
{
    if (column->type == FRAME_NULLS)
        return 1;
    if (column->validity != NULL && !bit_at(column->validity, column->offset + row))
        return 1;
    if (column->is_missing != NULL && column->is_missing[column->offset + row] != 0)
        return 1;
    return column->has_missing && frame_integer(column, row) == column->missing;
}

/* ---- numbers --------------------------------------------------------------- */

static void add_integer(const frame_column *column, uint64_t row, cellar_text *text)
{
    const int64_t value = frame_integer(column, row);
    char digits[24], *p = digits + sizeof digits;
    uint64_t left = (uint64_t) value;
    const int is_negative = !column->is_unsigned && value < 0;
    if (is_negative)
        left = -left;
    do
        *--p = (char) ('0' + left % 10);
    while ((left /= 10) > 0);
    if (is_negative)
        *--p = '-';
    cellar_text_add(text, p, (size_t) (digits + sizeof digits - p));
}

static double float_at(const frame_column *column, uint64_t row)
{
    const uint64_t at = column->offset + row;
    if (column->width == sizeof(float)) {
        LOAD(float, column->values, at);
        return (double) loaded;
    }
    LOAD(double, column->values, at);
    return loaded;
}

/* Divides a number of 32-bit words, the least first, by ten; answers the remainder. */
static uint32_t divide_by_ten(uint32_t *words, size_t n)
{
    uint64_t left = 0;
    while (n-- > 0) {
        left = left << 32 | words[n];
        words[n] = (uint32_t) (left / 10);
        left %= 10;
    }
    return (uint32_t) left;
}

static int words_are_zero(const uint32_t *words, size_t n)
{
    while (n > 0)
        if (words[--n] != 0)
            return 0;
    return 1;
}

enum { DECIMAL_WORDS_MAX = 8, DECIMAL_TEXT = 400 };

/* All digits that the scale has, "-12.50": as writers of CSV have it. */
static void add_decimal(const frame_column *column, uint64_t row, cellar_text *text)
{
    const size_t n = column->width / 4;
    uint32_t words[DECIMAL_WORDS_MAX];
    char digits[DECIMAL_TEXT], *p = digits + sizeof digits;
    int is_negative, n_digits = 0;

    memcpy(words, (const char *) column->values + (column->offset + row) * column->width,
           column->width);
    is_negative = words[n - 1] >> 31 != 0;
    for (size_t i = 0, carry = 1; is_negative && i < n; i++) {
        words[i] = ~words[i] + (uint32_t) carry;
        carry = carry && words[i] == 0;
    }
    while (n_digits <= column->scale || !words_are_zero(words, n)) {
        if (n_digits == column->scale && column->scale > 0)
            *--p = '.';
        *--p = (char) ('0' + divide_by_ten(words, n));
        n_digits++;
    }
    if (is_negative)
        *--p = '-';
    cellar_text_add(text, p, (size_t) (digits + sizeof digits - p));
    for (int i = column->scale; i < 0; i++) /* a negative scale: hundreds and so on */
        cellar_text_add_char(text, '0');
}

/* ---- texts ----------------------------------------------------------------- */

static const char broken_text[] = "the text has no place in its buffer";

/* Where the text of a row begins; that of the one before ends there. */
static int64_t text_start(const frame_column *column, uint64_t row)
{
    const uint64_t at = column->offset + row;
    if (column->width == 4) {
        LOAD(int32_t, column->values, at);
        return loaded;
    }
    LOAD(int64_t, column->values, at);
    return loaded;
}

static const char *add_text(const frame_column *column, uint64_t row, cellar_text *text)
{
    const int64_t begin = text_start(column, row), end = text_start(column, row + 1);
    if (begin < 0 || end < begin || (end > begin && column->bytes == NULL))
        return broken_text;
    if (end > begin)
        cellar_text_add(text, column->bytes + begin, (size_t) (end - begin));
    return NULL;
}

enum { VIEW_BYTES = 16, VIEW_INLINE = 12 };

/* A view is a length, then twelve bytes of text, or four and the place of all of it. */
static const char *add_view(const frame_column *column, uint64_t row, cellar_text *text)
{
    const char *view = (const char *) column->values + (column->offset + row) * VIEW_BYTES;
    int32_t parts[4]; /* length, prefix, buffer, offset */
    memcpy(parts, view, sizeof parts);
    if (parts[0] < 0)
        return broken_text;
    if (parts[0] <= VIEW_INLINE) {
        cellar_text_add(text, view + 4, (size_t) parts[0]);
        return NULL;
    }
    if (parts[2] < 0 || (size_t) parts[2] >= column->n_buffers || parts[3] < 0 ||
        column->buffers[parts[2]] == NULL ||
        (int64_t) parts[3] + parts[0] > column->buffer_sizes[parts[2]])
        return broken_text;
    cellar_text_add(text, (const char *) column->buffers[parts[2]] + parts[3], (size_t) parts[0]);
    return NULL;
}

/* ---- any value --------------------------------------------------------------- */

static const char *add_level(const frame_column *column, uint64_t row, cellar_text *text)
{
    const uint64_t level = (uint64_t) frame_integer(column, row) - (uint64_t) column->first_code;
    if (level >= column->levels->n)
        return "the code has no level";
    return frame_add_value(column->levels, level, text);
}

const char *frame_add_value(const frame_column *column, uint64_t row, cellar_text *text)
{
    if (frame_is_missing(column, row))
        return NULL;
    if (column->levels != NULL)
        return add_level(column, row, text);
    switch (column->type) {
    case FRAME_INTEGERS:
        add_integer(column, row, text);
        break;
    case FRAME_BOOLS:
        cellar_text_add_string(text,
                               bit_at(column->values, column->offset + row) ? "true" : "false");
        break;
    case FRAME_FLOATS:
        if (!isnan(float_at(column, row)))
            cellar_text_add_number(text, float_at(column, row), column->width == sizeof(float));
        break;
    case FRAME_DECIMALS:
        add_decimal(column, row, text);
        break;
    case FRAME_TEXTS:
        return add_text(column, row, text);
    case FRAME_VIEWS:
        return add_view(column, row, text);
    case FRAME_POINTERS: {
        const char *string = ((const char *const *) column->values)[column->offset + row];
        if (string != NULL)
            cellar_text_add_string(text, string);
        break;
    }
    default:
        break;
    }
    return NULL;
}

/* ---- many values -------------------------------------------------------------- */

static const char too_long[] = "a text is longer than a row may be";

/* The texts of one piece lie in one buffer, with marks of 32 bits. */
enum { TEXT_MAX = 1 << 30 };
static const char too_much[] = "8192 rows hold more than 1 GiB of text";

/* Texts that lie one after the other are copied together. */
static const char *add_texts(const frame_column *column, uint64_t first, size_t n, size_t max_value,
                             cellar_text *text, uint32_t *marks)
{
    const int64_t start = text_start(column, first), stop = text_start(column, first + n);
    const int has_gaps = column->validity != NULL || column->is_missing != NULL;
    const uint32_t base = (uint32_t) text->length;
    int64_t end = start;
    if (start < 0 || stop < start || (stop > start && column->bytes == NULL))
        return broken_text;
    if ((uint64_t) (stop - start) + base > TEXT_MAX)
        return too_much;
    if (stop > start)
        cellar_text_add(text, column->bytes + start, (size_t) (stop - start));
    for (size_t row = 0; row < n; row++) {
        const int64_t begin = end;
        end = text_start(column, first + row + 1);
        if (end < begin || end > stop)
            return broken_text;
        if ((size_t) (end - begin) > max_value)
            return too_long;
        marks[2 * row] = base + (uint32_t) (begin - start) - 1;
        marks[2 * row + 1] = base + (uint32_t) (end - start);
    }
    for (size_t row = 0; has_gaps && row < n; row++)
        if (frame_is_missing(column, first + row))
            marks[2 * row + 1] = marks[2 * row] + 1;
    return NULL;
}

const char *frame_add_values(const frame_column *column, uint64_t first, size_t n, size_t max_value,
                             cellar_text *text, uint32_t *marks)
{
    const char *fault = NULL;
    if (column->type == FRAME_TEXTS && column->levels == NULL)
        return add_texts(column, first, n, max_value, text, marks);
    for (size_t row = 0; fault == NULL && row < n; row++) {
        marks[2 * row] = (uint32_t) text->length - 1;
        fault = frame_add_value(column, first + row, text);
        marks[2 * row + 1] = (uint32_t) text->length;
        if (fault == NULL && marks[2 * row + 1] - marks[2 * row] - 1 > max_value)
            fault = too_long;
        if (fault == NULL && text->length > TEXT_MAX)
            fault = too_much;
    }
    return fault;
}
