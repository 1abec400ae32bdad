/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar key: key files, made, looked at and replaced; the secret is never shown. */
#include "verbs.h"

#include <string.h>

#include <cellar/key.h>

#include "json_out.h"
#include "options.h"

typedef struct key_values {
    const char *edition, *path;
    int force, json;
} key_values;

#define AT(member) offsetof(key_values, member)
static const cli_option key_options[] = {
    TEXT("edition", "NAME", edition, "create, rotate: the edition of the data the key is for"),
    OUTPUT(path, "public: write to FILE instead of standard output"),
    FLAG("force", force, "public: replace FILE when it exists"),
    FLAG("json", json, "print JSON"),
};

static const char *const key_examples[] = {"cellar key create census.key --edition 'census 2026'",
                                           "cellar key show census.key",
                                           "cellar key rotate census.key --edition 'census 2031'",
                                           "cellar key public agency.key -o agency.pub", NULL};

static const cli_command key_command = {
    "key",
    "create|show|rotate|public FILE [options]",
    "Makes a key file that only you can read, shows the id of one, or puts a new key in its place "
    "and keeps the old one as FILE.ID. Its public half, for those who check your signatures, is "
    "written by public. Releases carry the id of their key, never the secret.",
    key_options,
    sizeof key_options / sizeof key_options[0],
    key_examples};

static cellar_status key_tell(const char *path, int as_json, cellar_error *err)
{
    cellar_key *key = NULL;
    cellar_output *output = NULL;
    cellar_status status = cellar_key_read(path, &key, err);
    if (status == CELLAR_OK)
        status = cellar_output_open("-", NULL, &output, err);
    if (status == CELLAR_OK && as_json) {
        cli_json json = {.output = output};
        cli_json_begin(&json, NULL, '{');
        cli_json_text(&json, "id", cellar_key_id(key));
        cli_json_text(&json, "created", cellar_key_created(key));
        cli_json_text(&json, "edition", cellar_key_edition(key));
        cli_json_end(&json, '}');
    } else if (status == CELLAR_OK) {
        cellar_output_printf(output, "id %s\ncreated %s\n", cellar_key_id(key),
                             cellar_key_created(key));
        if (cellar_key_edition(key) != NULL)
            cellar_output_printf(output, "edition %s\n", cellar_key_edition(key));
    }
    if (status == CELLAR_OK)
        status = cellar_output_commit(output, err);
    cellar_key_free(key);
    return status;
}

static cellar_status key_write_public(const char *path, const key_values *values, cellar_error *err)
{
    cellar_output_options options = cellar_output_options_default();
    cellar_public_key half;
    cellar_key *key;
    cellar_status status = cellar_key_read(path, &key, err);
    options.replace = values->force;
    options.shared = 1;
    if (status != CELLAR_OK)
        return status;
    half = cellar_key_public(key);
    cellar_key_free(key);
    return cellar_public_key_write(&half, values->path != NULL ? values->path : "-", &options, err);
}

static int key_run(const char *action, const char *path, const key_values *values)
{
    cellar_error err;
    cellar_status status = CELLAR_OK;
    int is_public = strcmp(action, "public") == 0;
    if (is_public && values->json)
        return cli_usage("key public: writes a file of three lines, not JSON");
    if (!is_public && (values->path != NULL || values->force))
        return cli_usage("key %s: --output and --force are for key public", action);
    if (strcmp(action, "create") == 0)
        status = cellar_key_create(path, values->edition, &err);
    else if (strcmp(action, "rotate") == 0)
        status = cellar_key_rotate(path, values->edition, &err);
    else if (!is_public && strcmp(action, "show") != 0)
        return cli_usage("key: say create, show, rotate or public, not '%s'", action);
    else if (values->edition != NULL)
        return cli_usage("key %s: an edition is given to a key when it is made", action);
    if (is_public)
        status = key_write_public(path, values, &err);
    else if (status == CELLAR_OK)
        status = key_tell(path, values->json, &err);
    return is_public ? cli_exit(status, &err) : cli_exit_kept(status, &err);
}

int cli_key(int argc, char **argv)
{
    key_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&key_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON && words.n != 2)
        result = cli_usage("key needs create, show, rotate or public, and a file");
    if (result == CLI_GO_ON)
        result = key_run(words.items[0], words.items[1], &values);
    cli_words_clear(&words);
    cli_options_clear(&key_command, &values);
    return result;
}
