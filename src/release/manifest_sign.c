/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/manifest.h"

#include <string.h>
#include <sys/stat.h>

#include <sodium.h>

#include <cellar/output.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

enum { FILE_MAX = 512, DIGITS = 2 * CELLAR_SIGNATURE_BYTES };

static const char PURPOSE[] = "cellar manifest";
static const char HEADER[] = "cellar signature 1\nkey ";
static const char MIDDLE[] = "\ned25519 ";

/* A manifest that is there was made for these files, and is not overwritten. */
static cellar_status manifest_ensure(const char *folder, cellar_error *err)
{
    struct stat facts;
    char *path = cellar_manifest_path(folder, CELLAR_MANIFEST_FILE);
    int is_there = path != NULL && lstat(path, &facts) == 0;
    cellar_status status = CELLAR_OK;
    if (path == NULL)
        status = cellar_fail_memory(err, "a manifest");
    else if (!is_there)
        status = cellar_manifest_write(folder, NULL, err);
    cellar_free(path);
    return status;
}

cellar_status cellar_manifest_sign(const char *folder, const cellar_key *key, size_t *n_files,
                                   cellar_error *err)
{
    const cellar_output_options options = {.replace = 1, .shared = 1};
    char *path = cellar_manifest_path(folder, CELLAR_MANIFEST_SIGNATURE), *lines = NULL;
    unsigned char signature[CELLAR_SIGNATURE_BYTES];
    char digits[DIGITS + 1];
    size_t length, n = 0;
    cellar_output *output;
    cellar_status status = CELLAR_OK;

    if (path == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a signature"));
    CELLAR_TRY(manifest_ensure(folder, err));
    CELLAR_TRY(cellar_manifest_read(folder, 1, &lines, &length, &n, err));
    if (n == 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE, "%s: there is no file to sign", folder));
    CELLAR_TRY(cellar_key_sign(key, PURPOSE, lines, length, signature, err));
    CELLAR_TRY(cellar_output_open(path, &options, &output, err));
    sodium_bin2hex(digits, sizeof digits, signature, sizeof signature);
    cellar_output_printf(output, "%s%s%s%s\n", HEADER, cellar_key_id(key), MIDDLE, digits);
    status = cellar_output_commit(output, err);
    if (n_files != NULL)
        *n_files = n;
out:
    cellar_free(lines);
    cellar_free(path);
    return status;
}

/* Fills the id and the signature when the text is a signature file's, to the byte. */
static int signature_parse(const char *text, size_t length, char id[17],
                           unsigned char signature[CELLAR_SIGNATURE_BYTES])
{
    const size_t id_at = sizeof HEADER - 1, middle_at = id_at + 16;
    const size_t digits_at = middle_at + sizeof MIDDLE - 1;
    size_t n = 0;
    if (length != digits_at + DIGITS + 1 || text[length - 1] != '\n' ||
        strncmp(text, HEADER, id_at) != 0 || strspn(text + id_at, "0123456789abcdef") != 16 ||
        strncmp(text + middle_at, MIDDLE, sizeof MIDDLE - 1) != 0 ||
        sodium_hex2bin(signature, CELLAR_SIGNATURE_BYTES, text + digits_at, DIGITS, NULL, &n,
                       NULL) != 0)
        return 0;
    memcpy(id, text + id_at, 16);
    id[16] = '\0';
    return n == CELLAR_SIGNATURE_BYTES;
}

cellar_status cellar_manifest_verify(const char *folder, const cellar_public_key *key,
                                     size_t *n_files, cellar_error *err)
{
    char *path = cellar_manifest_path(folder, CELLAR_MANIFEST_SIGNATURE), *lines = NULL;
    char *text = NULL, id[17];
    unsigned char signature[CELLAR_SIGNATURE_BYTES];
    size_t length, text_length;
    cellar_status status = CELLAR_OK;

    if (path == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a signature"));
    CELLAR_TRY(cellar_file_read(path, FILE_MAX, &text, &text_length, err));
    if (!signature_parse(text, text_length, id, signature))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: is no signature, or a damaged one (cellar sign writes one)",
                               path));
    if (strcmp(id, key->id) != 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: was made with key %s, not with key %s that is asked for", path,
                               id, key->id));
    CELLAR_TRY(cellar_manifest_read(folder, 0, &lines, &length, n_files, err));
    if (!cellar_public_key_verifies(key, PURPOSE, lines, length, signature))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: the signature is not that of the manifest by key %s", path,
                               key->id));
out:
    cellar_free(text);
    cellar_free(lines);
    cellar_free(path);
    return status;
}
