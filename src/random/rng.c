/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One engine, AES-256-CTR in blocks of 64 KiB with fast key erasure: the first bytes of a block
 * are the key of the next and are erased before any byte of the block is handed out (Bernstein,
 * "Fast-key-erasure random-number generators", 2017). The sources differ in their first key, and
 * in that only the secure one takes in new entropy. */
#include "random/rng.h"

#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/locked.h"

enum { KEY_BYTES = CELLAR_RNG_KEY_BYTES, BUFFER_BYTES = 1 << 16, RESEED_BYTES = 1 << 30 };

typedef enum rng_kind { RNG_SECURE, RNG_SEEDED, RNG_KEYED, RNG_SOURCE } rng_kind;

/* What must not be swapped, dumped or inherited. Consumed bytes are zero, so the buffer is
 * always ready to be encrypted in place: a block of the key stream is the encryption of zeros. */
typedef struct rng_state {
    unsigned char buffer[BUFFER_BYTES];
    unsigned char key[KEY_BYTES];    /* of the next block */
    unsigned char secret[KEY_BYTES]; /* keyed: what predicates are hashed under */
    size_t n_used;                   /* bytes of the buffer handed out or not yet made */
    uint64_t n_since_reseed;
    int ready; /* 0 in a zeroed state: a new one, or a forked child's */
} rng_state;

struct cellar_rng {
    rng_kind kind;
    rng_state *state;
    EVP_CIPHER_CTX *cipher;
    int has_cipher;     /* 1: AES is set up in it, and only the key changes */
    size_t block_bytes; /* keyed: small, as a cell needs few bytes */
    int wiped_on_fork;
    pid_t owner; /* secure, when the kernel cannot wipe on fork */
    cellar_rng_source *source;
    void *context;
};

/* ---- the engine ------------------------------------------------------------ */

static cellar_status rng_fail_cipher(cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "AES-256-CTR of libcrypto failed");
}

/* Starts the stream of a key: nothing is buffered, and the buffer is zero. */
static void rng_rekey(cellar_rng *rng, const unsigned char key[KEY_BYTES])
{
    rng_state *s = rng->state;
    cellar_wipe(s->buffer + s->n_used, rng->block_bytes - s->n_used); /* all else is zero */
    memcpy(s->key, key, KEY_BYTES);
    s->n_used = rng->block_bytes;
    s->n_since_reseed = 0;
    s->ready = 1;
}

static void rng_reseed(cellar_rng *rng)
{
    unsigned char key[KEY_BYTES];
    randombytes_buf(key, sizeof key); /* from getrandom(2); aborts rather than fail */
    rng_rekey(rng, key);
    cellar_wipe(key, sizeof key);
    rng->owner = getpid();
}

static cellar_status rng_refill(cellar_rng *rng, cellar_error *err)
{
    static const unsigned char zero[16] = {0};
    rng_state *s = rng->state;
    int length = 0;

    if (rng->kind == RNG_SECURE && s->n_since_reseed >= RESEED_BYTES)
        rng_reseed(rng);
    /* the cipher is named once: looking it up takes longer than a block */
    if (EVP_EncryptInit_ex(rng->cipher, rng->has_cipher ? NULL : EVP_aes_256_ctr(), NULL, s->key,
                           zero) != 1 ||
        EVP_EncryptUpdate(rng->cipher, s->buffer, &length, s->buffer, (int) rng->block_bytes) !=
            1 ||
        (size_t) length != rng->block_bytes) {
        s->ready = 0; /* a half-made block is never handed out */
        cellar_wipe(s->buffer, BUFFER_BYTES);
        s->n_used = rng->block_bytes;
        return rng_fail_cipher(err);
    }
    rng->has_cipher = 1;
    memcpy(s->key, s->buffer, KEY_BYTES);
    cellar_wipe(s->buffer, KEY_BYTES);
    s->n_used = KEY_BYTES;
    s->n_since_reseed += rng->block_bytes;
    return CELLAR_OK;
}

/* A secure generator must not repeat its parent's bytes after fork(). */
static cellar_status rng_check(cellar_rng *rng, cellar_error *err)
{
    rng_state *s = rng->state;
    if (rng->kind == RNG_SECURE && (!s->ready || (!rng->wiped_on_fork && rng->owner != getpid())))
        rng_reseed(rng);
    if (!s->ready)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a keyed generator needs a predicate before it gives bits");
    return CELLAR_OK;
}

cellar_status cellar_rng_bytes(cellar_rng *rng, void *bytes, size_t length, cellar_error *err)
{
    unsigned char *out = bytes;
    size_t rest = length;
    cellar_status status = CELLAR_OK;

    if (rng->kind == RNG_SOURCE)
        return rng->source(rng->context, bytes, length, err);
    CELLAR_TRY(rng_check(rng, err));
    while (rest > 0) {
        rng_state *s = rng->state;
        size_t n = rng->block_bytes - s->n_used;
        if (n == 0) {
            CELLAR_TRY(rng_refill(rng, err));
            continue;
        }
        n = n < rest ? n : rest;
        memcpy(out, s->buffer + s->n_used, n);
        cellar_wipe(s->buffer + s->n_used, n);
        s->n_used += n;
        out += n;
        rest -= n;
    }
out:
    if (status != CELLAR_OK)
        cellar_wipe(bytes, length);
    return status;
}

