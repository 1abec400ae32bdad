/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ledger_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "words.h"

char *cli_ledger_key_path(const char *ledger_path, const char *key_path)
{
    size_t size = strlen(ledger_path) + strlen(key_path != NULL ? key_path : "") + 8;
    char *path = cli_alloc(size, 1);
    if (key_path != NULL)
        snprintf(path, size, "%s", key_path);
    else
        snprintf(path, size, "%s.key", ledger_path);
    return path;
}

int cli_ledger_open(const char *path, const char *key_path, cellar_ledger **out)
{
    cellar_error err;
    cellar_status status = cellar_ledger_open_file(path, key_path, out, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}
