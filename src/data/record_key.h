/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Record keys as integers that add exactly, modulo the key range, in any order. */
#ifndef CELLAR_DATA_RECORD_KEY_H
#define CELLAR_DATA_RECORD_KEY_H

#include <stddef.h>
#include <stdint.h>

/* Decimal keys in [0,1) are integers in units of 1e-18. */
#define CELLAR_DECIMAL_KEY_RANGE UINT64_C(1000000000000000000)

/* Reads an integer below `key_range`, or with key_range 0 a decimal in [0,1) of at most 18 digits.
 * 0 when the text is neither. */
int cellar_record_key_parse(const char *text, size_t length, uint64_t key_range, uint64_t *key);

/* The key of the record with that identifier, under a secret (CELLAR_KEY_RECORDS); key_range 0
 * gives a decimal. No other record has a part in it. */
uint64_t cellar_record_key_derive(const unsigned char *secret, const char *identifier,
                                  size_t length, uint64_t key_range);

#endif
