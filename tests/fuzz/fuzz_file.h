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

/* Makes the file and tells its path; it is the caller's to unlink. */
static inline void fuzz_file(const void *data, size_t size, char path[FUZZ_PATH_BYTES])
{
    int fd;
    snprintf(path, FUZZ_PATH_BYTES, "/tmp/cellar-fuzz-XXXXXX");
    fd = mkstemp(path);
    CELLAR_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t) size && close(fd) == 0);
}

#endif
