/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

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

cellar_status cellar_folder_list(const char *path, cellar_names *out, cellar_error *err)
{
    DIR *folder = opendir(path);
    cellar_status status = CELLAR_OK;
    if (folder == NULL)
        return cellar_fail_errno(err, path, "open the folder");
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

int cellar_folder_is_there(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Syncs what a folder says about the names in it. */
static int sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed;
    if (fd < 0)
        return -1;
    failed = fsync(fd);
    close(fd);
    return failed;
}

static cellar_status sync_parent(const char *path, cellar_error *err)
{
    const char *slash = strrchr(path, '/');
    cellar_text parent = {0};
    cellar_status status = CELLAR_OK;
    if (slash == NULL)
        cellar_text_add(&parent, ".", 1);
    else
        cellar_text_add(&parent, path, slash == path ? 1 : (size_t) (slash - path));
    if (parent.failed)
        return cellar_fail_memory(err, "the name of a folder");
    if (sync_folder(parent.bytes) != 0)
        status = cellar_fail_errno(err, parent.bytes, "sync the folder");
    cellar_text_clear(&parent);
    return status;
}

cellar_status cellar_folder_create(const char *path, cellar_error *err)
{
    if (mkdir(path, 0700) != 0)
        return cellar_fail_errno(err, path, "make the folder");
    return sync_parent(path, err);
}

/* Does something to every file of a folder. */
static cellar_status for_each_file(const char *path, int (*act)(int folder, const char *name),
                                   const char *what, cellar_error *err)
{
    cellar_names names = {0};
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    cellar_status status = CELLAR_OK;
    if (fd < 0)
        return cellar_fail_errno(err, path, "open the folder");
    CELLAR_TRY(cellar_folder_list(path, &names, err));
    for (size_t i = 0; i < names.n; i++)
        if (act(fd, names.items[i]) != 0)
            CELLAR_TRY(cellar_fail_errno(err, path, what));
out:
    cellar_names_clear(&names);
    close(fd);
    return status;
}

static int remove_file(int folder, const char *name)
{
    return unlinkat(folder, name, 0);
}

static int share_file(int folder, const char *name)
{
    return fchmodat(folder, name, 0644, 0);
}

cellar_status cellar_folder_remove(const char *path, cellar_error *err)
{
    cellar_status status;
    if (!cellar_folder_is_there(path))
        return CELLAR_OK;
    status = for_each_file(path, remove_file, "remove what is in the folder", err);
    if (status == CELLAR_OK && rmdir(path) != 0)
        status = cellar_fail_errno(err, path, "remove the folder");
    return status;
}

cellar_status cellar_folder_publish(const char *staged, const char *path, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(for_each_file(staged, share_file, "share what is in the folder", err));
    if (chmod(staged, 0755) != 0 || sync_folder(staged) != 0)
        CELLAR_TRY(cellar_fail_errno(err, staged, "share the folder"));
    if (renameat2(AT_FDCWD, staged, AT_FDCWD, path, RENAME_NOREPLACE) != 0) {
        /* rename(2) replaces no folder that holds something; where the kind without replacing is
         * unknown an empty one must do */
        if ((errno != EINVAL && errno != ENOSYS) || rename(staged, path) != 0)
            CELLAR_TRY(cellar_fail_name(err, path, "folder"));
    }
    CELLAR_TRY(sync_parent(path, err));
out:
    return status;
}
