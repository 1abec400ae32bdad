/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar key: key files, made, looked at and replaced; the secret is never shown. */
#include "verbs.h"

#include <string.h>

#include <cellar/key.h>

#include "json_out.h"
#include "options.h"

typedef struct key_values {
    const char *edition;
    int json;
} key_values;

#define AT(member) offsetof(key_values, member)
static const cli_option key_options[] = {
    {CLI_TEXT, "edition", "NAME", "create, rotate: the edition of the data the key is for",
     AT(edition), 0, 0, 0},
    {CLI_FLAG, "json", NULL, "print JSON", AT(json), 0, 0, 0},
};

static const char *const key_examples[] = {
    "cellar key create census.key --edition 'census 2026'", "cellar key show census.key",
    "cellar key rotate census.key --edition 'census 2031'", NULL};

static const cli_command key_command = {
    "key",
    "create|show|rotate FILE [options]",
    "Makes a key file that only you can read, tells the id of one, or puts a new key in its place "
    "and keeps the old one as FILE.ID. Releases carry the id of their key, never the secret.",
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

static int key_run(const char *action, const char *path, const key_values *values)
{
    cellar_error err;
    cellar_status status = CELLAR_OK;
    if (strcmp(action, "create") == 0)
        status = cellar_key_create(path, values->edition, &err);
    else if (strcmp(action, "rotate") == 0)
        status = cellar_key_rotate(path, values->edition, &err);
    else if (strcmp(action, "show") != 0)
        return cli_usage("key: say create, show or rotate, not '%s'", action);
    else if (values->edition != NULL)
        return cli_usage("key show: an edition is given to a key when it is made");
    if (status == CELLAR_OK)
        status = key_tell(path, values->json, &err);
    return cli_exit(status, &err);
}

int cli_key(int argc, char **argv)
{
    key_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&key_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON && words.n != 2)
        result = cli_usage("key needs create, show or rotate, and a file");
    if (result == CLI_GO_ON)
        result = key_run(words.items[0], words.items[1], &values);
    cli_words_clear(&words);
    cli_options_clear(&key_command, &values);
    return result;
}
