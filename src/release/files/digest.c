/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/files/digest.h"

#include <stdio.h>

#include <openssl/evp.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/formats/sheet.h"

enum { DIGEST_BYTES = 32, DIGEST_FLUSH = 1 << 16 };

struct cellar_digest {
    EVP_MD_CTX *context;
    int failed;
};

cellar_status cellar_digest_create(cellar_digest **out, cellar_error *err)
{
    cellar_digest *digest = cellar_alloc(1, sizeof *digest);
    *out = NULL;
    if (digest != NULL)
        digest->context = EVP_MD_CTX_new();
    if (digest == NULL || digest->context == NULL) {
        cellar_digest_free(digest);
        return cellar_fail_memory(err, "a digest");
    }
    digest->failed = EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) != 1;
    *out = digest;
    return CELLAR_OK;
}

void cellar_digest_free(cellar_digest *digest)
{
    if (digest == NULL)
        return;
    EVP_MD_CTX_free(digest->context);
    cellar_free(digest);
}

void cellar_digest_add(void *context, const void *bytes, size_t length)
{
    cellar_digest *digest = context;
    digest->failed |= EVP_DigestUpdate(digest->context, bytes, length) != 1;
}

cellar_status cellar_digest_finish(cellar_digest *digest, char out[CELLAR_DIGEST_TEXT],
                                   cellar_error *err)
{
    unsigned char bytes[DIGEST_BYTES];
    if (digest->failed || EVP_DigestFinal_ex(digest->context, bytes, NULL) != 1)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "SHA-256 of libcrypto failed");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return CELLAR_OK;
}

cellar_status cellar_digest_cells(const cellar_cells *cells, char out[CELLAR_DIGEST_TEXT],
                                  cellar_error *err)
{
    cellar_text lines = {0};
    cellar_digest *digest = NULL;
    cellar_status status = cellar_digest_create(&digest, err);

    for (size_t i = 0; status == CELLAR_OK && i < cells->n; i++) {
        cellar_text_add_u64(&lines, cells->index[i]);
        cellar_text_add_char(&lines, ' ');
        cellar_text_add_i64(&lines, (int64_t) cells->count[i]);
        if (cells->key != NULL) {
            cellar_text_add_char(&lines, ' ');
            cellar_text_add_i64(&lines, (int64_t) cells->key[i]);
        }
        cellar_text_add_char(&lines, '\n');
        if (lines.length >= DIGEST_FLUSH) {
            cellar_digest_add(digest, lines.bytes, lines.length);
            cellar_text_reset(&lines);
        }
    }
    if (status == CELLAR_OK && lines.failed)
        status = cellar_fail_memory(err, "a digest");
    if (status == CELLAR_OK && lines.length > 0)
        cellar_digest_add(digest, lines.bytes, lines.length);
    if (status == CELLAR_OK)
        status = cellar_digest_finish(digest, out, err);
    cellar_text_clear(&lines);
    cellar_digest_free(digest);
    return status;
}
