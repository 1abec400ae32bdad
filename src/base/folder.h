/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of files that appear whole or not at all. They hold plain files only. */
#ifndef CELLAR_BASE_FOLDER_H
#define CELLAR_BASE_FOLDER_H

#include <stddef.h>

#include <cellar/status.h>

/* The names in a folder, in bytewise order. {0} is empty; clear it in every case. */
typedef struct cellar_names {
    char **items;
    size_t n, capacity;
} cellar_names;

cellar_status cellar_folder_list(const char *path, cellar_names *out, cellar_error *err);
void cellar_names_clear(cellar_names *names);

/* 1 when `path` is a folder itself, not a link to one. */
int cellar_folder_is_there(const char *path);

/* Makes an empty folder that only its owner may enter; its name is on disk when this returns. */
cellar_status cellar_folder_create(const char *path, cellar_error *err);

/* Removes a folder and the files in it; one that is not there is fine. */
cellar_status cellar_folder_remove(const char *path, cellar_error *err);

/* Gives a folder, whose files are complete and synced, its name in one step: readable by all, never
 * replacing anything (CELLAR_ERR_EXISTS). `staged` lies beside it. On failure it stays there. */
cellar_status cellar_folder_publish(const char *staged, const char *path, cellar_error *err);

#endif
