/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small things about text that programs on top of the library need as well. */
#ifndef CELLAR_TEXT_H
#define CELLAR_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 when the bytes are well-formed UTF-8 (no overlong forms, no surrogates). */
CELLAR_API int cellar_utf8_valid(const char *bytes, size_t length);

/* The whole text must be the number; no sign, no blanks. 0 when it is not, or too large. */
CELLAR_API int cellar_parse_u64(const char *text, size_t length, uint64_t *out);

/* The word of the NULL-terminated list nearest to `word` (edit distance at most a third of
 * its length plus one, and not every letter differs), or NULL: for "did you mean". */
CELLAR_API const char *cellar_nearest_word(const char *word, const char *const *words);

#ifdef __cplusplus
}
#endif

#endif
