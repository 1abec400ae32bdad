/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key of the ledgers that fuzzers open; it protects nothing. */
#ifndef CELLAR_TESTS_FUZZ_LEDGER_KEY_H
#define CELLAR_TESTS_FUZZ_LEDGER_KEY_H

#include <cellar/key.h>

#include "fuzz_file.h"

static inline cellar_key *fuzz_ledger_key(void)
{
    static const char text[] =
        "cellar key 1\n"
        "id edaadec87b865ced\n"
        "created 2026-11-15\n"
        "secret 936fb4de39514ad91085b80bd27f9a09c963aba0e8bb62e3f68f7b8247bfa82a\n";
    char path[FUZZ_PATH_BYTES];
    cellar_key *key;
    cellar_error err;
    fuzz_file(text, sizeof text - 1, path);
    CELLAR_ASSERT(cellar_key_read(path, &key, &err) == CELLAR_OK);
    unlink(path);
    return key;
}

#endif
