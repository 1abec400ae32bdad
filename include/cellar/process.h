/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program that handles confidential data does first. */
#ifndef CELLAR_PROCESS_H
#define CELLAR_PROCESS_H

#include <cellar/export.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Switches core dumps off, makes the process undumpable (no debugger or /proc reader of
 * another user can copy its memory), sets the umask to 077, fills closed standard descriptors so
 * that no file takes their place, and turns the signal at a limit on file sizes into an error of
 * write. Call it before reading anything. Fails only if the system refuses one of these. */
CELLAR_API cellar_status cellar_process_harden(cellar_error *err);

/* Keeps freed memory of up to some megabytes for what is allocated next: lists of that size come
 * and go, and memory given back and asked for anew costs a page fault for every 4 KB. For programs;
 * a library leaves this to them. */
CELLAR_API void cellar_process_keep_memory(void);

/* The number of processors this process may use: the default number of threads. */
CELLAR_API int cellar_process_n_processors(void);

#ifdef __cplusplus
}
#endif

#endif
