/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small things about text: a growing buffer, exact numbers, UTF-8. */
#ifndef CELLAR_BASE_TEXT_H
#define CELLAR_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/text.h>

/* A growing string, always NUL-terminated once something was added. When memory ends it
 * remembers so in `failed` and ignores what follows: check once, at the end. */
typedef struct cellar_text {
    char *bytes;
    size_t length, capacity;
    int failed;
} cellar_text;

void cellar_text_clear(cellar_text *text); /* frees the bytes; {0} is an empty text */
void cellar_text_reset(cellar_text *text); /* empties it and keeps the bytes */
void cellar_text_add(cellar_text *text, const char *bytes, size_t length);
void cellar_text_add_string(cellar_text *text, const char *string);
void cellar_text_add_char(cellar_text *text, char c);
/* In double quotes, those inside doubled. */
void cellar_text_add_quoted(cellar_text *text, const char *word, size_t length);
void cellar_text_printf(cellar_text *text, const char *format, ...) CELLAR_PRINTF(2, 3);

/* Writes the code point (at most U+10FFFF) as UTF-8 into `out`; answers how many bytes, 1 to 4. */
size_t cellar_utf8_encode(uint32_t code_point, char out[4]);

/* Like cellar_parse_u64(), with an optional sign. */
int cellar_parse_i64(const char *text, size_t length, int64_t *out);

/* A plain decimal such as -12.50 or 1e-3 as value * 10^-scale. Digits beyond `scale` are
 * rounded half away from zero, and *exact says whether any were lost (may be NULL).
 * 0 when the text is no number or does not fit. */
__extension__ typedef __int128 cellar_int128;
__extension__ typedef unsigned __int128 cellar_uint128;
int cellar_parse_decimal(const char *text, size_t length, int scale, cellar_int128 *out,
                         int *exact);
/* The same, but digits beyond `scale` round down: *out is the largest multiple of 10^-scale that
 * is not above the number. So comparing with such multiples is exact whatever the digits. */
int cellar_parse_decimal_floor(const char *text, size_t length, int scale, cellar_int128 *out,
                               int *exact);
/* The shortest plain decimal of value * 10^-scale ("12.5", "-3"); scale is 0 to 38. */
void cellar_text_add_decimal(cellar_text *text, cellar_int128 value, int scale);

/* The decimal of the fewest digits that reads back as the same number, of a float where `single`:
 * "12" for whole numbers below 1e15, "0.1", "1e-9", "inf". The locale makes no difference. */
void cellar_text_add_number(cellar_text *out, double number, int single);

/* A bound with six digits, rounded up: what is printed is a bound, too. Answers `text`. */
const char *cellar_bound_text(double value, char text[32]);
/* The same with ten digits, and of a bound from below, rounded down. */
const char *cellar_upper_text(double value, char text[32]);
const char *cellar_lower_text(double value, char text[32]);

#endif
