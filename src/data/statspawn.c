/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/statspawn.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- where it is ------------------------------------------------------------ */

/* Where it lies relative to the folder of the program or the library. */
static const char *const places[] = {"", CELLAR_STATREAD_FROM_BIN "/",
                                     CELLAR_STATREAD_FROM_LIB "/"};

/* The program or the shared library that this is part of. 0: not to be found out. */
static int own_path(char path[PATH_MAX])
{
    Dl_info about;
    struct link_map *map = NULL;
    ssize_t n;

    if (dladdr1(places, &about, (void **) &map, RTLD_DL_LINKMAP) != 0 && map != NULL &&
        map->l_name[0] == '/')
        return snprintf(path, PATH_MAX, "%s", map->l_name) < PATH_MAX;
    n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (n <= 0)
        return 0;
    path[n] = '\0';
    return 1;
}

int cellar_statspawn_path(char *path, size_t size)
{
    const char *asked = secure_getenv("CELLAR_STATREAD");
    char own[PATH_MAX];

    if (asked != NULL && asked[0] != '\0')
        return (size_t) snprintf(path, size, "%s", asked) < size;
    if (own_path(own) && strrchr(own, '/') != NULL) {
        strrchr(own, '/')[1] = '\0';
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            if ((size_t) snprintf(path, size, "%s%scellar-statread", own, places[i]) < size &&
                access(path, X_OK) == 0)
                return 1;
    }
    return (size_t) snprintf(path, size, "%s", CELLAR_STATREAD_INSTALLED) < size;
}

/* ---- starting it ------------------------------------------------------------ */

/* Descriptors 0 to 2 are the ones the program is to have: its own must not lie in the way. */
static int above_standard(int fd)
{
    int moved = fd;
    if (fd >= 0 && fd <= 2) {
        moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        close(fd);
    }
    return moved;
}

static int spawn_actions(int file, int socket, posix_spawn_file_actions_t *actions,
                         posix_spawnattr_t *attributes)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    return posix_spawn_file_actions_adddup2(actions, file, 0) ||
           posix_spawn_file_actions_adddup2(actions, socket, 1) ||
           posix_spawn_file_actions_addclosefrom_np(actions, 2) ||
           posix_spawnattr_setsigmask(attributes, &none) ||
           posix_spawnattr_setsigdefault(attributes, &all) ||
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static cellar_status spawn_program(int file, int socket, pid_t *pid, cellar_error *err)
{
    static char name[] = "cellar-statread";
    char *arguments[] = {name, NULL}, *environment[] = {NULL};
    char path[PATH_MAX];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error;

    if (!cellar_statspawn_path(path, sizeof path))
        return cellar_fail(err, CELLAR_ERR_IO, "the path of cellar-statread is too long");
    if (posix_spawn_file_actions_init(&actions) != 0)
        return cellar_fail_memory(err, path);
    posix_spawnattr_init(&attributes);
    error = spawn_actions(file, socket, &actions, &attributes);
    if (error == 0)
        error = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error == 0)
        return CELLAR_OK;
    errno = error;
    return cellar_fail_errno(err, path,
                             "start the program that reads SPSS, Stata and SAS files (install it "
                             "there, or name it in CELLAR_STATREAD)");
}

/* A program that ended already gets nothing: its answer, or the lack of it, tells why. */
static void send_all(int fd, const void *bytes, size_t size)
{
    size_t sent = 0;
    while (sent < size) {
        ssize_t n = send(fd, (const char *) bytes + sent, size - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        sent += (size_t) n;
    }
}

static void send_request(int fd, const cellar_statwire_request *request, const size_t *columns)
{
    send_all(fd, request, sizeof *request);
    for (uint64_t i = 0; i < request->n_columns; i++) {
        uint64_t column = columns[i];
        send_all(fd, &column, sizeof column);
    }
}

cellar_status cellar_statspawn_start(int file, const cellar_statwire_request *request,
                                     const size_t *columns, cellar_statspawn *child,
                                     cellar_error *err)
{
    cellar_status status;
    int ends[2], copy;

    *child = (cellar_statspawn){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return cellar_fail_errno(err, "cellar-statread", "make a socket to it");
    ends[0] = above_standard(ends[0]);
    ends[1] = above_standard(ends[1]);
    copy = fcntl(file, F_DUPFD_CLOEXEC, 3);
    if (ends[0] < 0 || ends[1] < 0 || copy < 0)
        status = cellar_fail_errno(err, "cellar-statread", "make a socket to it");
    else
        status = spawn_program(copy, ends[1], &child->pid, err);
    if (copy >= 0)
        close(copy);
    if (ends[1] >= 0)
        close(ends[1]);
    if (status == CELLAR_OK) {
        child->fd = ends[0];
        send_request(child->fd, request, columns);
    } else if (ends[0] >= 0)
        close(ends[0]);
    return status;
}

int cellar_statspawn_stop(cellar_statspawn *child, int over)
{
    int how = 0;
    pid_t ended;

    if (child->fd < 0)
        return 0;
    close(child->fd);
    child->fd = -1;
    if (!over)
        kill(child->pid, SIGKILL);
    do
        ended = waitpid(child->pid, &how, 0);
    while (ended < 0 && errno == EINTR);
    return ended == child->pid && WIFSIGNALED(how) ? WTERMSIG(how) : 0;
}
