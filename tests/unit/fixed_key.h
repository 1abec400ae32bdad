/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys that are the same in every run: their secret is a number. */
#ifndef CELLAR_TESTS_FIXED_KEY_H
#define CELLAR_TESTS_FIXED_KEY_H

#include <stdio.h>
#include <sys/stat.h>

#include <sodium.h>

#include <cellar/key.h>

#include "check.h"
#include "scratch.h"
#include "splitmix.h"

static inline cellar_key *fixed_key(scratch *place, uint64_t number, const char *edition)
{
    unsigned char secret[CELLAR_KEY_SECRET_BYTES], hash[32];
    char digits[2 * sizeof secret + 1], id[17];
    cellar_key *key = NULL;
    cellar_error err;
    FILE *file = fopen(scratch_path(place, "fixed.key"), "w");

    assert_non_null(file);
    for (size_t i = 0; i < sizeof secret; i++)
        secret[i] = (unsigned char) next_random(&number);
    crypto_generichash(hash, sizeof hash, (const unsigned char *) "cellar key id", 13, secret,
                       sizeof secret);
    sodium_bin2hex(id, sizeof id, hash, 8);
    sodium_bin2hex(digits, sizeof digits, secret, sizeof secret);
    fprintf(file, "cellar key 1\nid %s\ncreated 2026-07-01\nedition %s\nsecret %s\n", id, edition,
            digits);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(scratch_path(place, "fixed.key"), 0600), 0);
    if (cellar_key_read(scratch_path(place, "fixed.key"), &key, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return key;
}

#endif
