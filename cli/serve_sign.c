/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar serve sign|verify CONFIG.yaml: who answers for a configuration. */
#include <string.h>

#include <cellar/vault.h>

#include "message.h"
#include "serve.h"

static cellar_status sign(const char *config, const char *key_path, cellar_error *err)
{
    cellar_key *key;
    cellar_status status = cellar_key_read(key_path, &key, err);
    if (status == CELLAR_OK)
        status = cellar_config_sign(config, key, err);
    if (status == CELLAR_OK)
        cli_message("%s: signed by %s", config, cellar_key_id(key));
    cellar_key_free(key);
    return status;
}

static cellar_status verify(const char *config, const char *key_path, cellar_error *err)
{
    cellar_public_key key;
    cellar_status status = cellar_public_key_read(key_path, &key, err);
    if (status == CELLAR_OK)
        status = cellar_config_verify(config, &key, err);
    if (status == CELLAR_OK)
        cli_message("%s: %s signed it as it is", config, key.id);
    return status;
}

int cli_serve_sign(const cli_words *words, const serve_values *values)
{
    cellar_error err;
    if (words->n != 2 || values->key == NULL)
        return cli_usage("serve %s needs a configuration and --key", words->items[0]);
    return cli_exit(strcmp(words->items[0], "sign") == 0
                        ? sign(words->items[1], values->key, &err)
                        : verify(words->items[1], values->key, &err),
                    &err);
}
