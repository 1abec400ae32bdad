/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Witnesses from hostile bytes: who lacks the key of the ledger adds no line that counts. An input
 * that begins with '+' continues the beginning of a true line. */
#include "base/text.h"
#include "fuzz_ledger_key.h"
#include "ledger/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cellar_ledger *ledger;
    char path[FUZZ_PATH_BYTES];
    cellar_text text = {0};
    cellar_sighting seen;
    cellar_error err = {""};

    if (ledger == NULL)
        ledger = fuzz_empty_ledger();
    if (size > 0 && data[0] == '+')
        cellar_text_printf(&text, "\ncellar-witness 1 %s ", cellar_ledger_id(ledger));
    cellar_text_add(&text, (const char *) data + (text.length > 0), size - (text.length > 0));
    CELLAR_ASSERT(!text.failed);
    fuzz_file(text.length > 0 ? text.bytes : "", text.length, path);
    CELLAR_ASSERT(cellar_witness_read(ledger, path, &seen, &err) == CELLAR_OK);
    CELLAR_ASSERT(seen.n_entries == 0 && seen.generation == 0);
    cellar_text_clear(&text);
    unlink(path);
    return 0;
}
