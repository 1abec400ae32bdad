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
 * another user can copy its memory), lets nothing it starts gain privileges, sets the umask to 077,
 * fills closed standard descriptors so that no file takes their place, and turns the signal at a
 * limit on file sizes into an error of write. Call it before reading anything. Fails only if the
 * system refuses one of these. For programs: a library leaves the process to them. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_process_harden(cellar_error *err);

/* What a confined process may still do; 0 is nothing of it. */
enum {
    CELLAR_MAY_EXECUTE = 1, /* start other programs */
    CELLAR_MAY_CONNECT = 2  /* open sockets */
};

/* Has the kernel refuse, with EPERM, what a program that counts has no use for: debugging others
 * and reading their memory, loading code into the kernel, mounting, new namespaces, keyrings, and
 * starting programs and opening sockets unless `may` has them. It holds for this process, its
 * threads and whatever it starts, for good. After cellar_process_harden(), before threads begin. A
 * system that has no such filter is fine (and so are builds with sanitizers, which need these). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_process_confine(unsigned may, cellar_error *err);

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
