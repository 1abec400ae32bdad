/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a participant receives: any bytes, and any text well signed, give a
 * decision or a message. */
#include "fuzz_collection.h"
#include "protocol/lines.h"

static void parse(const fuzz_collection *c, const char *bytes, size_t length)
{
    cellar_decision *decision;
    cellar_error err = {""};
    cellar_status status =
        cellar_decision_parse("fuzz", bytes, length, c->invitation, &decision, &err);
    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    CELLAR_ASSERT((status == CELLAR_OK) == (decision != NULL));
    cellar_decision_free(decision);
}

/* The session differs between runs: the bytes stand behind the lines that name it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fuzz_collection *c = fuzz_collection_open();
    cellar_text text = {0};

    parse(c, (const char *) data, size);
    cellar_text_add_string(&text, "cellar collect decision 1\n");
    lines_add_hex(&text, "session", cellar_invitation_session(c->invitation), 32);
    cellar_text_add(&text, (const char *) data, size);
    lines_sign(&text, c->keys[1]);
    if (!text.failed)
        parse(c, text.bytes, text.length);
    cellar_text_clear(&text);
    return 0;
}
