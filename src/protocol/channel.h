/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A private channel between a participant and the shuffler, as bytes: both make keys for this one
 * connection (crypto_kx) and forget them afterwards, and the shuffler signs them. What follows are
 * frames of fixed lengths in two streams (crypto_secretstream): none can be changed, dropped,
 * repeated or exchanged without notice.
 *
 *   participant  "CHEL", version, 0 0 0, round id (32), key (32)
 *   shuffler     "CHEL", version, verdict, 0 0, key (32), stream header (24), signature (64)
 *   participant  stream header (24), then submissions
 *   shuffler     an answer to each: 0 or 1 (refused), and why
 */
#ifndef CELLAR_PROTOCOL_CHANNEL_H
#define CELLAR_PROTOCOL_CHANNEL_H

#include <sodium.h>

#include "protocol/message.h"

enum {
    HELLO_BYTES = 72,
    WELCOME_BYTES = 128,
    STREAM_HEADER_BYTES = 24,
    FRAME_EXTRA_BYTES = 17,
    ANSWER_BYTES = 200,
    CHANNEL_BINDING_BYTES = 32
};

/* What the shuffler says first. */
typedef enum channel_verdict {
    CHANNEL_GO_ON = 0,
    CHANNEL_OTHER_ROUND = 1,
    CHANNEL_BUSY = 2
} channel_verdict;

/* Holds keys: put it in locked memory, wipe it afterwards. */
typedef struct channel {
    unsigned char own_public[32], own_secret[32];
    unsigned char binding[CHANNEL_BINDING_BYTES]; /* a hash of both greetings: no other connection
                                                     has it */
    crypto_secretstream_xchacha20poly1305_state sending, receiving;
} channel;

/* The participant's side. */
void channel_hello(channel *c, const collect_round *round, unsigned char out[HELLO_BYTES]);
/* 0 when the welcome is not the shuffler's. */
int channel_welcomed(channel *c, const collect_round *round,
                     const unsigned char welcome[WELCOME_BYTES], channel_verdict *verdict,
                     unsigned char header[STREAM_HEADER_BYTES]);

/* The shuffler's side. `verdict` may turn into CHANNEL_OTHER_ROUND. 0 for what is no hello. */
int channel_welcome(channel *c, const collect_round *round, const cellar_collect_keys *shuffler,
                    const unsigned char hello[HELLO_BYTES], channel_verdict *verdict,
                    unsigned char out[WELCOME_BYTES]);
int channel_begin(channel *c, const unsigned char header[STREAM_HEADER_BYTES]);

/* One frame: `out` is FRAME_EXTRA_BYTES longer. */
void channel_seal(channel *c, const unsigned char *plain, size_t n, unsigned char *out);
/* 0 when the frame was changed or is not the next one. */
int channel_open(channel *c, const unsigned char *frame, size_t n, unsigned char *plain);

#endif
