/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

void cellar_text_clear(cellar_text *text)
{
    cellar_free(text->bytes);
    *text = (cellar_text){0};
}

void cellar_text_reset(cellar_text *text)
{
    text->length = 0;
    text->failed = 0;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

static int text_reserve(cellar_text *text, size_t more)
{
    size_t needed;
    if (text->failed || __builtin_add_overflow(text->length, more, &needed) || needed == SIZE_MAX ||
        !cellar_grow(&text->bytes, &text->capacity, needed + 1, 1))
        text->failed = 1;
    return !text->failed;
}

void cellar_text_add(cellar_text *text, const char *bytes, size_t length)
{
    if (!text_reserve(text, length))
        return;
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void cellar_text_add_string(cellar_text *text, const char *string)
{
    cellar_text_add(text, string, strlen(string));
}

void cellar_text_add_char(cellar_text *text, char c)
{
    cellar_text_add(text, &c, 1);
}

void cellar_text_add_quoted(cellar_text *text, const char *word, size_t length)
{
    cellar_text_add_char(text, '"');
    for (size_t i = 0; i < length; i++) {
        if (word[i] == '"')
            cellar_text_add_char(text, '"');
        cellar_text_add_char(text, word[i]);
    }
    cellar_text_add_char(text, '"');
}

void cellar_text_printf(cellar_text *text, const char *format, ...)
{
    va_list arguments, again;
    int length;

    va_start(arguments, format);
    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0)
        text->failed = 1;
    else if (text_reserve(text, (size_t) length)) {
        vsnprintf(text->bytes + text->length, (size_t) length + 1, format, again);
        text->length += (size_t) length;
    }
    va_end(again);
    va_end(arguments);
}

/* ---- UTF-8 ---------------------------------------------------------------- */

/* Length of the sequence a lead byte announces, and the range its second byte must lie in:
 * that range alone excludes overlong forms, surrogates and values above U+10FFFF. */
static size_t utf8_lead(unsigned char lead, unsigned char *low, unsigned char *high)
{
    *low = 0x80;
    *high = 0xbf;
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead <= 0xdf)
        return 2;
    if (lead >= 0xe0 && lead <= 0xef) {
        *low = lead == 0xe0 ? 0xa0 : 0x80;
        *high = lead == 0xed ? 0x9f : 0xbf;
        return 3;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        *low = lead == 0xf0 ? 0x90 : 0x80;
        *high = lead == 0xf4 ? 0x8f : 0xbf;
        return 4;
    }
    return 0;
}

int cellar_utf8_valid(const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *) bytes;
    for (size_t i = 0; i < length;) {
        unsigned char low, high;
        size_t n = utf8_lead(p[i], &low, &high);
        if (n == 0 || n > length - i)
            return 0;
        if (n > 1 && (p[i + 1] < low || p[i + 1] > high))
            return 0;
        for (size_t k = 2; k < n; k++)
            if ((p[i + k] & 0xc0) != 0x80)
                return 0;
        i += n;
    }
    return 1;
}

size_t cellar_utf8_encode(uint32_t code_point, char out[4])
{
    if (code_point < 0x80) {
        out[0] = (char) code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char) (0xc0 | (code_point >> 6));
        out[1] = (char) (0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char) (0xe0 | (code_point >> 12));
        out[1] = (char) (0x80 | ((code_point >> 6) & 0x3f));
        out[2] = (char) (0x80 | (code_point & 0x3f));
        return 3;
    }
    out[0] = (char) (0xf0 | (code_point >> 18));
    out[1] = (char) (0x80 | ((code_point >> 12) & 0x3f));
    out[2] = (char) (0x80 | ((code_point >> 6) & 0x3f));
    out[3] = (char) (0x80 | (code_point & 0x3f));
    return 4;
}

/* ---- numbers -------------------------------------------------------------- */

int cellar_parse_u64(const char *text, size_t length, uint64_t *out)
{
    uint64_t value = 0;
    if (length == 0)
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t) (text[i] - '0'), &value))
            return 0;
    }
    *out = value;
    return 1;
}

int cellar_parse_i64(const char *text, size_t length, int64_t *out)
{
    uint64_t magnitude;
    int negative = length > 0 && text[0] == '-';
    if (length > 0 && (text[0] == '-' || text[0] == '+')) {
        text++;
        length--;
    }
    if (!cellar_parse_u64(text, length, &magnitude) ||
        magnitude > (uint64_t) INT64_MAX + (uint64_t) negative)
        return 0;
    *out = negative ? (int64_t) (0 - magnitude) : (int64_t) magnitude;
    return 1;
}

/* Splits "12.5e-3" into the span of its digits and point, and its exponent. */
static int decimal_exponent(const char *text, size_t *length, int64_t *exponent)
{
    *exponent = 0;
    for (size_t i = 0; i < *length; i++)
        if (text[i] == 'e' || text[i] == 'E') {
            if (!cellar_parse_i64(text + i + 1, *length - i - 1, exponent) || *exponent > 4096 ||
                *exponent < -4096)
                return 0;
            *length = i;
            return 1;
        }
    return 1;
}

