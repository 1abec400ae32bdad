/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signed configurations. What is signed is a list of digests: of the configuration, and of each
 * file that it names and that decides what is drawn:
 *
 *     config 5f0c...
 *     file lists/region.csv 91ab... */
#include <string.h>

#include <sodium.h>

#include <cellar/output.h>

#include "base/error.h"
#include "base/file.h"
#include "serve/vault.h"

static const char PURPOSE[] = "cellar serve configuration";
static const char HEADER[] = "cellar configuration signature 1\nkey ";
static const char MIDDLE[] = "\ned25519 ";
enum { FILE_BYTES_MAX = 1 << 28, SIGNATURE_FILE_MAX = 1024, DIGITS = 2 * CELLAR_SIGNATURE_BYTES };

/* ---- what is signed
 * -------------------------------------------------------------------------------- */

static cellar_status add_file(const char *path, cellar_text *out, cellar_error *err)
{
    unsigned char hash[32];
    char hex[65], *bytes;
    size_t length;
    cellar_status status;
    if (path == NULL)
        return CELLAR_OK;
    status = cellar_file_read_plain(path, FILE_BYTES_MAX, &bytes, &length, err);
    if (status != CELLAR_OK)
        return status;
    crypto_generichash(hash, sizeof hash, (const unsigned char *) bytes, length, NULL, 0);
    cellar_free(bytes);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    cellar_text_printf(out, "file %s %s\n", path, hex);
    return CELLAR_OK;
}

static cellar_status add_dataset(const serve_config *config, const serve_config_dataset *words,
                                 cellar_text *out, cellar_error *err)
{
    serve_drawn_text text = {0};
    cellar_status status = CELLAR_OK;
    if (!serve_kind_grows((serve_kind) (words->kind - 1)))
        return CELLAR_OK;
    CELLAR_TRY(serve_drawn_read(config, words, &text, err));
    for (size_t v = 0; v < text.records.variables.n; v++) {
        const plan_variable *variable = plan_variable_at(&text.records, v);
        CELLAR_TRY(add_file(variable->codelist_file, out, err));
        CELLAR_TRY(add_file(variable->recode_file, out, err));
    }
    CELLAR_TRY(add_file(text.cell_key.matrix, out, err));
out:
    serve_drawn_unload(&text);
    return status;
}

static cellar_status message_make(const serve_config *config, cellar_text *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_text_printf(out, "config %s\n", config->digest);
    for (size_t i = 0; status == CELLAR_OK && i < config->datasets.n; i++)
        status = add_dataset(config, serve_config_dataset_at(config, i), out, err);
    if (status == CELLAR_OK && out->failed)
        status = cellar_fail_memory(err, "a signature");
    return status;
}

static cellar_status signature_path(const char *config_path, cellar_text *out, cellar_error *err)
{
    cellar_text_printf(out, "%s.sig", config_path);
    return out->failed ? cellar_fail_memory(err, "a signature") : CELLAR_OK;
}

/* ---- signing
 * --------------------------------------------------------------------------------------- */

cellar_status cellar_config_sign(const char *config_path, const cellar_key *key, cellar_error *err)
{
    const cellar_output_options options = {.replace = 1, .shared = 1};
    unsigned char signature[CELLAR_SIGNATURE_BYTES];
    char digits[DIGITS + 1];
    serve_config *config = NULL;
    cellar_text message = {0}, path = {0};
    cellar_output *output;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(serve_config_read(config_path, &config, err));
    CELLAR_TRY(message_make(config, &message, err));
    CELLAR_TRY(signature_path(config_path, &path, err));
    CELLAR_TRY(cellar_key_sign(key, PURPOSE, message.bytes, message.length, signature, err));
    sodium_bin2hex(digits, sizeof digits, signature, sizeof signature);
    CELLAR_TRY(cellar_output_open(path.bytes, &options, &output, err));
    cellar_output_printf(output, "%s%s%s%s\n", HEADER, cellar_key_id(key), MIDDLE, digits);
    status = cellar_output_commit(output, err);
out:
    cellar_text_clear(&path);
    cellar_text_clear(&message);
    serve_config_free(config);
    return status;
}

/* ---- verifying
 * -------------------------------------------------------------------------------------- */

/* 1 when the bytes are a signature by the key with this id. */
static int signature_read(const char *bytes, size_t length, const char *id,
                          unsigned char signature[CELLAR_SIGNATURE_BYTES])
{
    const size_t header = sizeof HEADER - 1, middle = sizeof MIDDLE - 1, name = strlen(id);
    const char *at = bytes;
    size_t n = 0;
    if (length != header + name + middle + DIGITS + 1 || memcmp(at, HEADER, header) != 0 ||
        memcmp(at += header, id, name) != 0 || memcmp(at += name, MIDDLE, middle) != 0 ||
        bytes[length - 1] != '\n')
        return 0;
    return sodium_hex2bin(signature, CELLAR_SIGNATURE_BYTES, at + middle, DIGITS, NULL, &n, NULL) ==
               0 &&
           n == CELLAR_SIGNATURE_BYTES;
}

cellar_status serve_config_verify(const serve_config *config, const cellar_public_key *key,
                                  cellar_error *err)
{
    unsigned char signature[CELLAR_SIGNATURE_BYTES];
    cellar_text message = {0}, path = {0};
    char *bytes = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(signature_path(config->name, &path, err));
    CELLAR_TRY(cellar_file_read_plain(path.bytes, SIGNATURE_FILE_MAX, &bytes, &length, err));
    CELLAR_TRY(message_make(config, &message, err));
    if (!signature_read(bytes, length, key->id, signature) ||
        !cellar_public_key_verifies(key, PURPOSE, message.bytes, message.length, signature))
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "%s: the key %s did not sign this configuration as it is, with its "
                             "code lists and matrices",
                             config->name, key->id);
out:
    cellar_free(bytes);
    cellar_text_clear(&path);
    cellar_text_clear(&message);
    return status;
}

cellar_status cellar_config_verify(const char *config_path, const cellar_public_key *key,
                                   cellar_error *err)
{
    serve_config *config;
    cellar_status status = serve_config_read(config_path, &config, err);
    if (status == CELLAR_OK)
        status = serve_config_verify(config, key, err);
    serve_config_free(config);
    return status;
}
