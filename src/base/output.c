/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

enum { OUTPUT_BUFFER_BYTES = 1 << 18 };

struct cellar_output {
    char *path;        /* where the file will appear; NULL for standard output */
    char *folder;      /* the folder it lies in */
    char *hidden_path; /* the temporary name on file systems without nameless files */
    char *buffer;
    size_t n_buffered;
    uint64_t size_bytes;
    cellar_text page; /* standard output is held back until commit */
    int fd;
    int replace;
    int failure; /* the errno of the first failed write */
};

static void output_free(cellar_output *output)
{
    if (output == NULL)
        return;
    if (output->fd >= 0)
        close(output->fd);
    if (output->hidden_path != NULL)
        unlink(output->hidden_path);
    cellar_text_clear(&output->page);
    cellar_free(output->hidden_path);
    cellar_free(output->folder);
    cellar_free(output->path);
    cellar_free(output->buffer);
    cellar_free(output);
}

static char *output_copy(const char *text, size_t length)
{
    char *copy = cellar_alloc(length + 1, 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

static char *output_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return output_copy(".", 1);
    return output_copy(path, slash == path ? 1 : (size_t) (slash - path));
}

/* ".cellar-<pid>-<n>.part" beside the output: a name no other run of ours picks. */
static char *output_hidden_name(const char *folder)
{
    static const char format[] = "%s/.cellar-%ld-%d.part";
    struct stat ignored;
    for (int n = 0; n < 1000; n++) {
        char *name = cellar_alloc(strlen(folder) + 64, 1);
        if (name == NULL)
            return NULL;
        snprintf(name, strlen(folder) + 64, format, folder, (long) getpid(), n);
        if (lstat(name, &ignored) != 0)
            return name;
        cellar_free(name);
    }
    return NULL;
}

/* A nameless file vanishes with the process, however it ends. Where the file system has none
 * (some network file systems), a hidden file of mode 0600 must do. */
static cellar_status output_create_file(cellar_output *output, mode_t mode, cellar_error *err)
{
    output->fd = open(output->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    if (output->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        output->hidden_path = output_hidden_name(output->folder);
        if (output->hidden_path == NULL)
            return cellar_fail_memory(err, "an output file");
        output->fd =
            open(output->hidden_path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, mode);
    }
    if (output->fd < 0)
        return cellar_fail_errno(err, output->path, "create the file");
    if (fchmod(output->fd, mode) != 0) /* the umask must not decide */
        return cellar_fail_errno(err, output->path, "set its mode");
    return CELLAR_OK;
}

cellar_status cellar_output_open(const char *path, const cellar_output_options *options,
                                 cellar_output **out, cellar_error *err)
{
    static const cellar_output_options defaults = {0};
    cellar_status status = CELLAR_OK;
    struct stat existing;
    cellar_output *output = NULL;

    *out = NULL;
    if (options == NULL)
        options = &defaults;
    output = cellar_alloc(1, sizeof *output);
    if (output == NULL)
        return cellar_fail_memory(err, "an output file");
    output->fd = -1;
    output->replace = options->replace;
    if (strcmp(path, "-") == 0) {
        *out = output;
        return CELLAR_OK;
    }
    output->path = output_copy(path, strlen(path));
    output->folder = output_folder(path);
    output->buffer = cellar_alloc(OUTPUT_BUFFER_BYTES, 1);
    if (output->path == NULL || output->folder == NULL || output->buffer == NULL) {
        status = cellar_fail_memory(err, "an output file");
        goto out;
    }
    if (!output->replace && lstat(path, &existing) == 0) {
        status = cellar_fail(err, CELLAR_ERR_EXISTS,
                             "%s: exists already; choose another name or allow replacing it", path);
        goto out;
    }
    CELLAR_TRY(output_create_file(output, options->shared ? 0644 : 0600, err));
out:
    if (status != CELLAR_OK)
        output_free(output);
    else
        *out = output;
    return status;
}

static void output_write_all(cellar_output *output, int fd, const char *bytes, size_t length)
{
    while (length > 0 && output->failure == 0) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            output->failure = n < 0 ? errno : EIO;
            return;
        }
        bytes += n;
        length -= (size_t) n;
    }
}

