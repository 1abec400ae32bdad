/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/process.h>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/error.h"

cellar_status cellar_process_harden(cellar_error *err)
{
    struct rlimit none = {0, 0};
    umask(077);
    if (setrlimit(RLIMIT_CORE, &none) != 0)
        return cellar_fail_errno(err, "this process", "switch core dumps off");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return cellar_fail_errno(err, "this process", "make its memory undumpable");
    return CELLAR_OK;
}

int cellar_process_n_processors(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0)
        return CPU_COUNT(&allowed);
    return 1;
}
