/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of files that belong together: what is in it, and who says so.
 *
 * FOLDER/manifest.sha256 has a line "DIGEST  PATH" for every other file of the folder and of the
 * folders in it, in the order of their paths, as sha256sum(1) writes and checks them.
 * FOLDER/manifest.sig is an Ed25519 signature of those lines and of what the signer accepts. Both
 * are checked without a network.
 */
#ifndef CELLAR_MANIFEST_H
#define CELLAR_MANIFEST_H

#include <stddef.h>

#include <cellar/acceptance.h>
#include <cellar/export.h>
#include <cellar/key.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CELLAR_MANIFEST_FILE "manifest.sha256"
#define CELLAR_MANIFEST_SIGNATURE "manifest.sig"

/* Writes the manifest of a folder, or writes it anew; *n_files (may be NULL) is the number of
 * files in it. Symbolic links, special files and names that are no plain UTF-8 are refused
 * (CELLAR_ERR_RULE). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_manifest_write(const char *folder, size_t *n_files,
                                                                cellar_error *err);

/* Compares a folder with its manifest. Fails with CELLAR_ERR_INPUT and names the first file that
 * is missing, changed or not in the manifest. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_manifest_check(const char *folder, size_t *n_files,
                                                                cellar_error *err);

/* What the files of a folder say about themselves. */
typedef struct cellar_manifest_findings {
    size_t n_files;
    size_t n_releases, n_recomputed; /* releases, and those whose certificate was computed again */
    size_t n_estimates;              /* fitted tables and other estimates */
    size_t n_unaccounted;            /* files that say "unaccounted, not for publication" */
    size_t n_unrecognised;           /* files of no known kind, which the signer accepts by name */
    size_t n_at_level[4];            /* files that name this cellar_protection_level */
    unsigned accepted;               /* what the signer accepts: a sum of cellar_acceptance */
} cellar_manifest_findings;

/* What the signer answers for. */
typedef struct cellar_manifest_accepted {
    unsigned what;            /* a sum of cellar_acceptance */
    const char *const *files; /* paths inside the folder of files that Cellar does not recognise */
    size_t n_files;
} cellar_manifest_accepted;

/* Signs a folder for others to verify, having read what is signed. A manifest that is there must
 * fit; otherwise it is written. An older signature is replaced. Signed are releases, estimates,
 * certificates, pages and charts for the public, public keys and prose (docs/file-formats.md,
 * "Signed folders"). Refused with CELLAR_ERR_RULE: files that only their owner may read, that say
 * they are confidential, that hold true counts or a key; and, unless `accept` (NULL: nothing) has
 * it, every other kind of file and what has to be accepted, which the signature then names.
 * Damaged releases and estimates, and releases whose certificate claims more than can be computed,
 * are CELLAR_ERR_INPUT. `out` may be NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_manifest_sign(
    const char *folder, const cellar_key *key, const cellar_manifest_accepted *accept,
    cellar_manifest_findings *out, cellar_error *err);

/* The manifest fits the folder, this key signed it and what it accepts, and the files say nothing
 * that would not be signed; otherwise CELLAR_ERR_INPUT or CELLAR_ERR_RULE. `out` may be NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_manifest_verify(const char *folder,
                                                                 const cellar_public_key *key,
                                                                 cellar_manifest_findings *out,
                                                                 cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
