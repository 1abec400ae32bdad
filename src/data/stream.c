/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"

enum { STREAM_PACKED_BYTES = 256 * 1024, STREAM_GZIP_WINDOW = 15 + 16 /* gzip wrapper only */ };

struct cellar_stream {
    char *name;
    int fd; /* -1: bytes in memory */
    const unsigned char *bytes;
    size_t length, position; /* of the bytes in memory */
    unsigned char head[2];   /* looked at, not yet handed out: only where seeking back fails */
    size_t n_head;           /* how many of them are left, at the end of `head` */
    uint64_t size, consumed; /* of the file as stored; size 0: unknown */
    z_stream *gzip;          /* NULL: plain */
    unsigned char *packed;   /* input of `gzip` */
    int between_members;     /* the last member ended; another, padding or the end may follow */
    int inflating;           /* inflateInit2 succeeded */
};

/* ---- bytes as stored ------------------------------------------------------ */

static cellar_status stream_read_file(cellar_stream *stream, unsigned char *buffer, size_t size,
                                      size_t *got, cellar_error *err)
{
    *got = 0;
    while (*got < size) {
        ssize_t n = read(stream->fd, buffer + *got, size - *got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cellar_fail_errno(err, stream->name, "read the file");
        if (n == 0)
            break;
        *got += (size_t) n;
    }
    return CELLAR_OK;
}

static cellar_status stream_read_stored(cellar_stream *stream, unsigned char *buffer, size_t size,
                                        size_t *got, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_head = size < stream->n_head ? size : stream->n_head;

    memcpy(buffer, stream->head + sizeof stream->head - stream->n_head, n_head);
    stream->n_head -= n_head;
    if (stream->fd < 0) {
        size_t rest = stream->length - stream->position;
        *got = size < rest ? size : rest;
        if (*got > 0)
            memcpy(buffer, stream->bytes + stream->position, *got);
        stream->position += *got;
    } else {
        status = stream_read_file(stream, buffer + n_head, size - n_head, got, err);
        *got += n_head;
    }
    stream->consumed += *got;
    return status;
}

/* ---- gzip ----------------------------------------------------------------- */

static void *stream_zalloc(void *opaque, unsigned n, unsigned size)
{
    (void) opaque;
    return cellar_alloc(n, size);
}

static void stream_zfree(void *opaque, void *pointer)
{
    (void) opaque;
    cellar_free(pointer);
}

static cellar_status stream_start_gzip(cellar_stream *stream, cellar_error *err)
{
    stream->gzip = cellar_alloc(1, sizeof *stream->gzip);
    stream->packed = cellar_alloc_pages(STREAM_PACKED_BYTES);
    if (stream->gzip == NULL || stream->packed == NULL)
        return cellar_fail_memory(err, stream->name);
    stream->gzip->zalloc = stream_zalloc;
    stream->gzip->zfree = stream_zfree;
    if (inflateInit2(stream->gzip, STREAM_GZIP_WINDOW) != Z_OK)
        return cellar_fail_memory(err, stream->name);
    stream->inflating = 1;
    return CELLAR_OK;
}

static cellar_status stream_refill(cellar_stream *stream, cellar_error *err)
{
    size_t got;
    cellar_status status =
        stream_read_stored(stream, stream->packed, STREAM_PACKED_BYTES, &got, err);
    stream->gzip->next_in = stream->packed;
    stream->gzip->avail_in = (uInt) got;
    return status;
}

/* After a member: skips the zero bytes that tapes and block devices pad with (as gzip does) and
 * makes ready for the next member, if anything is left. */
static cellar_status stream_next_member(cellar_stream *stream, int *at_end, cellar_error *err)
{
    z_stream *gzip = stream->gzip;
    for (;;) {
        while (gzip->avail_in > 0 && *gzip->next_in == 0) {
            gzip->next_in++;
            gzip->avail_in--;
        }
        if (gzip->avail_in > 0)
            break;
        cellar_status status = stream_refill(stream, err);
        if (status != CELLAR_OK)
            return status;
        *at_end = gzip->avail_in == 0;
        if (*at_end)
            return CELLAR_OK;
    }
    inflateReset(gzip);
    stream->between_members = 0;
    return CELLAR_OK;
}

static cellar_status stream_inflate(cellar_stream *stream, cellar_error *err)
{
    z_stream *gzip = stream->gzip;
    if (gzip->avail_in == 0) {
        cellar_status status = stream_refill(stream, err);
        if (status != CELLAR_OK)
            return status;
        if (gzip->avail_in == 0)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: the gzip data ends too early: the file is cut short",
                               stream->name);
    }
    switch (inflate(gzip, Z_NO_FLUSH)) {
    case Z_OK:
    case Z_BUF_ERROR: /* no harm: more input or room is needed */
        return CELLAR_OK;
    case Z_STREAM_END:
        stream->between_members = 1;
        return CELLAR_OK;
    case Z_MEM_ERROR:
        return cellar_fail_memory(err, stream->name);
    default:
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the gzip data is damaged (%s)", stream->name,
                           gzip->msg != NULL ? gzip->msg : "not gzip");
    }
}

