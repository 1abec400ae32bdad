/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random bits: secure ones for releases, seeded ones for simulation, keyed ones for noise that
 * repeats itself. A generator belongs to one thread. */
#ifndef CELLAR_RANDOM_H
#define CELLAR_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_rng cellar_rng;

enum { CELLAR_RNG_KEY_BYTES = 32 };

/* AES-256 in counter mode under a key from the operating system. Every block of bytes is made
 * under a key of its own, derived from the block before (what was handed out cannot be computed
 * from what is in memory); fresh entropy comes in after every 2^30 bytes and in the child after
 * fork(). Bytes are overwritten when handed out; buffer and keys lie in memory that is locked
 * (where the system allows) and left out of core dumps. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_rng_create_secure(cellar_rng **out,
                                                                   cellar_error *err);

/* The same bits for the same seed and stream, for simulation only: cellar_rng_is_secure() answers
 * 0, and nothing drawn from it can become a release. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_rng_create_seeded(uint64_t seed, uint64_t stream,
                                                                   cellar_rng **out,
                                                                   cellar_error *err);

/* What keyed noise is a function of, beside the predicate of the cell. */
typedef struct cellar_rng_scope {
    const char *edition;   /* the edition of the data the key belongs to */
    const char *mechanism; /* the canonical spec, cellar_mechanism_spec() */
    uint32_t revision;     /* cellar_mechanism_revision() */
} cellar_rng_scope;

/* A pseudo-random function of (edition, predicate, mechanism, revision) under `key`. Bits come
 * after cellar_rng_select() has named a predicate, and start anew with every call of it: one
 * predicate has one noise, however often and in whatever order it is asked for. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_rng_create_keyed(const unsigned char key[CELLAR_RNG_KEY_BYTES],
                        const cellar_rng_scope *scope, cellar_rng **out, cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_rng_select(cellar_rng *rng, const void *predicate,
                                                            size_t length, cellar_error *err)
    CELLAR_NONNULL(1);

CELLAR_API void cellar_rng_free(cellar_rng *rng); /* NULL is fine; everything is wiped */

/* 1 for secure and keyed generators: only what they draw may be released. */
CELLAR_API int cellar_rng_is_secure(const cellar_rng *rng) CELLAR_NONNULL(1);

/* Fills `bytes`. Fails with CELLAR_ERR_ARGUMENT on a keyed generator without a predicate, and
 * with CELLAR_ERR_UNSUPPORTED when the cipher does; the bytes are then zeroed. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_rng_bytes(cellar_rng *rng, void *bytes,
                                                           size_t length, cellar_error *err)
    CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
