/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries of a ledger: what is read, written and read again is the same. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "ledger/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_arena *arena = cellar_arena_create(1 << 24);
    cellar_ledger_entry entry, again;
    cellar_text body = {0}, second = {0};
    cellar_error err;

    CELLAR_ASSERT(arena != NULL);
    if (cellar_ledger_entry_read((const char *) data, size, arena, &entry, &err) == CELLAR_OK) {
        CELLAR_ASSERT(cellar_ledger_entry_write(&entry, &body, &err) == CELLAR_OK);
        CELLAR_ASSERT(cellar_ledger_entry_read(body.bytes, body.length, arena, &again, &err) ==
                      CELLAR_OK);
        CELLAR_ASSERT(cellar_ledger_entry_write(&again, &second, &err) == CELLAR_OK);
        CELLAR_ASSERT(strcmp(body.bytes, second.bytes) == 0);
    }
    cellar_text_clear(&body);
    cellar_text_clear(&second);
    cellar_arena_free(arena);
    return 0;
}
