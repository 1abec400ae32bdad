/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of a file as UTF-8. */
#ifndef CELLAR_DATA_ENCODING_H
#define CELLAR_DATA_ENCODING_H

#include <cellar/microdata.h>

#include "base/text.h"

/* Appends the bytes to `out` as UTF-8. 0 when they are not text in that encoding (malformed UTF-8,
 * a byte Windows-1252 leaves undefined, or a NUL); `out` is then unchanged. */
int cellar_encoding_to_utf8(cellar_encoding encoding, const char *bytes, size_t length,
                            cellar_text *out);

#endif
