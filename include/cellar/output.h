/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that appear whole or not at all. */
#ifndef CELLAR_OUTPUT_H
#define CELLAR_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_output cellar_output;

/* Start from cellar_output_options_default(). */
typedef struct cellar_output_options {
    int replace; /* 1: an existing file (or symbolic link) of that name is replaced [0] */
    int shared;  /* 1: mode 0644, for releases; 0: mode 0600, for everything secret [0] */
} cellar_output_options;

/* Keeps existing files, and writes for the owner alone. */
CELLAR_API cellar_output_options cellar_output_options_default(void);

/* Starts writing what will become `path`. The bytes go to a file without a name in the same
 * folder; nothing appears before cellar_output_commit(). "-" writes to standard output (at
 * commit, so a failure leaves nothing half-said). `options` may be NULL. If `path` exists and
 * may not be replaced, fails at once with CELLAR_ERR_EXISTS. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_output_open(const char *path,
                                                             const cellar_output_options *options,
                                                             cellar_output **out,
                                                             cellar_error *err);

/* Adds bytes. Errors are kept and reported by commit, so writers need not check each call. */
CELLAR_API void cellar_output_write(cellar_output *output, const void *bytes, size_t length)
    CELLAR_NONNULL(1);
CELLAR_API void cellar_output_string(cellar_output *output, const char *text);
CELLAR_API void cellar_output_printf(cellar_output *output, const char *format, ...)
    CELLAR_PRINTF(2, 3);

/* How many bytes were added so far. */
CELLAR_API uint64_t cellar_output_size_bytes(const cellar_output *output) CELLAR_NONNULL(1);

/* 1 when what is written is shown on a terminal: standard output, and that is one. */
CELLAR_API int cellar_output_is_terminal(const cellar_output *output);

/* Syncs the bytes to disk, gives them their name, and frees `output` whatever happens. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_output_commit(cellar_output *output,
                                                               cellar_error *err);

/* Forgets everything written and frees `output`. NULL is fine. */
CELLAR_API void cellar_output_discard(cellar_output *output);

#ifdef __cplusplus
}
#endif

#endif
