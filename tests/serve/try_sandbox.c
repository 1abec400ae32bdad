/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A front that was taken over: enters the sandbox of a site, then tries what it must not do, and
 * prints what was possible.
 *
 * usage: try_sandbox CONFIG.yaml PATH... */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox.h"

static void tell(const char *what, int is_possible)
{
    printf("%s: %s\n", what, is_possible ? "possible" : strerror(errno));
}

static void try_file(const char *path)
{
    char what[600];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(what, sizeof what, "read %s", path);
    tell(what, fd >= 0);
    if (fd >= 0)
        close(fd);
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    snprintf(what, sizeof what, "write %s", path);
    tell(what, fd >= 0);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    char program[] = "/bin/true";
    char *arguments[] = {program, NULL};
    const pid_t parent = getppid();
    cellar_site *site = NULL;
    cellar_error err;
    if (argc < 2 || cellar_site_open(argv[1], NULL, &site, &err) != CELLAR_OK) {
        fprintf(stderr, "try_sandbox: %s\n", argc < 2 ? "no configuration" : err.message);
        return 1;
    }
    if (!sandbox_enter(site, 1))
        return 77;
    for (int i = 2; i < argc; i++)
        try_file(argv[i]);
    tell("socket", socket(AF_INET, SOCK_STREAM, 0) >= 0);
    tell("unix socket", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
    tell("code in memory",
         mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    tell("debug", ptrace(PTRACE_ATTACH, parent, NULL, NULL) == 0);
    tell("signal others", kill(parent, 0) == 0);
    tell("start a process", fork() >= 0);
    tell("start a program", execv(program, arguments) == 0);
    cellar_site_close(site);
    return 0;
}