static cellar_status stream_read_gzip(cellar_stream *stream, unsigned char *buffer, size_t size,
                                      size_t *got, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int at_end = 0;

    *got = 0;
    while (status == CELLAR_OK && *got < size && !at_end) {
        size_t room = size - *got < UINT_MAX ? size - *got : UINT_MAX;
        if (stream->between_members) {
            status = stream_next_member(stream, &at_end, err);
            continue;
        }
        stream->gzip->next_out = buffer + *got;
        stream->gzip->avail_out = (uInt) room;
        status = stream_inflate(stream, err);
        *got += room - stream->gzip->avail_out;
    }
    return status;
}

/* ---- life cycle ----------------------------------------------------------- */

static cellar_stream *stream_create(const char *name)
{
    cellar_stream *stream = cellar_alloc(1, sizeof *stream);
    size_t length = strlen(name);

    if (stream == NULL)
        return NULL;
    stream->fd = -1;
    stream->name = cellar_alloc(length + 1, 1);
    if (stream->name == NULL) {
        cellar_free(stream);
        return NULL;
    }
    memcpy(stream->name, name, length);
    return stream;
}

/* Looks at the first two bytes and puts them back: by seeking where that is possible, so that
 * reads into the caller's buffer stay aligned with the file's pages. */
static cellar_status stream_look(cellar_stream *stream, cellar_error *err)
{
    unsigned char head[sizeof stream->head];
    size_t got;
    cellar_status status = stream_read_stored(stream, head, sizeof head, &got, err);
    if (status != CELLAR_OK)
        return status;

    stream->consumed = 0;
    if (stream->fd < 0)
        stream->position = 0;
    else if (lseek(stream->fd, -(off_t) got, SEEK_CUR) < 0) {
        memcpy(stream->head + sizeof head - got, head, got);
        stream->n_head = got;
    }
    if (got == sizeof head && head[0] == 0x1f && head[1] == 0x8b)
        return stream_start_gzip(stream, err);
    return CELLAR_OK;
}

/* The size of a regular file from where we stand; standard input may stand in the middle. */
static void stream_measure(cellar_stream *stream)
{
    struct stat about;
    off_t here = lseek(stream->fd, 0, SEEK_CUR);
    if (here < 0 || fstat(stream->fd, &about) != 0 || !S_ISREG(about.st_mode))
        return;
    if (about.st_size > here)
        stream->size = (uint64_t) (about.st_size - here);
    posix_fadvise(stream->fd, here, 0, POSIX_FADV_SEQUENTIAL);
}

static cellar_status stream_finish(cellar_stream *stream, cellar_stream **out, cellar_error *err)
{
    cellar_status status = stream_look(stream, err);
    if (status != CELLAR_OK) {
        cellar_stream_close(stream);
        stream = NULL;
    }
    *out = stream;
    return status;
}

cellar_status cellar_stream_open(const char *path, cellar_stream **out, cellar_error *err)
{
    int from_stdin = strcmp(path, "-") == 0;
    cellar_stream *stream = stream_create(from_stdin ? "standard input" : path);

    *out = NULL;
    if (stream == NULL)
        return cellar_fail_memory(err, path);
    stream->fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (stream->fd < 0) {
        cellar_status status = cellar_fail_errno(err, path, "open the file");
        cellar_stream_close(stream);
        return status;
    }
    stream_measure(stream);
    return stream_finish(stream, out, err);
}

cellar_status cellar_stream_open_memory(const char *name, const void *bytes, size_t length,
                                        cellar_stream **out, cellar_error *err)
{
    cellar_stream *stream = stream_create(name);

    *out = NULL;
    if (stream == NULL)
        return cellar_fail_memory(err, name);
    stream->bytes = bytes;
    stream->length = length;
    stream->size = length;
    return stream_finish(stream, out, err);
}

void cellar_stream_close(cellar_stream *stream)
{
    if (stream == NULL)
        return;
    if (stream->inflating)
        inflateEnd(stream->gzip);
    if (stream->fd >= 0 && stream->fd != STDIN_FILENO)
        close(stream->fd);
    cellar_free(stream->gzip);
    cellar_free(stream->packed);
    cellar_free(stream->name);
    cellar_free(stream);
}

/* ---- queries and reading -------------------------------------------------- */

const char *cellar_stream_name(const cellar_stream *stream)
{
    return stream->name;
}

double cellar_stream_fraction(const cellar_stream *stream)
{
    if (stream->size == 0)
        return -1;
    if (stream->consumed >= stream->size)
        return 1;
    return (double) stream->consumed / (double) stream->size;
}

cellar_status cellar_stream_read(cellar_stream *stream, void *buffer, size_t size, size_t *got,
                                 cellar_error *err)
{
    if (stream->gzip != NULL)
        return stream_read_gzip(stream, buffer, size, got, err);
    return stream_read_stored(stream, buffer, size, got, err);
}
