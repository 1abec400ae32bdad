/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading small files whole. */
#ifndef CELLAR_BASE_FILE_H
#define CELLAR_BASE_FILE_H

#include <stddef.h>

#include <cellar/status.h>

/* Reads all of `path` ("-": standard input). *bytes is NUL-terminated (the NUL is not counted)
 * and freed with cellar_free(). A file larger than `limit_bytes` is refused with
 * CELLAR_ERR_MEMORY. On failure *bytes is NULL. */
cellar_status cellar_file_read(const char *path, size_t limit_bytes, char **bytes, size_t *length,
                               cellar_error *err);

#endif
