/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

int server_become(const char *user)
{
    const struct passwd *about;
    if (user == NULL)
        return 1;
    errno = 0;
    about = getpwnam(user);
    if (about == NULL) {
        server_say("there is no user '%s'", user);
        return 0;
    }
    if (initgroups(user, about->pw_gid) == 0 && setgid(about->pw_gid) == 0 &&
        setuid(about->pw_uid) == 0)
        return 1;
    server_say("cannot become user '%s': %s", user, strerror(errno));
    return 0;
}
