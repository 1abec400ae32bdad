/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/process.h>

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/error.h"

/* A closed descriptor 0, 1 or 2 would become the next file opened, and a message meant for a person
 * would land in it. Each is filled with one that fails as a closed one does. */
static cellar_status process_fill_descriptors(cellar_error *err)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            return cellar_fail_errno(err, "/dev/null", "open it");
    return CELLAR_OK;
}

cellar_status cellar_process_harden(cellar_error *err)
{
    struct rlimit none = {0, 0};
    cellar_status status = process_fill_descriptors(err);
    if (status != CELLAR_OK)
        return status;
    umask(077);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error to report, like a full disk */
    if (setrlimit(RLIMIT_CORE, &none) != 0)
        return cellar_fail_errno(err, "this process", "switch core dumps off");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return cellar_fail_errno(err, "this process", "make its memory undumpable");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return cellar_fail_errno(err, "this process", "give up new privileges");
    return CELLAR_OK;
}

void cellar_process_keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

int cellar_process_n_processors(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0)
        return CPU_COUNT(&allowed);
    return 1;
}
