/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What everybody receives in an open collection: any bytes, and any rows well signed. */
#include <string.h>

#include <sodium.h>

#include "base/memory.h"
#include "fuzz_collection.h"
#include "protocol/keys.h"
#include "protocol/tally.h"

enum { HEADER_BYTES = 48 };

static void parse(const fuzz_collection *c, const unsigned char *bytes, size_t size)
{
    cellar_collect_margins *margins = NULL;
    cellar_error err = {""};
    if (tally_parse("fuzz", bytes, size, c->invitation, &margins, &err) == CELLAR_OK)
        CELLAR_ASSERT(cellar_collect_margins_n_people(margins) >= 2);
    else
        CELLAR_ASSERT(margins == NULL && err.message[0] != '\0');
    cellar_collect_margins_free(margins);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char start[] = {'C', 'T', 'A', 'L', 1, 1, 0, 0};
    static const cellar_invitation_spec terms = {.epsilon = "1", .is_open = 1, .delta = "0.1"};
    const fuzz_collection *c = fuzz_collection_with(&terms);
    size_t rows = size / TALLY_ROW_BYTES, length = HEADER_BYTES + rows * TALLY_ROW_BYTES;
    unsigned char *bytes = cellar_alloc(length + COLLECT_SIGNATURE_BYTES, 1);
    collect_round round;
    crypto_sign_state state;

    CELLAR_ASSERT(bytes != NULL);
    parse(c, data, size);
    round_one(c->invitation, &round);
    memcpy(bytes, start, sizeof start);
    bytes_put(bytes + 8, 8, rows);
    memcpy(bytes + 16, round.id, sizeof round.id);
    memcpy(bytes + HEADER_BYTES, data, rows * TALLY_ROW_BYTES);
    crypto_sign_init(&state);
    crypto_sign_update(&state, bytes, length);
    crypto_sign_final_create(&state, bytes + length, NULL, c->keys[1]->sign_secret);
    parse(c, bytes, length + COLLECT_SIGNATURE_BYTES);
    cellar_free(bytes);
    return 0;
}