/* ---- life cycle ------------------------------------------------------------ */

static cellar_status rng_create(rng_kind kind, cellar_rng **out, cellar_error *err)
{
    cellar_rng *rng;

    *out = NULL;
    if (sodium_init() < 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "libsodium could not be initialised");
    rng = cellar_alloc(1, sizeof *rng);
    if (rng == NULL)
        return cellar_fail_memory(err, "a random generator");
    rng->kind = kind;
    rng->block_bytes = kind == RNG_KEYED ? 512 : BUFFER_BYTES;
    if (kind != RNG_SOURCE) {
        rng->state = cellar_locked_alloc(sizeof *rng->state, &rng->wiped_on_fork);
        rng->cipher = EVP_CIPHER_CTX_new();
        if (rng->state == NULL || rng->cipher == NULL) {
            cellar_rng_free(rng);
            return cellar_fail_memory(err, "a random generator");
        }
    }
    *out = rng;
    return CELLAR_OK;
}

void cellar_rng_free(cellar_rng *rng)
{
    if (rng == NULL)
        return;
    EVP_CIPHER_CTX_free(rng->cipher); /* clears the key schedule */
    cellar_locked_free(rng->state, sizeof *rng->state);
    cellar_free(rng);
}

int cellar_rng_is_secure(const cellar_rng *rng)
{
    return rng->kind == RNG_SECURE || rng->kind == RNG_KEYED;
}

cellar_status cellar_rng_create_secure(cellar_rng **out, cellar_error *err)
{
    cellar_status status = rng_create(RNG_SECURE, out, err);
    if (status == CELLAR_OK)
        rng_reseed(*out);
    return status;
}

cellar_status cellar_rng_create_source(cellar_rng_source *source, void *context, cellar_rng **out,
                                       cellar_error *err)
{
    cellar_status status = rng_create(RNG_SOURCE, out, err);
    if (status == CELLAR_OK) {
        (*out)->source = source;
        (*out)->context = context;
    }
    return status;
}

/* ---- keys from seeds and predicates ---------------------------------------- */

/* Hashes length-prefixed fields, so that no two lists of fields look alike. */
static void hash_field(crypto_generichash_state *hash, const void *bytes, size_t length)
{
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (unsigned char) ((uint64_t) length >> (8 * i));
    crypto_generichash_update(hash, prefix, sizeof prefix);
    crypto_generichash_update(hash, bytes, length);
}

static void hash_number(crypto_generichash_state *hash, uint64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char) (number >> (8 * i));
    hash_field(hash, bytes, sizeof bytes);
}

cellar_status cellar_rng_create_seeded(uint64_t seed, uint64_t stream, cellar_rng **out,
                                       cellar_error *err)
{
    static const char purpose[] = "cellar simulation";
    unsigned char key[KEY_BYTES];
    crypto_generichash_state hash;
    cellar_status status = rng_create(RNG_SEEDED, out, err);

    if (status != CELLAR_OK)
        return status;
    crypto_generichash_init(&hash, NULL, 0, sizeof key);
    hash_field(&hash, purpose, sizeof purpose - 1);
    hash_number(&hash, seed);
    hash_number(&hash, stream);
    crypto_generichash_final(&hash, key, sizeof key);
    rng_rekey(*out, key);
    return CELLAR_OK;
}

cellar_status cellar_rng_create_keyed(const unsigned char key[CELLAR_RNG_KEY_BYTES],
                                      const cellar_rng_scope *scope, cellar_rng **out,
                                      cellar_error *err)
{
    static const char purpose[] = "cellar keyed noise";
    crypto_generichash_state hash;
    cellar_status status = rng_create(RNG_KEYED, out, err);

    if (status != CELLAR_OK)
        return status;
    crypto_generichash_init(&hash, key, CELLAR_RNG_KEY_BYTES, KEY_BYTES);
    hash_field(&hash, purpose, sizeof purpose - 1);
    hash_field(&hash, scope->edition, strlen(scope->edition));
    hash_field(&hash, scope->mechanism, strlen(scope->mechanism));
    hash_number(&hash, scope->revision);
    crypto_generichash_final(&hash, (*out)->state->secret, KEY_BYTES);
    cellar_wipe(&hash, sizeof hash);
    return CELLAR_OK;
}

cellar_status cellar_rng_select(cellar_rng *rng, const void *predicate, size_t length,
                                cellar_error *err)
{
    unsigned char key[KEY_BYTES];
    if (rng->kind != RNG_KEYED)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "only a keyed generator takes predicates");
    crypto_generichash(key, sizeof key, predicate, length, rng->state->secret, KEY_BYTES);
    rng_rekey(rng, key);
    cellar_wipe(key, sizeof key);
    return CELLAR_OK;
}
