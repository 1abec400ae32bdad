/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers and UTF-8 from hostile bytes: what parses must survive being written and parsed again. */
#include "base/error.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *) data;
    cellar_int128 value, again;
    cellar_text written = {0};
    int64_t number;
    int exact;

    cellar_utf8_valid(bytes, size);
    cellar_parse_i64(bytes, size, &number);
    for (int scale = 0; scale <= 38; scale += 19) {
        if (!cellar_parse_decimal(bytes, size, scale, &value, &exact))
            continue;
        cellar_text_reset(&written);
        cellar_text_add_decimal(&written, value, scale);
        CELLAR_ASSERT(cellar_parse_decimal(written.bytes, written.length, scale, &again, &exact));
        CELLAR_ASSERT(exact && again == value);
    }
    cellar_text_clear(&written);
    return 0;
}
