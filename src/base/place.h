/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a file lies: its folder, held by a descriptor, and its name there. Calls that take both
 * cannot be led elsewhere by somebody who exchanges a folder or a link between two of them. */
#ifndef CELLAR_BASE_PLACE_H
#define CELLAR_BASE_PLACE_H

#include <sys/stat.h>

#include <cellar/status.h>

typedef enum cellar_place_rule {
    /* Others cannot remove or rename our files there: they cannot write to the folder, or its
     * sticky bit is set (as /tmp has it). They may add files to a sticky one, so that names in it
     * must be unguessable until they are taken. */
    CELLAR_PLACE_KEPT,
    /* Others cannot write to the folder at all: for files to which a program adds others by names
     * that everybody knows. */
    CELLAR_PLACE_OURS
} cellar_place_rule;

/* {.fd = -1} is closed. */
typedef struct cellar_place {
    int fd;           /* of the folder */
    const char *name; /* the last part of the path it was opened with, which must outlive it */
} cellar_place;

/* Opens the folder in which `path` lies or will lie; CELLAR_ERR_RULE when it is against the rule.
 * Close it with cellar_place_close(), which is fine after a failure too. */
cellar_status cellar_place_open(const char *path, cellar_place_rule rule, cellar_place *out,
                                cellar_error *err);
void cellar_place_close(cellar_place *place);

/* The last part of a path. */
const char *cellar_place_name(const char *path);

/* ".cellar-<32 random digits><ending>", which nobody can know before. */
enum { CELLAR_PLACE_HIDDEN_BYTES = 64 };
cellar_status cellar_place_hide(const char *ending, char out[CELLAR_PLACE_HIDDEN_BYTES],
                                cellar_error *err);

/* Renames within the folder; 0, or -1 with errno (EEXIST: the name is taken, unless `replace`). */
int cellar_place_rename(const cellar_place *place, const char *from, const char *to, int replace);

/* 1 when `name` is this very file or folder, and not a link or something put in its place. */
int cellar_place_is(const cellar_place *place, const char *name, const struct stat *facts);

/* Brings the names in the folder to disk; 0, or -1 with errno. Where a folder may be written to and
 * not be read, all of the file system of `file` is synced, which is open there (-1: all there is).
 */
int cellar_place_sync(const cellar_place *place, int file);

/* Looks at an open file: CELLAR_ERR_RULE unless it is a plain file of ours with one name. */
cellar_status cellar_place_check_file(int fd, const char *path, struct stat *facts,
                                      cellar_error *err);

#endif
