/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For fuzzers of what is opened by its name: bytes in a file that only its owner may use. */
#ifndef CELLAR_TESTS_FUZZ_FILE_H
#define CELLAR_TESTS_FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_PATH_BYTES = 64 };

static char fuzz_folder[] = "/tmp/cellar-fuzz-XXXXXX";

static inline void fuzz_folder_remove(void)
{
    rmdir(fuzz_folder);
}

/* Makes the file, in a folder that others cannot write to, and tells its path; it is the caller's
 * to unlink. */
static inline void fuzz_file(const void *data, size_t size, char path[FUZZ_PATH_BYTES])
{
    static int is_made;
    int fd;
    if (!is_made) {
        CELLAR_ASSERT(mkdtemp(fuzz_folder) != NULL && atexit(fuzz_folder_remove) == 0);
        is_made = 1;
    }
    snprintf(path, FUZZ_PATH_BYTES, "%s/XXXXXX", fuzz_folder);
    fd = mkstemp(path);
    CELLAR_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t) size && close(fd) == 0);
}

#endif
