/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/keys.h"

#include <string.h>

#include <sodium.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/output.h"
#include "protocol/lines.h"
#include "random/locked.h"

static const char IDENTITY_HEADER[] = "cellar collect identity 2";

/* What a role's secret is derived for; 4 role + this is the number of the subkey. */
enum { FOR_BOX = 0, FOR_SIGN = 1, FOR_SPOOL = 2 };

const char *keys_role_word(cellar_collect_role role)
{
    static const char *const words[] = {"", "curator", "shuffler", "analyst"};
    return words[role];
}

static void keys_derive(const unsigned char *secret, cellar_collect_role role, int what,
                        unsigned char seed[32])
{
    crypto_kdf_derive_from_key(seed, 32, 4 * (uint64_t) role + (uint64_t) what, "cellarco", secret);
}

static void keys_fill(const unsigned char *secret, cellar_collect_role role,
                      cellar_collect_keys *keys)
{
    unsigned char seed[32];
    keys->role = role;
    keys_derive(secret, role, FOR_BOX, seed);
    crypto_box_seed_keypair(keys->identity.box, keys->box_secret, seed);
    keys_derive(secret, role, FOR_SIGN, seed);
    crypto_sign_seed_keypair(keys->identity.sign, keys->sign_secret, seed);
    keys_derive(secret, role, FOR_SPOOL, keys->spool_secret);
    cellar_wipe(seed, sizeof seed);
}

void keys_file_id(const cellar_key *key, unsigned char id[CELLAR_COLLECT_KEY_ID_BYTES])
{
    const char *digits = cellar_key_id(key);
    int failed =
        sodium_hex2bin(id, CELLAR_COLLECT_KEY_ID_BYTES, digits, strlen(digits), NULL, NULL, NULL);
    CELLAR_ASSERT(failed == 0);
}

cellar_status cellar_collect_keys_create(const cellar_key *key, cellar_collect_role role,
                                         cellar_collect_keys **out, cellar_error *err)
{
    unsigned char secret[CELLAR_KEY_SECRET_BYTES];
    int unused;

    *out = NULL;
    if (role < CELLAR_COLLECT_CURATOR || role > CELLAR_COLLECT_ANALYST)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is no role number %d", (int) role);
    *out = cellar_locked_alloc(sizeof **out, &unused);
    if (*out == NULL)
        return cellar_fail_memory(err, "keys");
    keys_file_id(key, (*out)->identity.key);
    cellar_key_secret(key, CELLAR_KEY_COLLECT, secret);
    keys_fill(secret, role, *out);
    cellar_wipe(secret, sizeof secret);
    return CELLAR_OK;
}

void cellar_collect_keys_free(cellar_collect_keys *keys)
{
    cellar_locked_free(keys, sizeof *keys);
}

const cellar_collect_identity *cellar_collect_keys_identity(const cellar_collect_keys *keys)
{
    return &keys->identity;
}

/* ---- identities in files --------------------------------------------------- */

cellar_status cellar_collect_identity_write(const cellar_collect_identity *identity,
                                            cellar_collect_role role, const char *path,
                                            cellar_error *err)
{
    cellar_output_options options = cellar_output_options_default();
    cellar_output *output = NULL;
    cellar_text text = {0};
    cellar_status status = CELLAR_OK;

    options.shared = 1;
    CELLAR_TRY(cellar_output_open(path, &options, &output, err));
    cellar_text_printf(&text, "%s\n", IDENTITY_HEADER);
    lines_add(&text, "role", keys_role_word(role));
    lines_add_hex(&text, "key", identity->key, sizeof identity->key);
    lines_add_hex(&text, "box", identity->box, sizeof identity->box);
    lines_add_hex(&text, "sign", identity->sign, sizeof identity->sign);
    cellar_output_text(output, &text);
    status = cellar_output_commit(output, err);
out:
    cellar_text_clear(&text);
    return status;
}

cellar_status cellar_collect_identity_read(const char *path, cellar_collect_role role,
                                           cellar_collect_identity *out, cellar_error *err)
{
    cellar_lines lines;
    const char *word;
    char *bytes = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_file_read_plain(path, 4096, &bytes, &length, err));
    CELLAR_TRY(lines_begin(&lines, path, bytes, length, IDENTITY_HEADER, err));
    CELLAR_TRY(lines_take(&lines, "role", &word, &length, err));
    if (!lines_value_is(word, length, keys_role_word(role)))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: is not the identity of a %s", path,
                               keys_role_word(role)));
    CELLAR_TRY(lines_take_hex(&lines, "key", out->key, sizeof out->key, err));
    CELLAR_TRY(lines_take_hex(&lines, "box", out->box, sizeof out->box, err));
    CELLAR_TRY(lines_take_hex(&lines, "sign", out->sign, sizeof out->sign, err));
    CELLAR_TRY(lines_end(&lines, err));
out:
    cellar_free(bytes);
    return status;
}
