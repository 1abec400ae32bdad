/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/place.h"

void cellar_names_clear(cellar_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        cellar_free(names->items[i]);
    cellar_free(names->items);
    *names = (cellar_names){0};
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

static int names_add(cellar_names *names, const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy;
    if (!cellar_grow(&names->items, &names->capacity, names->n + 1, sizeof *names->items))
        return 0;
    copy = cellar_alloc(size, 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, name, size);
    names->items[names->n++] = copy;
    return 1;
}

/* Lists a folder and closes it. */
static cellar_status list_names(DIR *folder, const char *path, cellar_names *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (;;) {
        const struct dirent *entry;
        errno = 0;
        entry = readdir(folder);
        if (entry == NULL)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (!names_add(out, entry->d_name)) {
            status = cellar_fail_memory(err, "the names in a folder");
            break;
        }
    }
    if (status == CELLAR_OK && errno != 0)
        status = cellar_fail_errno(err, path, "read the folder");
    closedir(folder);
    if (status == CELLAR_OK && out->n > 1)
        qsort(out->items, out->n, sizeof *out->items, compare_names);
    return status;
}

cellar_status cellar_folder_list(const char *path, cellar_names *out, cellar_error *err)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return cellar_fail_errno(err, path, "open the folder");
    return list_names(folder, path, out, err);
}

int cellar_folder_is_there(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

cellar_status cellar_folder_create(const char *path, cellar_error *err)
{
    cellar_place place;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_place_open(path, CELLAR_PLACE_KEPT, &place, err));
    if (mkdirat(place.fd, place.name, 0700) != 0)
        CELLAR_TRY(cellar_fail_errno(err, path, "make the folder"));
    if (cellar_place_sync(&place, -1) != 0)
        CELLAR_TRY(cellar_fail_errno(err, path, "sync the folder it lies in"));
out:
    cellar_place_close(&place);
    return status;
}

/* Does something to every file of an open folder. */
static cellar_status for_each_file(int fd, const char *path,
                                   cellar_status (*act)(int folder, const char *path,
                                                        const char *name, cellar_error *err),
                                   cellar_error *err)
{
    cellar_names names = {0};
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = again >= 0 ? fdopendir(again) : NULL;
    cellar_status status = CELLAR_OK;
    if (folder == NULL) {
        status = cellar_fail_errno(err, path, "read the folder");
        if (again >= 0)
            close(again);
        return status;
    }
    CELLAR_TRY(list_names(folder, path, &names, err));
    for (size_t i = 0; i < names.n; i++)
        CELLAR_TRY(act(fd, path, names.items[i], err));
out:
    cellar_names_clear(&names);
    return status;
}

static cellar_status remove_file(int folder, const char *path, const char *name, cellar_error *err)
{
    if (unlinkat(folder, name, 0) != 0)
        return cellar_fail_errno(err, path, "remove what is in the folder");
    return CELLAR_OK;
}

/* Through a descriptor: a link in the file's place would lead to somebody else's. */
static cellar_status share_file(int folder, const char *path, const char *name, cellar_error *err)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat facts;
    cellar_status status = CELLAR_OK;
    if (fd < 0)
        return cellar_fail_errno(err, path, "open what is in the folder");
    CELLAR_TRY(cellar_place_check_file(fd, path, &facts, err));
    if (fchmod(fd, 0644) != 0 || fsync(fd) != 0)
        CELLAR_TRY(cellar_fail_errno(err, path, "share what is in the folder"));
out:
    close(fd);
    return status;
}

/* Opens a folder itself, not what a link leads to. */
static int open_folder(const cellar_place *place, const char *name)
{
    return openat(place->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

cellar_status cellar_folder_remove(const char *path, cellar_error *err)
{
    cellar_place place;
    int fd = -1;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_place_open(path, CELLAR_PLACE_KEPT, &place, err));
    fd = open_folder(&place, place.name);
    if (fd < 0 && errno == ENOENT)
        goto out;
    if (fd < 0)
        CELLAR_TRY(cellar_fail_errno(err, path, "open the folder"));
    CELLAR_TRY(for_each_file(fd, path, remove_file, err));
    if (unlinkat(place.fd, place.name, AT_REMOVEDIR) != 0)
        CELLAR_TRY(cellar_fail_errno(err, path, "remove the folder"));
out:
    if (fd >= 0)
        close(fd);
    cellar_place_close(&place);
    return status;
}

/* All may read the folder and its files, and the disk has that. */
static cellar_status share_folder(int fd, const char *path, struct stat *facts, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (fstat(fd, facts) != 0)
        return cellar_fail_errno(err, path, "look at the folder");
    if (facts->st_uid != geteuid())
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: the folder belongs to another user", path);
    CELLAR_TRY(for_each_file(fd, path, share_file, err));
    if (fchmod(fd, 0755) != 0 || fsync(fd) != 0)
        CELLAR_TRY(cellar_fail_errno(err, path, "share the folder"));
out:
    return status;
}

cellar_status cellar_folder_publish(const char *staged, const char *path, cellar_error *err)
{
    const char *from = cellar_place_name(staged);
    cellar_place place;
    struct stat facts;
    int fd = -1;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_place_open(path, CELLAR_PLACE_KEPT, &place, err));
    fd = open_folder(&place, from);
    if (fd < 0)
        CELLAR_TRY(cellar_fail_errno(err, staged, "open the folder"));
    CELLAR_TRY(share_folder(fd, staged, &facts, err));
    if (cellar_place_rename(&place, from, place.name, 0) != 0)
        CELLAR_TRY(cellar_fail_name(err, path, "folder"));
    if (!cellar_place_is(&place, place.name, &facts))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_IO,
                               "%s: another program has put something else there in the meantime",
                               path));
    if (cellar_place_sync(&place, fd) != 0)
        CELLAR_TRY(cellar_fail_errno(err, path, "sync the folder it lies in"));
out:
    if (fd >= 0)
        close(fd);
    cellar_place_close(&place);
    return status;
}