/* The magnitude of a decimal cut after `scale` digits, and what was cut off. */
typedef struct decimal_parts {
    cellar_int128 magnitude;
    int negative;
    int lost;     /* a digit other than 0 was cut off */
    int round_up; /* what was cut off is at least a half */
} decimal_parts;

static int decimal_parse(const char *text, size_t length, int scale, decimal_parts *out)
{
    cellar_int128 value = 0;
    int64_t exponent, place; /* place: the power of ten of the digit just read, once known */
    int point = 0;
    int64_t n_fraction = 0;
    size_t n_digits = 0;

    *out = (decimal_parts){.negative = length > 0 && text[0] == '-'};
    if (length > 0 && (text[0] == '-' || text[0] == '+')) {
        text++;
        length--;
    }
    if (!decimal_exponent(text, &length, &exponent))
        return 0;
    for (size_t i = 0; i < length; i++) { /* first the shape, then the value */
        if (text[i] == '.' && !point)
            point = 1;
        else if (text[i] >= '0' && text[i] <= '9') {
            n_digits++;
            n_fraction += point;
        } else
            return 0;
    }
    if (n_digits == 0)
        return 0;
    place = (int64_t) n_digits - n_fraction + exponent; /* power of ten just above the first */
    for (size_t i = 0; i < length; i++) {
        int digit = text[i] - '0';
        if (text[i] == '.')
            continue;
        place--;
        if (place >= -scale) {
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, digit, &value))
                return 0;
        } else {
            if (place == -scale - 1)
                out->round_up = digit >= 5;
            out->lost |= digit != 0;
        }
    }
    for (; value != 0 && place > -scale; place--)
        if (__builtin_mul_overflow(value, 10, &value))
            return 0;
    out->magnitude = value;
    return 1;
}

static int decimal_finish(const decimal_parts *parts, int away, cellar_int128 *out, int *exact)
{
    cellar_int128 value;
    if (__builtin_add_overflow(parts->magnitude, away, &value))
        return 0;
    *out = parts->negative ? -value : value;
    if (exact != NULL)
        *exact = !parts->lost;
    return 1;
}

int cellar_parse_decimal(const char *text, size_t length, int scale, cellar_int128 *out, int *exact)
{
    decimal_parts parts;
    return decimal_parse(text, length, scale, &parts) &&
           decimal_finish(&parts, parts.round_up, out, exact);
}

int cellar_parse_decimal_floor(const char *text, size_t length, int scale, cellar_int128 *out,
                               int *exact)
{
    decimal_parts parts;
    return decimal_parse(text, length, scale, &parts) &&
           decimal_finish(&parts, parts.negative && parts.lost, out, exact);
}

void cellar_text_add_decimal(cellar_text *text, cellar_int128 value, int scale)
{
    char digits[64];
    size_t end = sizeof digits, start = end;
    cellar_uint128 rest = value < 0 ? -(cellar_uint128) value : (cellar_uint128) value;

    CELLAR_ASSERT(scale >= 0 && scale <= 38);
    for (int place = 0; rest != 0 || place <= scale; place++) {
        digits[--start] = (char) ('0' + (int) (rest % 10));
        rest /= 10;
        if (place == scale - 1)
            digits[--start] = '.';
    }
    if (scale > 0) {
        while (digits[end - 1] == '0')
            end--;
        if (digits[end - 1] == '.')
            end--;
    }
    if (value < 0)
        cellar_text_add_char(text, '-');
    cellar_text_add(text, digits + start, end - start);
}

/* ---- nearest word --------------------------------------------------------- */

enum { WORD_MAX = 63 };

/* Levenshtein distance with one row; words longer than WORD_MAX are never near. */
static size_t word_distance(const char *a, const char *b)
{
    size_t row[WORD_MAX + 1], n_a = strlen(a), n_b = strlen(b);
    if (n_a > WORD_MAX || n_b > WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= n_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n_b];
}

const char *cellar_nearest_word(const char *word, const char *const *words)
{
    size_t length = strlen(word), limit = length / 3 + 1, best;
    const char *nearest = NULL;
    if (limit >= length)
        limit = length > 0 ? length - 1 : 0;
    best = limit + 1;
    for (; *words != NULL; words++) {
        size_t distance = word_distance(word, *words);
        if (distance < best) {
            best = distance;
            nearest = *words;
        }
    }
    return nearest;
}

/* To so many digits, and to the next number of so many where that lies on the wrong side. */
static const char *directed_text(double value, int digits, int is_up, char text[32])
{
    double told;
    snprintf(text, 32, "%.*e", digits - 1, value);
    told = strtod(text, NULL);
    if (isfinite(value) && (is_up ? told < value : told > value)) {
        const double last = strtod(text + strcspn(text, "e") + 1, NULL) - (digits - 1);
        snprintf(text, 32, "%.*e", digits - 1, told + (is_up ? 1 : -1) * pow(10, last));
    }
    snprintf(text, 32, "%.*g", digits, strtod(text, NULL));
    return text;
}

const char *cellar_bound_text(double value, char text[32])
{
    return directed_text(value, 6, 1, text);
}

const char *cellar_upper_text(double value, char text[32])
{
    return directed_text(value, 10, 1, text);
}

const char *cellar_lower_text(double value, char text[32])
{
    return directed_text(value, 10, 0, text);
}
