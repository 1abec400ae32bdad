/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
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
    mode_t mode;
    int failure; /* the errno of the first failed write */
    cellar_output_listener *listener;
    void *listener_context;
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

/* ".cellar-<random>.part" beside the output: a name that no other thread or run picks. */
static char *output_hidden_name(const char *folder)
{
    size_t size = strlen(folder) + 64;
    char *name = cellar_alloc(size, 1);
    uint64_t random[2] = {0, (uint64_t) getpid()};
    if (name == NULL)
        return NULL;
    if (getrandom(random, sizeof random, 0) < 0)
        random[0]++; /* never on Linux; the process number and O_EXCL must do then */
    snprintf(name, size, "%s/.cellar-%016" PRIx64 "%016" PRIx64 ".part", folder, random[0],
             random[1]);
    return name;
}

/* A nameless file vanishes with the process, however it ends. Where the file system has none
 * (some network file systems), a hidden file must do. Both are the owner's alone until commit. */
static cellar_status output_create_file(cellar_output *output, cellar_error *err)
{
    output->fd = open(output->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (output->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        char *name = output_hidden_name(output->folder);
        if (name == NULL)
            return cellar_fail_memory(err, "an output file");
        output->fd = open(name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
        if (output->fd >= 0)
            output->hidden_path = name;
        else
            cellar_free(name); /* free leaves errno alone (POSIX 2024, glibc 2.33) */
    }
    if (output->fd < 0)
        return cellar_fail_errno(err, output->path, "create the file");
    return CELLAR_OK;
}

/* Says now what would otherwise be found out at commit, after all the work. */
static cellar_status output_check_target(const char *path, int replace, cellar_error *err)
{
    size_t length = strlen(path);
    struct stat existing;

    if (length == 0 || path[length - 1] == '/')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "'%s' is not the name of a file", path);
    if (lstat(path, &existing) != 0)
        return CELLAR_OK;
    if (!replace)
        return cellar_fail(err, CELLAR_ERR_EXISTS,
                           "%s: exists already; choose another name or allow replacing it", path);
    if (!S_ISREG(existing.st_mode) && !S_ISLNK(existing.st_mode)) /* /dev/null, say */
        return cellar_fail(err, CELLAR_ERR_EXISTS,
                           "%s: is a folder or a device, which cannot be replaced", path);
    return CELLAR_OK;
}

cellar_status cellar_output_open(const char *path, const cellar_output_options *options,
                                 cellar_output **out, cellar_error *err)
{
    static const cellar_output_options defaults = {0};
    cellar_status status = CELLAR_OK;
    cellar_output *output = NULL;

    *out = NULL;
    if (options == NULL)
        options = &defaults;
    output = cellar_alloc(1, sizeof *output);
    if (output == NULL)
        return cellar_fail_memory(err, "an output file");
    output->fd = -1;
    output->replace = options->replace;
    output->mode = options->shared ? 0644 : 0600;
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
    CELLAR_TRY(output_check_target(path, output->replace, err));
    CELLAR_TRY(output_create_file(output, err));
out:
    if (status != CELLAR_OK)
        output_free(output);
    else
        *out = output;
    return status;
}

static void output_note_failure(cellar_output *output, int error_number)
{
    if (output->failure == 0)
        output->failure = error_number;
}

static void output_write_all(cellar_output *output, int fd, const char *bytes, size_t length)
{
    while (length > 0 && output->failure == 0) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            output_note_failure(output, n < 0 ? errno : EIO);
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
    if (output->listener != NULL)
        output->listener(output->listener_context, bytes, length);
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
    if (length < 0)
        output_note_failure(output, errno);
    else if ((size_t) length < sizeof small)
        cellar_output_write(output, small, (size_t) length);
    else {
        char *large = cellar_alloc((size_t) length + 1, 1);
        if (large == NULL)
            output_note_failure(output, ENOMEM);
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
        output_note_failure(output, ENOMEM);
    else
        cellar_output_write(output, text->bytes, text->length);
}

void cellar_output_listen(cellar_output *output, cellar_output_listener *listener, void *context)
{
    output->listener = listener;
    output->listener_context = context;
}

uint64_t cellar_output_size_bytes(const cellar_output *output)
{
    return output->size_bytes;
}

/* Gives a nameless file a name that nobody has. The way through /proc needs no privilege; without
 * /proc there is the way that does. */
static int output_link(int fd, const char *name)
{
    char descriptor[64];
    snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, descriptor, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    return errno == ENOENT ? linkat(fd, "", AT_FDCWD, name, AT_EMPTY_PATH) : -1;
}

/* Not every file system can rename without replacing; those that cannot have hard links. */
static int output_rename(const char *from, const char *to, int replace)
{
    if (replace)
        return rename(from, to);
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    return link(from, to) == 0 ? unlink(from) : -1;
}

/* linkat(2) never replaces, so replacing goes through a hidden name and rename(2). */
static cellar_status output_give_name(cellar_output *output, cellar_error *err)
{
    if (output->hidden_path == NULL && !output->replace) {
        if (output_link(output->fd, output->path) != 0)
            return cellar_fail_name(err, output->path, "file");
        return CELLAR_OK;
    }
    if (output->hidden_path == NULL) {
        char *name = output_hidden_name(output->folder);
        if (name == NULL)
            return cellar_fail_memory(err, "an output file");
        if (output_link(output->fd, name) != 0) {
            cellar_status status = cellar_fail_name(err, output->path, "file");
            cellar_free(name);
            return status;
        }
        output->hidden_path = name;
    }
    if (output_rename(output->hidden_path, output->path, output->replace) != 0)
        return cellar_fail_name(err, output->path, "file");
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
    if (output->page.failed)
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
    if (output->failure == 0 && fchmod(output->fd, output->mode) != 0) /* whatever the umask */
        output->failure = errno;
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

cellar_status cellar_output_publish(const char *staged, const char *path,
                                    const cellar_output_options *options, cellar_error *err)
{
    char *folder = output_folder(path);
    cellar_status status = CELLAR_OK;

    if (folder == NULL)
        return cellar_fail_memory(err, "an output file");
    if (chmod(staged, options != NULL && options->shared ? 0644 : 0600) != 0 ||
        output_rename(staged, path, options != NULL && options->replace) != 0)
        status = cellar_fail_name(err, path, "file");
    else
        output_sync_folder(folder);
    cellar_free(folder);
    return status;
}

void cellar_output_discard(cellar_output *output)
{
    output_free(output);
}
