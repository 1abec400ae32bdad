/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

/* Where the page lies relative to the folder of this program: in a build, and when it is installed.
 */
static const char *const places[] = {"../web", CELLAR_PAGE_FROM_SERVER};

const char *server_find_page(char path[PATH_MAX])
{
    char own[PATH_MAX], index[PATH_MAX + 16];
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    char *slash;
    own[n > 0 ? n : 0] = '\0';
    slash = strrchr(own, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (snprintf(path, PATH_MAX, "%s/%s", own, places[i]) >= PATH_MAX)
            continue;
        snprintf(index, sizeof index, "%s/index.html", path);
        if (access(index, R_OK) == 0)
            return path;
    }
    return NULL;
}
