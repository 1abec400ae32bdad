/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "random/locked.h"

#include <sys/mman.h>

#include "base/memory.h"

void *cellar_locked_alloc(size_t size, int *wiped_on_fork)
{
    void *probe = cellar_alloc(1, 1); /* lets the test build fail this allocation too */
    void *memory;
    if (probe == NULL)
        return NULL;
    cellar_free(probe);
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    (void) mlock(memory, size); /* RLIMIT_MEMLOCK may forbid it; swapping is then possible */
    (void) madvise(memory, size, MADV_DONTDUMP);
    *wiped_on_fork = madvise(memory, size, MADV_WIPEONFORK) == 0;
    return memory;
}

void cellar_locked_free(void *memory, size_t size)
{
    if (memory == NULL)
        return;
    cellar_wipe(memory, size);
    munmap(memory, size);
}
