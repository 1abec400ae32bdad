/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar sign, cellar verify-release: a folder of releases, and who says that it is theirs. */
#include "verbs.h"

#include <stddef.h>

#include <cellar/manifest.h>

#include "json_out.h"
#include "options.h"

typedef struct sign_values {
    const char *key;
    int json;
} sign_values;

#define AT(member) offsetof(sign_values, member)
static const cli_option sign_options[] = {
    TEXT("key", "FILE", key, "your key file (cellar key create)"),
    FLAG("json", json, "print JSON"),
};
static const cli_option verify_options[] = {
    TEXT("key", "FILE", key, "the publisher's public key (cellar key public)"),
    FLAG("json", json, "print JSON"),
};

static const char *const sign_examples[] = {"cellar sign pack --key agency.key", NULL};
static const char *const verify_examples[] = {"cellar verify-release pack --key agency.pub", NULL};

static const cli_command sign_command = {
    "sign",
    "FOLDER --key FILE [options]",
    "Signs a folder of releases (Ed25519). " CELLAR_MANIFEST_FILE
    " lists the digest of every file in it; it is written when there is none, and compared with "
    "the files when there is. " CELLAR_MANIFEST_SIGNATURE
    " is its signature. Files that only you may read are refused: confidential files look so. "
    "Releases that no ledger was charged for are signed with a warning.",
    sign_options,
    sizeof sign_options / sizeof sign_options[0],
    sign_examples};
static const cli_command verify_command = {
    "verify-release",
    "FOLDER --key FILE [options]",
    "Checks, without a network, that every file of a signed folder is as it was signed, that "
    "none is missing or was added, and that the owner of the key signed it. sha256sum "
    "-c " CELLAR_MANIFEST_FILE " checks the files alone.",
    verify_options,
    sizeof verify_options / sizeof verify_options[0],
    verify_examples};

/* What no ledger was charged for may be signed, for a test, say; but not unawares. */
static void warn_unaccounted(const char *folder)
{
    size_t n = 0;
    cellar_error err;
    if (cellar_manifest_count_unaccounted(folder, &n, &err) != CELLAR_OK)
        cli_message("warning: %s", err.message);
    else if (n > 0)
        cli_message("warning: %zu file%s of %s say%s 'unaccounted, not for publication': no ledger "
                    "was charged for what is signed here",
                    n, n == 1 ? "" : "s", folder, n == 1 ? "s" : "");
}

static cellar_status sign_folder(const char *folder, const char *key_path, cellar_public_key *who,
                                 size_t *n_files, cellar_error *err)
{
    cellar_key *key = NULL;
    cellar_status status = cellar_key_read(key_path, &key, err);
    if (status == CELLAR_OK)
        status = cellar_manifest_sign(folder, key, n_files, err);
    if (status == CELLAR_OK) {
        *who = cellar_key_public(key);
        warn_unaccounted(folder);
    }
    cellar_key_free(key);
    return status;
}

static cellar_status verify_folder(const char *folder, const char *key_path, cellar_public_key *who,
                                   size_t *n_files, cellar_error *err)
{
    cellar_status status = cellar_public_key_read(key_path, who, err);
    if (status == CELLAR_OK)
        status = cellar_manifest_verify(folder, who, n_files, err);
    return status;
}

typedef cellar_status sign_action(const char *folder, const char *key_path, cellar_public_key *who,
                                  size_t *n_files, cellar_error *err);

static cellar_status sign_tell(const char *done, const cellar_public_key *who, size_t n_files,
                               int as_json, cellar_error *err)
{
    cellar_output *output;
    cellar_status status = cellar_output_open("-", NULL, &output, err);
    if (status != CELLAR_OK)
        return status;
    if (as_json) {
        cli_json json = {.output = output};
        cli_json_begin(&json, NULL, '{');
        cli_json_text(&json, "result", done);
        cli_json_count(&json, "files", n_files);
        cli_json_text(&json, "key", who->id);
        cli_json_end(&json, '}');
    } else {
        cellar_output_printf(output, "%s: %zu files, key %s\n", done, n_files, who->id);
    }
    return cellar_output_commit(output, err);
}

static int sign_run(const cli_command *command, sign_action *action, const char *done, int argc,
                    char **argv)
{
    sign_values values = {0};
    cli_words words = {0};
    cellar_public_key who;
    cellar_error err;
    size_t n_files = 0;
    int result = cli_options_parse(command, argc, argv, &values, &words);
    if (result == CLI_GO_ON && (words.n != 1 || values.key == NULL))
        result = cli_usage("%s needs one folder, and --key FILE", command->name);
    if (result == CLI_GO_ON) {
        cellar_status status = action(words.items[0], values.key, &who, &n_files, &err);
        if (status == CELLAR_OK)
            status = sign_tell(done, &who, n_files, values.json, &err);
        result = cli_exit(status, &err);
    }
    cli_words_clear(&words);
    cli_options_clear(command, &values);
    return result;
}

int cli_sign(int argc, char **argv)
{
    return sign_run(&sign_command, sign_folder, "signed", argc, argv);
}

int cli_verify_release(int argc, char **argv)
{
    return sign_run(&verify_command, verify_folder, "verified", argc, argv);
}
