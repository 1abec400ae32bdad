/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small things about text: a growing buffer, exact numbers, UTF-8, the nearest word. */
#ifndef CELLAR_BASE_TEXT_H
#define CELLAR_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>

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
void cellar_text_printf(cellar_text *text, const char *format, ...) CELLAR_PRINTF(2, 3);

/* 1 when the bytes are well-formed UTF-8 (no overlong forms, no surrogates). */
int cellar_utf8_valid(const char *bytes, size_t length);
/* Writes the code point as UTF-8 into `out`; answers how many bytes (1 to 4). */
size_t cellar_utf8_encode(uint32_t code_point, char out[4]);

/* The whole text must be the number; no sign, no blanks. 0 when it is not, or too large. */
int cellar_parse_u64(const char *text, size_t length, uint64_t *out);
int cellar_parse_i64(const char *text, size_t length, int64_t *out); /* with optional sign */

/* A plain decimal such as -12.50 or 1e-3 as value * 10^-scale. Digits beyond `scale` are
 * rounded half away from zero, and *exact says whether any were lost (may be NULL).
 * 0 when the text is no number or does not fit. */
__extension__ typedef __int128 cellar_int128;
__extension__ typedef unsigned __int128 cellar_uint128;
int cellar_parse_decimal(const char *text, size_t length, int scale, cellar_int128 *out,
                         int *exact);
/* The shortest plain decimal of value * 10^-scale ("12.5", "-3"). */
void cellar_text_add_decimal(cellar_text *text, cellar_int128 value, int scale);

/* The word of the NULL-terminated list nearest to `word` (edit distance at most a third of
 * its length), or NULL: for "did you mean". */
const char *cellar_nearest_word(const char *word, const char *const *words);

#endif
