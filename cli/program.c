/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"

/* Where they lie relative to the folder of this program: in the build, and when it is installed. */
static const char *const places[] = {"", CELLAR_PROGRAMS_FROM_BIN "/"};

static void find_program(const char *variable, const char *name, char path[PATH_MAX])
{
    const char *asked = secure_getenv(variable);
    char own[PATH_MAX];
    ssize_t n;
    if (asked != NULL && asked[0] != '\0') {
        snprintf(path, PATH_MAX, "%s", asked);
        return;
    }
    n = readlink("/proc/self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; strrchr(own, '/') != NULL && i < sizeof places / sizeof *places; i++) {
        strrchr(own, '/')[1] = '\0';
        if (snprintf(path, PATH_MAX, "%s%s%s", own, places[i], name) < PATH_MAX &&
            access(path, X_OK) == 0)
            return;
    }
    snprintf(path, PATH_MAX, "%s/%s", CELLAR_PROGRAMS_INSTALLED, name);
}

void cli_program_start(const char *variable, char *const *arguments)
{
    char path[PATH_MAX];
    find_program(variable, arguments[0], path);
    fflush(stdout);
    execv(path, arguments);
    cli_message("%s: cannot be started (install it there, or name it in %s): %s", path, variable,
                strerror(errno));
}
