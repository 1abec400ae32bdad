/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a shuffler receives: any bytes, and any content in good envelopes. */
#include <string.h>

#include "fuzz_collection.h"
#include "protocol/message.h"

/* The bytes as they are, behind a good header, and as the body of a message well sealed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fuzz_collection *c = fuzz_collection_open();
    unsigned char bytes[SUBMISSION_HEADER_BYTES + 2 * MESSAGE_OUTER_MAX] = {0};
    unsigned char id[MESSAGE_ID_BYTES], inner[MESSAGE_INNER_MAX], body[MESSAGE_BODY_MAX];
    unsigned char ticket[TICKET_BYTES] = {0};
    collect_round round;
    cellar_error err = {""};
    size_t column;
    uint32_t level;

    round_one(c->invitation, &round);
    CELLAR_ASSERT((submission_check(&round, data, size, &err) == CELLAR_OK) ==
                  (err.message[0] == '\0'));
    submission_header(&round, bytes);
    memcpy(bytes + SUBMISSION_HEADER_BYTES, data,
           size < 2 * MESSAGE_OUTER_MAX ? size : 2 * MESSAGE_OUTER_MAX);
    CELLAR_ASSERT(submission_check(&round, bytes, round_submission_bytes(&round), &err) ==
                  CELLAR_OK);
    CELLAR_ASSERT(!message_peel(&round, c->keys[2], bytes + SUBMISSION_HEADER_BYTES, id, inner));
    memset(body, 0, sizeof body);
    memcpy(body, data, size < round.body_bytes ? size : round.body_bytes);
    message_seal(&round, ticket, size, body, bytes);
    CELLAR_ASSERT(message_peel(&round, c->keys[2], bytes, id, inner));
    CELLAR_ASSERT(message_open(&round, c->keys[1], inner, id, body));
    if (value_read(c->invitation, body, &column, &level))
        CELLAR_ASSERT(column < 2 && level < 2);
    return 0;
}
