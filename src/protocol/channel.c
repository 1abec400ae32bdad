/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/channel.h"

#include <string.h>

#include "base/memory.h"
#include "protocol/keys.h"

static const unsigned char MAGIC[] = {'C', 'H', 'E', 'L', MESSAGE_VERSION};

/* Where things stand in a welcome. */
enum { VERDICT_AT = 5, KEY_AT = 8, HEADER_AT = 40, SIGNATURE_AT = 64 };

_Static_assert(STREAM_HEADER_BYTES == crypto_secretstream_xchacha20poly1305_HEADERBYTES, "");
_Static_assert(FRAME_EXTRA_BYTES == crypto_secretstream_xchacha20poly1305_ABYTES, "");

/* What the shuffler signs: a label, the hello it answers, and the welcome before the signature. */
static void welcome_digest(const unsigned char hello[HELLO_BYTES],
                           const unsigned char welcome[WELCOME_BYTES], unsigned char digest[32])
{
    static const char label[] = "cellar collect welcome 1";
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, 32);
    crypto_generichash_update(&state, (const unsigned char *) label, sizeof label);
    crypto_generichash_update(&state, hello, HELLO_BYTES);
    crypto_generichash_update(&state, welcome, SIGNATURE_AT);
    crypto_generichash_final(&state, digest, 32);
}

static void hello_fill(const channel *c, const collect_round *round, unsigned char out[HELLO_BYTES])
{
    memset(out, 0, HELLO_BYTES);
    memcpy(out, MAGIC, sizeof MAGIC);
    memcpy(out + 8, round->id, sizeof round->id);
    memcpy(out + 40, c->own_public, 32);
}

void channel_hello(channel *c, const collect_round *round, unsigned char out[HELLO_BYTES])
{
    crypto_kx_keypair(c->own_public, c->own_secret);
    hello_fill(c, round, out);
}

int channel_welcomed(channel *c, const collect_round *round,
                     const unsigned char welcome[WELCOME_BYTES], channel_verdict *verdict,
                     unsigned char header[STREAM_HEADER_BYTES])
{
    unsigned char hello[HELLO_BYTES], receive[32], send[32];
    int ok;

    hello_fill(c, round, hello);
    welcome_digest(hello, welcome, c->binding);
    ok = memcmp(welcome, MAGIC, sizeof MAGIC) == 0 && welcome[VERDICT_AT] <= CHANNEL_BUSY &&
         crypto_sign_verify_detached(welcome + SIGNATURE_AT, c->binding, sizeof c->binding,
                                     round->shuffler.sign) == 0 &&
         crypto_kx_client_session_keys(receive, send, c->own_public, c->own_secret,
                                       welcome + KEY_AT) == 0 &&
         crypto_secretstream_xchacha20poly1305_init_pull(&c->receiving, welcome + HEADER_AT,
                                                         receive) == 0;
    if (ok) {
        *verdict = (channel_verdict) welcome[VERDICT_AT];
        crypto_secretstream_xchacha20poly1305_init_push(&c->sending, header, send);
    }
    cellar_wipe(c->own_secret, sizeof c->own_secret);
    cellar_wipe(receive, sizeof receive);
    cellar_wipe(send, sizeof send);
    return ok;
}

int channel_welcome(channel *c, const collect_round *round, const cellar_collect_keys *shuffler,
                    const unsigned char hello[HELLO_BYTES], channel_verdict *verdict,
                    unsigned char out[WELCOME_BYTES])
{
    unsigned char receive[32], send[32];

    if (memcmp(hello, MAGIC, sizeof MAGIC) != 0)
        return 0;
    if (memcmp(hello + 8, round->id, sizeof round->id) != 0)
        *verdict = CHANNEL_OTHER_ROUND;
    crypto_kx_keypair(c->own_public, c->own_secret);
    if (crypto_kx_server_session_keys(receive, send, c->own_public, c->own_secret, hello + 40) != 0)
        return 0;
    memcpy(c->own_secret, receive, sizeof receive); /* waits there for the stream header */
    memset(out, 0, WELCOME_BYTES);
    memcpy(out, MAGIC, sizeof MAGIC);
    out[VERDICT_AT] = (unsigned char) *verdict;
    memcpy(out + KEY_AT, c->own_public, 32);
    crypto_secretstream_xchacha20poly1305_init_push(&c->sending, out + HEADER_AT, send);
    welcome_digest(hello, out, c->binding);
    crypto_sign_detached(out + SIGNATURE_AT, NULL, c->binding, sizeof c->binding,
                         shuffler->sign_secret);
    cellar_wipe(receive, sizeof receive);
    cellar_wipe(send, sizeof send);
    return 1;
}

int channel_begin(channel *c, const unsigned char header[STREAM_HEADER_BYTES])
{
    int ok =
        crypto_secretstream_xchacha20poly1305_init_pull(&c->receiving, header, c->own_secret) == 0;
    cellar_wipe(c->own_secret, sizeof c->own_secret);
    return ok;
}

void channel_seal(channel *c, const unsigned char *plain, size_t n, unsigned char *out)
{
    crypto_secretstream_xchacha20poly1305_push(&c->sending, out, NULL, plain, n, NULL, 0, 0);
}

int channel_open(channel *c, const unsigned char *frame, size_t n, unsigned char *plain)
{
    unsigned char tag;
    return crypto_secretstream_xchacha20poly1305_pull(&c->receiving, plain, NULL, &tag, frame, n,
                                                      NULL, 0) == 0;
}
