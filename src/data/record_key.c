/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/record_key.h"

#include <cellar/key.h>

#include "base/text.h"

/* "0." and 1 to 18 digits, as nearly all keys are spelled; the general reader takes the others. */
static int key_parse_plain(const char *text, size_t length, uint64_t *key)
{
    static const uint64_t powers[] = {UINT64_C(1000000000000000000),
                                      UINT64_C(100000000000000000),
                                      UINT64_C(10000000000000000),
                                      UINT64_C(1000000000000000),
                                      UINT64_C(100000000000000),
                                      UINT64_C(10000000000000),
                                      UINT64_C(1000000000000),
                                      UINT64_C(100000000000),
                                      UINT64_C(10000000000),
                                      UINT64_C(1000000000),
                                      UINT64_C(100000000),
                                      10000000,
                                      1000000,
                                      100000,
                                      10000,
                                      1000,
                                      100,
                                      10,
                                      1};
    uint64_t value = 0;
    if (length < 3 || length > 20 || text[0] != '0' || text[1] != '.')
        return 0;
    for (size_t i = 2; i < length; i++) {
        unsigned digit = (unsigned) (unsigned char) text[i] - '0';
        if (digit > 9)
            return 0;
        value = value * 10 + digit;
    }
    *key = value * powers[length - 2];
    return 1;
}

int cellar_record_key_parse(const char *text, size_t length, uint64_t key_range, uint64_t *key)
{
    cellar_int128 value;
    int exact;
    if (key_range > 0)
        return cellar_parse_u64(text, length, key) && *key < key_range;
    if (key_parse_plain(text, length, key))
        return 1;
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
