/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of files that belong together: what is in it, and who says so.
 *
 * FOLDER/manifest.sha256 has a line "DIGEST  PATH" for every other file of the folder and of the
 * folders in it, in the order of their paths, as sha256sum(1) writes and checks them.
 * FOLDER/manifest.sig is an Ed25519 signature of those lines. Both are checked without a network.
 */
#ifndef CELLAR_MANIFEST_H
#define CELLAR_MANIFEST_H

#include <stddef.h>

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
CELLAR_API cellar_status cellar_manifest_write(const char *folder, size_t *n_files,
                                               cellar_error *err);

/* Compares a folder with its manifest. Fails with CELLAR_ERR_INPUT and names the first file that
 * is missing, changed or not in the manifest. */
CELLAR_API cellar_status cellar_manifest_check(const char *folder, size_t *n_files,
                                               cellar_error *err);

/* Signs a folder for others to verify. A manifest that is there must fit; otherwise it is written.
 * An older signature is replaced. Files that only their owner may read are refused
 * (CELLAR_ERR_RULE): that is how confidential files look. */
CELLAR_API cellar_status cellar_manifest_sign(const char *folder, const cellar_key *key,
                                              size_t *n_files, cellar_error *err);

/* The manifest fits the folder, and this key signed it; otherwise CELLAR_ERR_INPUT. */
CELLAR_API cellar_status cellar_manifest_verify(const char *folder, const cellar_public_key *key,
                                                size_t *n_files, cellar_error *err);

/* How many files of a folder that has a manifest say "unaccounted, not for publication", the stamp
 * of releases that no ledger was charged for. Signing them is allowed; a program should warn. */
CELLAR_API cellar_status cellar_manifest_count_unaccounted(const char *folder, size_t *n,
                                                           cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
