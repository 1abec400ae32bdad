/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/record_key.h"

#include <cellar/key.h>

#include "base/text.h"

int cellar_record_key_parse(const char *text, size_t length, uint64_t key_range, uint64_t *key)
{
    cellar_int128 value;
    int exact;
    if (key_range > 0)
        return cellar_parse_u64(text, length, key) && *key < key_range;
    if (!cellar_parse_decimal(text, length, 18, &value, &exact) || !exact || value < 0 ||
        value >= (cellar_int128) CELLAR_DECIMAL_KEY_RANGE)
        return 0;
    *key = (uint64_t) value;
    return 1;
}

uint64_t cellar_record_key_derive(const unsigned char *secret, const char *identifier,
                                  size_t length, uint64_t key_range)
{
    return cellar_key_record(secret, identifier, length,
                             key_range > 0 ? key_range : CELLAR_DECIMAL_KEY_RANGE);
}
