/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a participant receives: any bytes give a decision that was signed, or a message. */
#include "fuzz_collection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fuzz_collection *c = fuzz_collection_open();
    cellar_decision *decision;
    cellar_error err = {""};
    cellar_status status =
        cellar_decision_parse("fuzz", (const char *) data, size, c->invitation, &decision, &err);
    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    CELLAR_ASSERT((status == CELLAR_OK) == (decision != NULL));
    cellar_decision_free(decision);
    return 0;
}
