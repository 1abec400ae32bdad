/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "about.h"

#include <stdlib.h>
#include <string.h>

void cli_roles_clear(cli_roles *roles)
{
    free(roles->items);
    cli_words_clear(&roles->names);
    *roles = (cli_roles){0};
}

static int about_roles(const cli_words *given, cli_roles *roles)
{
    roles->items = cli_alloc(given->n, sizeof *roles->items);
    for (size_t i = 0; i < given->n; i++) {
        const char *equals = strrchr(given->items[i], '=');
        const char *name = equals != NULL ? equals + 1 : "";
        if (strcmp(name, "time") != 0 && strcmp(name, "geo") != 0)
            return cli_usage("--role must be VARIABLE=time or VARIABLE=geo, not '%s'",
                             given->items[i]);
        cli_words_add(&roles->names, given->items[i], (size_t) (equals - given->items[i]));
        roles->items[i].role = name[0] == 't' ? CELLAR_ROLE_TIME : CELLAR_ROLE_GEO;
    }
    for (size_t i = 0; i < given->n; i++)
        roles->items[i].variable = roles->names.items[i];
    return CLI_GO_ON;
}

int cli_about_options(const cli_about *about, cli_roles *roles, cellar_table_write_options *write)
{
    const int result = about_roles(&about->role, roles);
    write->title = about->title;
    write->source = about->source;
    write->note = about->note;
    write->units = about->units;
    write->updated = about->updated;
    write->matrix = about->matrix;
    write->structure_id = about->structure_id;
    write->roles = roles->items;
    write->n_roles = about->role.n;
    return result;
}
