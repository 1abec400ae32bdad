/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

static cellar_status read_all(int fd, const char *path, size_t limit_bytes, char **bytes,
                              size_t *length, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    char *buffer = NULL;
    size_t capacity = 0, n = 0;

    for (;;) {
        ssize_t got;
        if (!cellar_grow(&buffer, &capacity, n + 65536, 1)) {
            status = cellar_fail_memory(err, path);
            goto out;
        }
        got = read(fd, buffer + n, capacity - n - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            status = cellar_fail_errno(err, path, "read the file");
            goto out;
        }
        if (got == 0)
            break;
        n += (size_t) got;
        if (n > limit_bytes) {
            status = cellar_fail(err, CELLAR_ERR_MEMORY,
                                 "%s: larger than the %zu bytes allowed for such a file", path,
                                 limit_bytes);
            goto out;
        }
    }
    buffer[n] = '\0';
    *bytes = buffer;
    *length = n;
    buffer = NULL;
out:
    cellar_free(buffer);
    return status;
}

cellar_status cellar_file_read(const char *path, size_t limit_bytes, char **bytes, size_t *length,
                               cellar_error *err)
{
    int from_stdin = strcmp(path, "-") == 0;
    int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    cellar_status status;

    *bytes = NULL;
    *length = 0;
    if (fd < 0)
        return cellar_fail_errno(err, path, "open the file");
    status = read_all(fd, path, limit_bytes, bytes, length, err);
    if (!from_stdin)
        close(fd);
    return status;
}

int cellar_file_open_plain(const char *path, int flags, cellar_error *err)
{
    struct stat facts;
    int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0) {
        const int why = errno;
        (void) cellar_fail_errno(err, path, "open the file");
        errno = why;
        return -1;
    }
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
        return fd;
    close(fd);
    errno = EINVAL;
    (void) cellar_fail(err, CELLAR_ERR_IO,
                       "%s: is not a plain file; pipes, devices and folders are not read here",
                       path);
    return -1;
}

cellar_status cellar_file_read_plain(const char *path, size_t limit_bytes, char **bytes,
                                     size_t *length, cellar_error *err)
{
    int fd = cellar_file_open_plain(path, O_RDONLY, err);
    cellar_status status;

    *bytes = NULL;
    *length = 0;
    if (fd < 0)
        return CELLAR_ERR_IO;
    status = read_all(fd, path, limit_bytes, bytes, length, err);
    close(fd);
    return status;
}

size_t cellar_file_peek(const char *path, char *bytes, size_t n)
{
    struct stat facts;
    ssize_t got;
    int fd;
    if (stat(path, &facts) != 0 ||
        !S_ISREG(facts.st_mode)) /* opened, a pipe's writer would go on */
        return 0;
    fd = cellar_file_open_plain(path, O_RDONLY, NULL);
    if (fd < 0)
        return 0;
    got = pread(fd, bytes, n, 0);
    close(fd);
    return got > 0 ? (size_t) got : 0;
}
