/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Key files: the secrets behind keyed noise, record keys, ledgers and signatures. */
#ifndef CELLAR_KEY_H
#define CELLAR_KEY_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/output.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_key cellar_key; /* lies in locked memory; does not survive fork() */

/* What a secret is used for; each use has a secret of its own. */
typedef enum cellar_key_use {
    CELLAR_KEY_NOISE = 1,   /* cellar_rng_create_keyed() */
    CELLAR_KEY_RECORDS = 2, /* record keys */
    CELLAR_KEY_LEDGER = 3,  /* the chain of a ledger's history */
    CELLAR_KEY_COLLECT = 4, /* a role or a participant of a collection */
    CELLAR_KEY_SIGN = 5     /* cellar_manifest_sign() */
} cellar_key_use;

enum { CELLAR_KEY_SECRET_BYTES = 32 };

/* ---- files ----------------------------------------------------------------- */

/* Makes a new secret and writes it to `path`, which must not exist (CELLAR_ERR_EXISTS), with mode
 * 0600. `edition` names the one edition of the data the key is for (NULL: none is named): one line
 * of UTF-8, at most 200 bytes. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_key_create(const char *path, const char *edition,
                                                            cellar_error *err);

/* Puts a new key in the place of the one in `path`. The old key stays in "PATH.ID", for what was
 * made with it; `edition` NULL names none. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_key_rotate(const char *path, const char *edition,
                                                            cellar_error *err);

/* Reads a key file. One that others could read, that belongs to another user or that is no plain
 * file is refused (CELLAR_ERR_RULE). On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_key_read(const char *path, cellar_key **out,
                                                          cellar_error *err);
CELLAR_API void cellar_key_free(cellar_key *key); /* wipes; NULL is fine */

/* ---- queries --------------------------------------------------------------- */

/* 16 hexadecimal digits that tell this key from others and nothing about the secret: may be
 * published. */
CELLAR_API const char *cellar_key_id(const cellar_key *key) CELLAR_NONNULL(1);
/* The edition, or NULL. */
CELLAR_API const char *cellar_key_edition(const cellar_key *key) CELLAR_NONNULL(1);
/* The day it was made, such as 2026-11-15. */
CELLAR_API const char *cellar_key_created(const cellar_key *key) CELLAR_NONNULL(1);

/* The secret of a use. Wipe it afterwards. */
CELLAR_API void cellar_key_secret(const cellar_key *key, cellar_key_use use,
                                  unsigned char secret[CELLAR_KEY_SECRET_BYTES]) CELLAR_NONNULL(1);

/* ---- record keys ----------------------------------------------------------- */

/* Keys below `key_range` from stable record identifiers: a keyed hash of the identifier alone, so
 * that a record's key depends on no other record. `secret` is that of CELLAR_KEY_RECORDS. */
CELLAR_API uint64_t cellar_key_record(const unsigned char secret[CELLAR_KEY_SECRET_BYTES],
                                      const void *identifier, size_t length, uint64_t key_range);

/* ---- signatures ------------------------------------------------------------ */

enum { CELLAR_PUBLIC_KEY_BYTES = 32, CELLAR_SIGNATURE_BYTES = 64 };

/* What others need to check signatures (Ed25519) of the key with this id. No secret. */
typedef struct cellar_public_key {
    char id[17];
    unsigned char bytes[CELLAR_PUBLIC_KEY_BYTES];
} cellar_public_key;

/* The public half of a key. */
CELLAR_API cellar_public_key cellar_key_public(const cellar_key *key);

/* Public keys in files of three lines. `options` as for cellar_output_open(). */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_public_key_write(const cellar_public_key *key, const char *path,
                        const cellar_output_options *options, cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_public_key_read(const char *path,
                                                                 cellar_public_key *out,
                                                                 cellar_error *err);

/* Signs a message. `purpose` is a few words that keep a signature from being used for another
 * thing: the same words are needed to verify it. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_key_sign(const cellar_key *key, const char *purpose, const void *message, size_t length,
                unsigned char signature[CELLAR_SIGNATURE_BYTES], cellar_error *err);
/* 1 when the key signed this message for this purpose. */
CELLAR_API int cellar_public_key_verifies(const cellar_public_key *key, const char *purpose,
                                          const void *message, size_t length,
                                          const unsigned char signature[CELLAR_SIGNATURE_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
