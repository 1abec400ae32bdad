/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar collect door: HTTP for participants in browsers. The program cellar-door does the work. */
#include <stdio.h>
#include <string.h>

#include "collect.h"
#include "program.h"

enum { ARGUMENTS_MAX = 64 };

int collect_run_door(const collect_values *values, const char *action, const char *file)
{
    char *arguments[ARGUMENTS_MAX] = {(char *) "cellar-door"};
    size_t n = 1;
    if (strcmp(action, "run") != 0 || file != NULL)
        return cli_usage("collect door: say run");
    if (values->spool == NULL || values->curator == NULL)
        return cli_usage("collect door needs --spool, the folder of the shuffler, and --curator");
    if (values->origin.n == 0)
        return cli_usage("collect door: --origin names the pages that may take part, such as "
                         "https://survey.example");
    if (values->origin.n > 16)
        return cli_usage("collect door: at most 16 --origin");
    arguments[n++] = (char *) "--spool";
    arguments[n++] = (char *) values->spool;
    arguments[n++] = (char *) "--curator";
    arguments[n++] = (char *) values->curator;
    if (values->listen != NULL) {
        arguments[n++] = (char *) "--listen";
        arguments[n++] = (char *) values->listen;
    }
    for (size_t i = 0; i < values->origin.n; i++) {
        arguments[n++] = (char *) "--origin";
        arguments[n++] = (char *) values->origin.items[i];
    }
    if (values->anywhere)
        arguments[n++] = (char *) "--anywhere";
    cli_program_start("CELLAR_DOOR", arguments);
    return CLI_FAILED;
}
