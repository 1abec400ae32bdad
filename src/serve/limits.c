/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The generic cell rate algorithm: of everyone only the time is kept at which their bucket will be
 * full again. A time that has passed says nothing, so that its slot is free; where all slots that a
 * name may have are taken, the one that would be free first is used. */
#include "serve/limits.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>

#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"

enum { N_SETS = 4096, N_WAYS = 8, NAME_BYTES = 128 };

typedef struct slot {
    uint64_t who;    /* a keyed hash of the name */
    int64_t full_us; /* when the bucket is full again */
} slot;

struct serve_limits {
    int64_t window_us, step_us; /* of one call */
    unsigned char key[crypto_shorthash_KEYBYTES];
    pthread_mutex_t lock;
    slot slots[N_SETS][N_WAYS];
};

cellar_status serve_limits_create(unsigned calls, unsigned window_seconds, serve_limits **out,
                                  cellar_error *err)
{
    serve_limits *limits = NULL;
    *out = NULL;
    if (calls == 0 || window_seconds == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "limits are at least one call and one second");
    if (sodium_init() < 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "libsodium cannot start");
    limits = cellar_alloc(1, sizeof *limits);
    if (limits == NULL)
        return cellar_fail_memory(err, "limits of calls");
    limits->window_us = (int64_t) window_seconds * 1000000;
    limits->step_us = limits->window_us / calls;
    randombytes_buf(limits->key, sizeof limits->key);
    pthread_mutex_init(&limits->lock, NULL);
    *out = limits;
    return CELLAR_OK;
}

void serve_limits_free(serve_limits *limits)
{
    cellar_free(limits);
}

/* ---- names -------------------------------------------------------------------- */

/* Begins with a letter for its kind, so that no token has the name of an address. */
static size_t name_of(const char *token_name, const char *address, unsigned char out[NAME_BYTES])
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff}; /* IPv4 inside IPv6 */
    unsigned char bytes[16];
    const char *text = token_name != NULL ? token_name : address != NULL ? address : "";
    size_t length = strlen(text) < NAME_BYTES - 1 ? strlen(text) : NAME_BYTES - 1;
    out[0] = token_name != NULL ? 't' : 'a';
    if (token_name == NULL && inet_pton(AF_INET6, text, bytes) == 1) {
        const int is_mapped = memcmp(bytes, mapped, sizeof mapped) == 0;
        length = is_mapped ? 4 : 8;
        out[0] = is_mapped ? '4' : '6';
        memcpy(out + 1, is_mapped ? bytes + 12 : bytes, length);
    } else if (token_name == NULL && inet_pton(AF_INET, text, bytes) == 1) {
        length = 4;
        out[0] = '4';
        memcpy(out + 1, bytes, length);
    } else
        memcpy(out + 1, text, length);
    return length + 1;
}

static slot *find_slot(serve_limits *limits, uint64_t who)
{
    slot *set = limits->slots[who % N_SETS], *first = &set[0];
    for (size_t i = 0; i < N_WAYS; i++) {
        if (set[i].who == who)
            return &set[i];
        if (set[i].full_us < first->full_us)
            first = &set[i];
    }
    *first = (slot){who, 0};
    return first;
}

unsigned serve_limits_take(serve_limits *limits, const char *token_name, const char *address,
                           int64_t now_ms)
{
    unsigned char name[NAME_BYTES];
    uint64_t who;
    const int64_t now = now_ms * 1000;
    int64_t full, wait;
    slot *found;
    crypto_shorthash((unsigned char *) &who, name, name_of(token_name, address, name), limits->key);
    pthread_mutex_lock(&limits->lock);
    found = find_slot(limits, who);
    full = (found->full_us > now ? found->full_us : now) + limits->step_us;
    wait = full - now - limits->window_us;
    if (wait <= 0)
        found->full_us = full;
    pthread_mutex_unlock(&limits->lock);
    return wait <= 0 ? 0 : (unsigned) ((wait + 999999) / 1000000);
}
