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
#include "base/place.h"
#include "base/text.h"

enum { OUTPUT_BUFFER_BYTES = 1 << 18 };

struct cellar_output {
    char *path; /* where the file will appear; NULL for standard output */
    cellar_place place;
    char hidden[CELLAR_PLACE_HIDDEN_BYTES]; /* the temporary name, when there is one */
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
    if (output->hidden[0] != '\0')
        unlinkat(output->place.fd, output->hidden, 0);
    cellar_place_close(&output->place);
    cellar_text_clear(&output->page);
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

/* A nameless file vanishes with the process, however it ends. Where the file system has none
 * (some network file systems), a hidden file must do. Both are the owner's alone until commit. */
static cellar_status output_create_file(cellar_output *output, cellar_error *err)
{
    const int folder = output->place.fd;
    output->fd = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (output->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        char name[CELLAR_PLACE_HIDDEN_BYTES];
        cellar_status status = cellar_place_hide(".part", name, err);
        if (status != CELLAR_OK)
            return status;
        output->fd =
            openat(folder, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
        if (output->fd >= 0)
            memcpy(output->hidden, name, sizeof name);
    }
    if (output->fd < 0)
        return cellar_fail_errno(err, output->path, "create the file");
    return CELLAR_OK;
}

/* Says now what would otherwise be found out at commit, after all the work. */
static cellar_status output_check_target(const cellar_output *output, cellar_error *err)
{
    struct stat existing;
    if (fstatat(output->place.fd, output->place.name, &existing, AT_SYMLINK_NOFOLLOW) != 0)
        return CELLAR_OK;
    if (!output->replace)
        return cellar_fail(err, CELLAR_ERR_EXISTS,
                           "%s: exists already; choose another name or allow replacing it",
                           output->path);
    if (!S_ISREG(existing.st_mode) && !S_ISLNK(existing.st_mode)) /* /dev/null, say */
        return cellar_fail(err, CELLAR_ERR_EXISTS,
                           "%s: is a folder or a device, which cannot be replaced", output->path);
    return CELLAR_OK;
}

/* Finds the folder, and a file in it. */
static cellar_status output_begin(cellar_output *output, const char *path, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (*cellar_place_name(path) == '\0')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "'%s' is not the name of a file", path);
    output->path = output_copy(path, strlen(path));
    output->buffer = cellar_alloc(OUTPUT_BUFFER_BYTES, 1);
    if (output->path == NULL || output->buffer == NULL)
        return cellar_fail_memory(err, "an output file");
    CELLAR_TRY(cellar_place_open(output->path, CELLAR_PLACE_KEPT, &output->place, err));
    CELLAR_TRY(output_check_target(output, err));
    CELLAR_TRY(output_create_file(output, err));
out:
    return status;
}

cellar_output_options cellar_output_options_default(void)
{
    return (cellar_output_options){0};
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
    output->fd = output->place.fd = -1;
    output->replace = options->replace;
    output->mode = options->shared ? 0644 : 0600;
    if (strcmp(path, "-") == 0) {
        *out = output;
        return CELLAR_OK;
    }
    status = output_begin(output, path, err);
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

int cellar_output_is_terminal(const cellar_output *output)
{
    return output->path == NULL && isatty(STDOUT_FILENO);
}

/* Gives a nameless file a name that nobody has. The way through /proc needs no privilege; without
 * /proc there is the way that does. */
static int output_link(const cellar_output *output, const char *name)
{
    char descriptor[64];
    const int folder = output->place.fd;
    snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", output->fd);
    if (linkat(AT_FDCWD, descriptor, folder, name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    return errno == ENOENT ? linkat(output->fd, "", folder, name, AT_EMPTY_PATH) : -1;
}

/* The name is that of the very file that was written, and on disk. */
static cellar_status output_settle(const cellar_place *place, int fd, const char *path,
                                   cellar_error *err)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return cellar_fail_errno(err, path, "look at the file");
    if (!cellar_place_is(place, place->name, &facts))
        return cellar_fail(err, CELLAR_ERR_IO,
                           "%s: another program has put something else there in the meantime",
                           path);
    if (cellar_place_sync(place, fd) != 0)
        return cellar_fail_errno(err, path, "sync the folder of the file");
    return CELLAR_OK;
}

/* linkat(2) never replaces, so replacing goes through a hidden name and rename(2). */
static cellar_status output_give_name(cellar_output *output, cellar_error *err)
{
    if (output->hidden[0] == '\0' && !output->replace) {
        if (output_link(output, output->place.name) != 0)
            return cellar_fail_name(err, output->path, "file");
        return CELLAR_OK;
    }
    if (output->hidden[0] == '\0') {
        char name[CELLAR_PLACE_HIDDEN_BYTES];
        cellar_status status = cellar_place_hide(".part", name, err);
        if (status != CELLAR_OK)
            return status;
        if (output_link(output, name) != 0)
            return cellar_fail_name(err, output->path, "file");
        memcpy(output->hidden, name, sizeof name);
    }
    if (cellar_place_rename(&output->place, output->hidden, output->place.name, output->replace))
        return cellar_fail_name(err, output->path, "file");
    output->hidden[0] = '\0';
    return CELLAR_OK;
}

/* A name that may not last until the next power cut is none. */
static void output_take_name_back(const cellar_output *output)
{
    struct stat facts;
    if (fstat(output->fd, &facts) == 0 &&
        cellar_place_is(&output->place, output->place.name, &facts))
        unlinkat(output->place.fd, output->place.name, 0);
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
    status = output_settle(&output->place, output->fd, output->path, err);
    if (status != CELLAR_OK && !output->replace)
        output_take_name_back(output);
out:
    output_free(output);
    return status;
}

/* The mode changes through the descriptor: what has the name by then cannot get it instead. */
static cellar_status publish_mode(int fd, const char *path, mode_t mode, cellar_error *err)
{
    if (fchmod(fd, mode) != 0 || fsync(fd) != 0)
        return cellar_fail_errno(err, path, "share the file");
    return CELLAR_OK;
}

cellar_status cellar_output_publish(const char *staged, const char *path,
                                    const cellar_output_options *options, cellar_error *err)
{
    static const cellar_output_options defaults = {0};
    const char *from = cellar_place_name(staged);
    cellar_place place = {.fd = -1};
    struct stat facts;
    int fd = -1, is_named = 0;
    cellar_status status = CELLAR_OK;

    if (options == NULL)
        options = &defaults;
    CELLAR_TRY(cellar_place_open(path, CELLAR_PLACE_KEPT, &place, err));
    fd = openat(place.fd, from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        CELLAR_TRY(cellar_fail_errno(err, staged, "open the file"));
    /* A crash leaves both names where renaming is linking and unlinking. */
    if (fstat(fd, &facts) == 0 && cellar_place_is(&place, place.name, &facts))
        is_named = unlinkat(place.fd, from, 0) == 0;
    CELLAR_TRY(cellar_place_check_file(fd, staged, &facts, err));
    CELLAR_TRY(publish_mode(fd, path, options->shared ? 0644 : 0600, err));
    if (!is_named && cellar_place_rename(&place, from, place.name, options->replace) != 0)
        CELLAR_TRY(cellar_fail_name(err, path, "file"));
    CELLAR_TRY(output_settle(&place, fd, path, err));
out:
    if (fd >= 0)
        close(fd);
    cellar_place_close(&place);
    return status;
}

void cellar_output_discard(cellar_output *output)
{
    output_free(output);
}