static void output_flush(cellar_output *output)
{
    output_write_all(output, output->fd, output->buffer, output->n_buffered);
    output->n_buffered = 0;
}

void cellar_output_write(cellar_output *output, const void *bytes, size_t length)
{
    const char *from = bytes;
    output->size_bytes += length;
    if (output->path == NULL) {
        cellar_text_add(&output->page, from, length);
        return;
    }
    while (length > 0) {
        size_t room = OUTPUT_BUFFER_BYTES - output->n_buffered;
        size_t n = length < room ? length : room;
        memcpy(output->buffer + output->n_buffered, from, n);
        output->n_buffered += n;
        from += n;
        length -= n;
        if (output->n_buffered == OUTPUT_BUFFER_BYTES)
            output_flush(output);
    }
}

void cellar_output_string(cellar_output *output, const char *text)
{
    cellar_output_write(output, text, strlen(text));
}

void cellar_output_printf(cellar_output *output, const char *format, ...)
{
    char small[512];
    va_list arguments, again;
    int length;

    va_start(arguments, format);
    va_copy(again, arguments);
    length = vsnprintf(small, sizeof small, format, arguments);
    if (length >= 0 && (size_t) length < sizeof small)
        cellar_output_write(output, small, (size_t) length);
    else if (length >= 0) {
        char *large = cellar_alloc((size_t) length + 1, 1);
        if (large == NULL)
            output->failure = ENOMEM;
        else {
            vsnprintf(large, (size_t) length + 1, format, again);
            cellar_output_write(output, large, (size_t) length);
        }
        cellar_free(large);
    }
    va_end(again);
    va_end(arguments);
}

void cellar_output_text(cellar_output *output, const cellar_text *text)
{
    if (text->failed)
        output->failure = ENOMEM;
    else
        cellar_output_write(output, text->bytes, text->length);
}

uint64_t cellar_output_size_bytes(const cellar_output *output)
{
    return output->size_bytes;
}

/* linkat(2) never replaces, so replacing goes through a hidden name and rename(2). */
static cellar_status output_give_name(cellar_output *output, cellar_error *err)
{
    char descriptor[64];
    if (output->hidden_path == NULL) {
        const char *name = output->path;
        snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", output->fd);
        if (output->replace) {
            output->hidden_path = output_hidden_name(output->folder);
            if (output->hidden_path == NULL)
                return cellar_fail_memory(err, "an output file");
            name = output->hidden_path;
        }
        if (linkat(AT_FDCWD, descriptor, AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0)
            return cellar_fail_errno(err, output->path, "give the file its name");
        if (!output->replace)
            return CELLAR_OK;
    }
    if (output->replace ? rename(output->hidden_path, output->path)
                        : link(output->hidden_path, output->path))
        return cellar_fail_errno(err, output->path, "give the file its name");
    if (!output->replace)
        unlink(output->hidden_path);
    cellar_free(output->hidden_path);
    output->hidden_path = NULL;
    return CELLAR_OK;
}

static void output_sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return; /* the data is safe; only the name may be lost in a power cut */
    fsync(fd);
    close(fd);
}

static cellar_status output_commit_page(cellar_output *output, cellar_error *err)
{
    if (output->page.failed || output->failure == ENOMEM)
        return cellar_fail_memory(err, "the output");
    output_write_all(output, STDOUT_FILENO, output->page.bytes, output->page.length);
    if (output->failure != 0) {
        errno = output->failure;
        return cellar_fail_errno(err, "standard output", "write");
    }
    return CELLAR_OK;
}

cellar_status cellar_output_commit(cellar_output *output, cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    if (output->path == NULL) {
        status = output_commit_page(output, err);
        goto out;
    }
    output_flush(output);
    if (output->failure == 0 && fsync(output->fd) != 0)
        output->failure = errno;
    if (output->failure != 0) {
        errno = output->failure;
        status = cellar_fail_errno(err, output->path, "write");
        goto out;
    }
    CELLAR_TRY(output_give_name(output, err));
    output_sync_folder(output->folder);
out:
    output_free(output);
    return status;
}

void cellar_output_discard(cellar_output *output)
{
    output_free(output);
}
