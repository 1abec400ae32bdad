/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What comes over a socket before and after the greeting: refused, or answered, never believed. */
#include <string.h>

#include "fuzz_collection.h"
#include "protocol/channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fuzz_collection *c = fuzz_collection_open();
    unsigned char bytes[WELCOME_BYTES] = {0}, out[WELCOME_BYTES], header[STREAM_HEADER_BYTES];
    unsigned char hello[HELLO_BYTES], plain[256];
    channel_verdict verdict = CHANNEL_GO_ON;
    channel client, server;
    collect_round round;

    round_one(c->invitation, &round);
    memcpy(bytes, data, size < sizeof bytes ? size : sizeof bytes);
    (void) channel_welcome(&server, &round, c->keys[2], bytes, &verdict, out);
    channel_hello(&client, &round, hello);
    CELLAR_ASSERT(!channel_welcomed(&client, &round, bytes, &verdict, header));
    verdict = CHANNEL_GO_ON;
    channel_hello(&client, &round, hello);
    CELLAR_ASSERT(channel_welcome(&server, &round, c->keys[2], hello, &verdict, out));
    CELLAR_ASSERT(channel_welcomed(&client, &round, out, &verdict, header));
    CELLAR_ASSERT(channel_begin(&server, header));
    if (size >= FRAME_EXTRA_BYTES && size <= sizeof plain)
        CELLAR_ASSERT(!channel_open(&server, data, size, plain));
    return 0;
}
