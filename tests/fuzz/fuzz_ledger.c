/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ledgers from hostile bytes: what opens under the key verifies, and has a history that begins. */
#include <string.h>

#include <cellar/ledger.h>

#include "fuzz_ledger_key.h"

static void check(cellar_ledger *ledger)
{
    cellar_error err;
    CELLAR_ASSERT(cellar_ledger_n_entries(ledger) > 0);
    CELLAR_ASSERT(cellar_ledger_entry_at(ledger, 0)->kind == CELLAR_ENTRY_CREATE);
    CELLAR_ASSERT(strlen(cellar_ledger_head(ledger)) == CELLAR_LEDGER_HASH_TEXT - 1);
    (void) (cellar_ledger_verify(ledger, &err) ==
            CELLAR_OK); /* pages that no entry needs may be damaged */
    cellar_ledger_statement(ledger, "census");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cellar_key *key;
    char path[FUZZ_PATH_BYTES], other[FUZZ_PATH_BYTES + 16];
    cellar_ledger *ledger;
    cellar_error err = {""};
    cellar_status status;

    if (key == NULL)
        key = fuzz_ledger_key();
    fuzz_file(data, size, path);
    status = cellar_ledger_open(path, key, &ledger, &err);
    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    if (status == CELLAR_OK)
        check(ledger);
    cellar_ledger_close(ledger);
    unlink(path);
    snprintf(other, sizeof other, "%s-lock", path);
    unlink(other);
    snprintf(other, sizeof other, "%s-journal", path);
    unlink(other);
    return 0;
}
