/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files of a folder say that no ledger was charged for them. */
#include "release/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "release/description.h"

enum { READ_BYTES = 1 << 16, STAMP_LENGTH = sizeof CELLAR_RELEASE_UNACCOUNTED - 1 };

/* Looks for the stamp in a file. Each piece begins with the end of the one before, which might hold
 * the beginning of the stamp. */
static cellar_status file_has_stamp(const char *path, char *bytes, int *found, cellar_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    cellar_status status = CELLAR_OK;
    size_t kept = 0;
    *found = 0;
    if (fd < 0)
        return cellar_fail_errno(err, path, "open the file");
    while (!*found) {
        ssize_t n = read(fd, bytes + kept, READ_BYTES);
        size_t length;
        if (n == 0)
            break;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            status = cellar_fail_errno(err, path, "read the file");
            break;
        }
        length = kept + (size_t) n;
        *found = memmem(bytes, length, CELLAR_RELEASE_UNACCOUNTED, STAMP_LENGTH) != NULL;
        kept = length < STAMP_LENGTH - 1 ? length : STAMP_LENGTH - 1;
        memmove(bytes, bytes + length - kept, kept);
    }
    close(fd);
    return status;
}

cellar_status cellar_manifest_count_unaccounted(const char *folder, size_t *n, cellar_error *err)
{
    char *path = cellar_manifest_path(folder, CELLAR_MANIFEST_FILE), *lines = NULL;
    char *bytes = cellar_alloc(READ_BYTES + STAMP_LENGTH, 1);
    size_t length;
    cellar_status status = CELLAR_OK;

    *n = 0;
    if (path == NULL || bytes == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a manifest"));
    CELLAR_TRY(cellar_file_read(path, CELLAR_MANIFEST_LIMIT, &lines, &length, err));
    for (char *line = lines, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char *name = strchr(line, ' ');
        int found;
        *end = '\0';
        if (name == NULL || name[1] != ' ')
            continue; /* cellar_manifest_check() tells */
        cellar_free(path);
        path = cellar_manifest_path(folder, name + 2);
        if (path == NULL)
            CELLAR_TRY(cellar_fail_memory(err, "a manifest"));
        CELLAR_TRY(file_has_stamp(path, bytes, &found, err));
        *n += (size_t) found;
    }
out:
    cellar_free(lines);
    cellar_free(bytes);
    cellar_free(path);
    return status;
}
