/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of its own for a test that writes files, gone afterwards. */
#ifndef CELLAR_TESTS_SCRATCH_H
#define CELLAR_TESTS_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

typedef struct scratch {
    char folder[64];
    char path[400]; /* the last one scratch_path() made */
} scratch;

static inline int scratch_setup(void **state)
{
    static scratch place;
    place = (scratch){.folder = "/tmp/cellar-test-XXXXXX"};
    *state = &place;
    return mkdtemp(place.folder) == NULL;
}

/* The path of a file in the folder; valid until the next call. */
static inline const char *scratch_path(scratch *place, const char *name)
{
    snprintf(place->path, sizeof place->path, "%.63s/%.300s", place->folder, name);
    return place->path;
}

/* Every entry of the folder, hidden ones included, is removed or counted. */
static inline size_t scratch_walk(scratch *place, int remove_them)
{
    DIR *folder = opendir(place->folder);
    size_t n = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        n++;
        if (remove_them)
            remove(scratch_path(place, entry->d_name));
    }
    closedir(folder);
    return n;
}

static inline size_t scratch_n_entries(scratch *place)
{
    return scratch_walk(place, 0);
}

static inline void scratch_write(scratch *place, const char *name, const char *content)
{
    FILE *file = fopen(scratch_path(place, name), "w");
    assert_non_null(file);
    assert_int_equal(fputs(content, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

/* What the file holds, up to 64 KiB; valid until the next call. */
static inline const char *scratch_read(scratch *place, const char *name)
{
    static char found[1 << 16];
    FILE *file = fopen(scratch_path(place, name), "r");
    size_t n;
    assert_non_null(file);
    n = fread(found, 1, sizeof found - 1, file);
    fclose(file);
    found[n] = '\0';
    return found;
}

static inline void scratch_expect(scratch *place, const char *name, const char *content)
{
    assert_string_equal(scratch_read(place, name), content);
}

static inline void scratch_says(scratch *place, const char *name, const char *words)
{
    if (strstr(scratch_read(place, name), words) == NULL)
        fail_msg("%s does not say '%s'", name, words);
}

static inline unsigned scratch_mode(scratch *place, const char *name)
{
    struct stat facts;
    assert_int_equal(lstat(scratch_path(place, name), &facts), 0);
    return (unsigned) facts.st_mode & 07777u;
}

static inline int scratch_teardown(void **state)
{
    scratch *place = *state;
    scratch_walk(place, 1);
    return rmdir(place->folder);
}

#endif
