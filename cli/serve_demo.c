/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar serve --demo: what somebody would type, step by step, unless it was done before. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"
#include "verbs.h"

enum { ARGUMENTS_MAX = 24, DEMO_PEOPLE = 100000 };

typedef struct demo {
    const char *folder;
    char people[24];
} demo;

/* 0: the path is too long. */
static int path_of(const demo *d, const char *name, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/%s", d->folder, name) < PATH_MAX;
}

static int is_there(const demo *d, const char *name)
{
    char path[PATH_MAX];
    return path_of(d, name, path) && access(path, F_OK) == 0;
}

/* Runs a verb with these words; "@name" is a path in the folder, "#" the number of people. */
static int type(const demo *d, int (*verb)(int argc, char **argv), const char *const *words)
{
    static char room[ARGUMENTS_MAX][PATH_MAX];
    char *arguments[ARGUMENTS_MAX + 1] = {NULL};
    int n = 0, result;
    for (; words[n] != NULL; n++) {
        if (words[n][0] == '@' && !path_of(d, words[n] + 1, room[n]))
            return cli_usage("%s: the path is too long", d->folder);
        if (words[n][0] != '@')
            snprintf(room[n], PATH_MAX, "%s", words[n][0] == '#' ? d->people : words[n]);
        arguments[n] = room[n];
    }
    result = verb(n, arguments);
    return result == CLI_DONE ? CLI_GO_ON : result;
}

int cli_serve_demo(const char *folder, const serve_values *values, char config[PATH_MAX])
{
    static const char *const country[] = {"demo-data", "@", "--people", "#", NULL};
    static const char *const ledger[] = {
        "ledger", "create",  "@cube.ledger", "--dataset",    "census",     "--edition",
        "2026",   "--unit",  "person",       "--neighbours", "add-remove", "--epsilon",
        "5",      "--delta", "1e-6",         "--population", "#",          NULL};
    static const char *const cube[] = {"cube", "build", "@plans/small_country_cube.yaml", NULL};
    demo d = {.folder = folder};
    int result = CLI_GO_ON;
    snprintf(d.people, sizeof d.people, "%" PRIu64,
             values->people.given ? values->people.value : DEMO_PEOPLE);
    if (!is_there(&d, "people.csv"))
        result = type(&d, cli_demo_data, country);
    if (result == CLI_GO_ON && !is_there(&d, "cube.ledger"))
        result = type(&d, cli_ledger, ledger);
    if (result == CLI_GO_ON && !is_there(&d, "country.cube"))
        result = type(&d, cli_cube, cube);
    if (result == CLI_GO_ON && !path_of(&d, "sites/small_country.yaml", config))
        result = cli_usage("%s: the path is too long", folder);
    return result;
}
