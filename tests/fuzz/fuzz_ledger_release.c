/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Releases that claim a place in a ledger: no bytes but a stamp of its own are believed. An input
 * that begins with '+' continues the beginning of a true stamp. */
#include <string.h>

#include <cellar/ledger.h>

#include "base/text.h"
#include "fuzz_ledger_key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cellar_ledger *ledger;
    char path[FUZZ_PATH_BYTES];
    cellar_text text = {0};
    cellar_against found;
    cellar_error err = {""};

    if (ledger == NULL)
        ledger = fuzz_empty_ledger();
    if (size > 0 && data[0] == '+')
        cellar_text_printf(&text, "cellar-ledger 1 %s ", cellar_ledger_id(ledger));
    cellar_text_add(&text, (const char *) data + (text.length > 0), size - (text.length > 0));
    CELLAR_ASSERT(!text.failed);
    fuzz_file(text.length > 0 ? text.bytes : "", text.length, path);
    /* the only entry is no charge */
    CELLAR_ASSERT(cellar_ledger_verify_against(ledger, path, &found, &err) != CELLAR_OK);
    CELLAR_ASSERT(err.message[0] != '\0');
    cellar_text_clear(&text);
    unlink(path);
    return 0;
}
