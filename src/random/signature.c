/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signatures of a key file: Ed25519 over a hash of the purpose and the message. */
#include <string.h>

#include <sodium.h>

#include <cellar/key.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

enum { FILE_MAX = 256, HASH_BYTES = 64 };

static const char HEADER[] = "cellar public key 1";

/* Fills both halves; the secret one is wiped by the caller. */
static void pair_make(const cellar_key *key, unsigned char public_half[CELLAR_PUBLIC_KEY_BYTES],
                      unsigned char secret_half[crypto_sign_SECRETKEYBYTES])
{
    unsigned char seed[CELLAR_KEY_SECRET_BYTES];
    cellar_key_secret(key, CELLAR_KEY_SIGN, seed);
    crypto_sign_seed_keypair(public_half, secret_half, seed);
    cellar_wipe(seed, sizeof seed);
}

cellar_public_key cellar_key_public(const cellar_key *key)
{
    cellar_public_key out;
    unsigned char secret_half[crypto_sign_SECRETKEYBYTES];
    pair_make(key, out.bytes, secret_half);
    cellar_wipe(secret_half, sizeof secret_half);
    memcpy(out.id, cellar_key_id(key), sizeof out.id);
    return out;
}

/* ---- files ----------------------------------------------------------------- */

cellar_status cellar_public_key_write(const cellar_public_key *key, const char *path,
                                      const cellar_output_options *options, cellar_error *err)
{
    char digits[2 * CELLAR_PUBLIC_KEY_BYTES + 1];
    cellar_output *output;
    cellar_status status = cellar_output_open(path, options, &output, err);
    if (status != CELLAR_OK)
        return status;
    sodium_bin2hex(digits, sizeof digits, key->bytes, sizeof key->bytes);
    cellar_output_printf(output, "%s\nid %s\ned25519 %s\n", HEADER, key->id, digits);
    return cellar_output_commit(output, err);
}

/* Fills the key when the text is a public key file's, to the byte. */
static int public_key_parse(const char *text, size_t length, cellar_public_key *key)
{
    const size_t id_at = sizeof HEADER + 3, id_length = sizeof key->id - 1;
    const size_t key_at = id_at + id_length + 9, key_length = 2 * sizeof key->bytes;
    size_t n = 0;
    return length == key_at + key_length + 1 && strncmp(text, HEADER, sizeof HEADER - 1) == 0 &&
           strncmp(text + sizeof HEADER - 1, "\nid ", 4) == 0 &&
           strspn(text + id_at, "0123456789abcdef") == id_length &&
           memcpy(key->id, text + id_at, id_length) != NULL &&
           strncmp(text + id_at + id_length, "\ned25519 ", 9) == 0 &&
           sodium_hex2bin(key->bytes, sizeof key->bytes, text + key_at, key_length, NULL, &n,
                          NULL) == 0 &&
           n == sizeof key->bytes && text[length - 1] == '\n';
}

cellar_status cellar_public_key_read(const char *path, cellar_public_key *out, cellar_error *err)
{
    char *text = NULL;
    size_t length;
    cellar_status status = cellar_file_read_plain(path, FILE_MAX, &text, &length, err);
    memset(out, 0, sizeof *out);
    if (status == CELLAR_OK && !public_key_parse(text, length, out))
        status = cellar_fail(
            err, CELLAR_ERR_INPUT,
            "%s: is no public key, or a damaged one (cellar key public writes one)", path);
    cellar_free(text);
    return status;
}

/* ---- messages -------------------------------------------------------------- */

/* The purpose goes first, with its NUL, so that no other purpose and message give these bytes. */
static void message_hash(const char *purpose, const void *message, size_t length,
                         unsigned char hash[HASH_BYTES])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, HASH_BYTES);
    crypto_generichash_update(&state, (const unsigned char *) purpose, strlen(purpose) + 1);
    crypto_generichash_update(&state, message, length);
    crypto_generichash_final(&state, hash, HASH_BYTES);
}

cellar_status cellar_key_sign(const cellar_key *key, const char *purpose, const void *message,
                              size_t length, unsigned char signature[CELLAR_SIGNATURE_BYTES],
                              cellar_error *err)
{
    unsigned char public_half[CELLAR_PUBLIC_KEY_BYTES], hash[HASH_BYTES];
    unsigned char secret_half[crypto_sign_SECRETKEYBYTES];
    int failed;
    pair_make(key, public_half, secret_half);
    message_hash(purpose, message, length, hash);
    failed = crypto_sign_detached(signature, NULL, hash, sizeof hash, secret_half);
    cellar_wipe(secret_half, sizeof secret_half);
    if (failed)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "Ed25519 of libsodium failed");
    return CELLAR_OK;
}

int cellar_public_key_verifies(const cellar_public_key *key, const char *purpose,
                               const void *message, size_t length,
                               const unsigned char signature[CELLAR_SIGNATURE_BYTES])
{
    unsigned char hash[HASH_BYTES];
    if (sodium_init() < 0)
        return 0;
    message_hash(purpose, message, length, hash);
    return crypto_sign_verify_detached(signature, hash, sizeof hash, key->bytes) == 0;
}
