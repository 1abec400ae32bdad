/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table_in.h"

#include <stdlib.h>
#include <string.h>

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

int cli_domains_read(const cli_words *given, cli_domains *out, cellar_table_read_options *how)
{
    int result = CLI_GO_ON;
    *out = (cli_domains){.lists = cli_alloc(given->n, sizeof *out->lists),
                         .owned = cli_alloc(given->n, sizeof(cellar_codelist *)),
                         .n = given->n};
    for (size_t i = 0; i < given->n && result == CLI_GO_ON; i++)
        result = domain_read(given->items[i], &out->names, &out->owned[i]);
    for (size_t i = 0; i < out->names.n; i++)
        out->lists[i] = (cellar_named_codelist){out->names.items[i], out->owned[i]};
    how->codelists = out->lists;
    how->n_codelists = given->n;
    return result;
}

void cli_domains_clear(cli_domains *domains)
{
    for (size_t i = 0; i < domains->n; i++)
        cellar_codelist_free(domains->owned[i]);
    cli_words_clear(&domains->names);
    free(domains->owned);
    free(domains->lists);
    *domains = (cli_domains){0};
}

int cli_table_in_read(const char *path, const cli_words *domains, cellar_table **out)
{
    cellar_table_read_options how = cellar_table_read_options_default();
    cli_domains lists;
    int result = cli_domains_read(domains, &lists, &how);

    *out = NULL;
    if (result == CLI_GO_ON) {
        cellar_error err;
        cellar_status status = cellar_table_read(path, &how, out, &err);
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    cli_domains_clear(&lists);
    return result;
}
