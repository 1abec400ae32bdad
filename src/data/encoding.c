/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/encoding.h"

#include <string.h>

/* What Windows-1252 has where Latin-1 has control codes, 0x80 to 0x9f (0: undefined). From the
 * mapping table published by the Unicode Consortium. */
static const uint16_t windows1252_high[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

/* The code point of a byte, 0 when it has none. */
static uint32_t encoding_code_point(cellar_encoding encoding, unsigned char byte)
{
    if (encoding == CELLAR_ENCODING_WINDOWS1252 && byte >= 0x80 && byte <= 0x9f)
        return windows1252_high[byte - 0x80];
    return byte;
}

static size_t encoding_ascii_prefix(const char *bytes, size_t length)
{
    size_t n = 0;
    while (n < length && (unsigned char) bytes[n] < 0x80)
        n++;
    return n;
}

int cellar_encoding_to_utf8(cellar_encoding encoding, const char *bytes, size_t length,
                            cellar_text *out)
{
    size_t before = out->length, done = encoding_ascii_prefix(bytes, length);

    if (length > 0 && memchr(bytes, '\0', length) != NULL)
        return 0;
    if (encoding == CELLAR_ENCODING_UTF8) {
        if (!cellar_utf8_valid(bytes + done, length - done))
            return 0;
        done = length;
    }
    cellar_text_add(out, bytes, done);
    for (; done < length && !out->failed; done++) {
        char utf8[4];
        uint32_t code_point = encoding_code_point(encoding, (unsigned char) bytes[done]);
        if (code_point == 0) {
            out->length = before;
            out->bytes[before] = '\0';
            return 0;
        }
        cellar_text_add(out, utf8, cellar_utf8_encode(code_point, utf8));
    }
    return 1;
}
