/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key of the ledgers that fuzzers open, which protects nothing, and such a ledger. */
#ifndef CELLAR_TESTS_FUZZ_LEDGER_KEY_H
#define CELLAR_TESTS_FUZZ_LEDGER_KEY_H

#include <cellar/key.h>
#include <cellar/ledger.h>

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

/* A ledger with nothing in it, whose file is gone already. */
static inline cellar_ledger *fuzz_empty_ledger(void)
{
    char path[FUZZ_PATH_BYTES], lock[FUZZ_PATH_BYTES + 8];
    cellar_key *key = fuzz_ledger_key();
    cellar_ledger *ledger;
    cellar_error err;
    fuzz_file("", 0, path);
    unlink(path);
    CELLAR_ASSERT(cellar_ledger_create(path, key, &err) == CELLAR_OK);
    CELLAR_ASSERT(cellar_ledger_open(path, key, &ledger, &err) == CELLAR_OK);
    snprintf(lock, sizeof lock, "%s-lock", path);
    unlink(lock);
    unlink(path);
    cellar_key_free(key);
    return ledger;
}

#endif
