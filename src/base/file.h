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

/* The same for files that Cellar keeps (keys, witnesses, signatures, papers), where a pipe would
 * have it wait for ever: what is not a plain file is CELLAR_ERR_IO. "-" is a file of that name. */
cellar_status cellar_file_read_plain(const char *path, size_t limit_bytes, char **bytes,
                                     size_t *length, cellar_error *err);
/* Opens such a file with the flags of open(2), mode 0600 when it is made; -1 after a message,
 * with errno. */
int cellar_file_open_plain(const char *path, int flags, cellar_error *err);

/* The first bytes of a plain file, at most n, for telling what it is: how many were read, 0 for
 * what cannot be read or is none. A pipe is left as it is: what is read from it would be lost. */
size_t cellar_file_peek(const char *path, char *bytes, size_t n);

#endif
