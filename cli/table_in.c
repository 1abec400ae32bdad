/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table_in.h"

#include <stdlib.h>
#include <string.h>

#include <cellar/table_file.h>

#include "message.h"

/* Reads one code list and names its variable. */
static int domain_read(const char *text, cli_words *names, cellar_codelist **out)
{
    const char *equals = strchr(text, '=');
    cellar_error err;
    cellar_status status;
    if (equals == NULL)
        return cli_usage("--domain must be VARIABLE=FILE, not '%s'", text);
    cli_words_add(names, text, (size_t) (equals - text));
    status = cellar_codelist_read(equals + 1, out, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

int cli_table_in_read(const char *path, const cli_words *domains, cellar_table **out)
{
    cellar_named_codelist *lists = cli_alloc(domains->n, sizeof *lists);
    cellar_codelist **owned = cli_alloc(domains->n, sizeof(cellar_codelist *));
    cellar_table_read_options how = cellar_table_read_options_default();
    cli_words names = {0};
    int result = CLI_GO_ON;

    how.codelists = lists;
    how.n_codelists = domains->n;
    *out = NULL;
    for (size_t i = 0; i < domains->n && result == CLI_GO_ON; i++)
        result = domain_read(domains->items[i], &names, &owned[i]);
    for (size_t i = 0; i < names.n; i++)
        lists[i] = (cellar_named_codelist){names.items[i], owned[i]};
    if (result == CLI_GO_ON) {
        cellar_error err;
        cellar_status status = cellar_table_read(path, &how, out, &err);
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    for (size_t i = 0; i < domains->n; i++)
        cellar_codelist_free(owned[i]);
    cli_words_clear(&names);
    free(owned);
    free(lists);
    return result;
}
