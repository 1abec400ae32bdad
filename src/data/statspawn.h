/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting cellar-statread, the program that reads SPSS, Stata and SAS files. */
#ifndef CELLAR_DATA_STATSPAWN_H
#define CELLAR_DATA_STATSPAWN_H

#include <sys/types.h>

#include "data/statwire.h"

typedef struct cellar_statspawn {
    pid_t pid;
    int fd; /* a socket to it, -1: none */
} cellar_statspawn;

/* Starts the program on an open file and sends the request. The program gets the file and the
 * socket, no other descriptor and no environment. On failure nothing runs. */
cellar_status cellar_statspawn_start(int file, const cellar_statwire_request *request,
                                     const size_t *columns, cellar_statspawn *child,
                                     cellar_error *err);

/* Waits for the program's end, or ends it (`over`: it has closed the socket). Answers the signal
 * that ended it, 0 when none did. */
int cellar_statspawn_stop(cellar_statspawn *child, int over);

/* The path of the program: what CELLAR_STATREAD says; else beside the program or library that asks,
 * or where it is installed relative to these, or where it was configured to be. 0: `path` is too
 * small for it. */
int cellar_statspawn_path(char *path, size_t size);

#endif
