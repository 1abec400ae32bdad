/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A Parquet file may come from anywhere: nothing in it is believed before it was checked. */
#include "data/parquet/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "data/parquet/footer.h"

#define MARK "PAR1"
#define MARK_ENCRYPTED "PARE"
enum { MARK_BYTES = 4, TAIL_BYTES = 8, FOOTER_MAX = 1 << 28, ARENA_MAX = 1 << 30 };

cellar_status parquet_fail(const parquet_file *file, const char *what, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the Parquet file is damaged: %s", file->name,
                       what);
}

int parquet_is(const char *path)
{
    char bytes[MARK_BYTES];
    return cellar_file_peek(path, bytes, sizeof bytes) == sizeof bytes &&
           (memcmp(bytes, MARK, MARK_BYTES) == 0 || memcmp(bytes, MARK_ENCRYPTED, MARK_BYTES) == 0);
}

cellar_status parquet_read(const parquet_file *file, uint64_t offset, size_t length, void *out,
                           cellar_error *err)
{
    size_t done = 0;
    if (offset > file->length || length > file->length - offset)
        return parquet_fail(file, "a part lies beyond its end", err);
    if (file->fd < 0) {
        memcpy(out, file->bytes + offset, length);
        return CELLAR_OK;
    }
    while (done < length) {
        const ssize_t got =
            pread(file->fd, (char *) out + done, length - done, (off_t) (offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cellar_fail_errno(err, file->name, "read the file");
        if (got == 0)
            return parquet_fail(file, "it became shorter while it was read", err);
        done += (size_t) got;
    }
    return CELLAR_OK;
}

/* The last bytes: the length of the footer, and the mark. */
static cellar_status find_footer(const parquet_file *file, uint64_t *offset, size_t *length,
                                 cellar_error *err)
{
    unsigned char tail[TAIL_BYTES];
    uint32_t bytes;
    cellar_status status = CELLAR_OK;
    if (file->length < MARK_BYTES + TAIL_BYTES)
        return parquet_fail(file, "it is cut short", err);
    CELLAR_TRY(parquet_read(file, file->length - TAIL_BYTES, TAIL_BYTES, tail, err));
    if (memcmp(tail + 4, MARK_ENCRYPTED, MARK_BYTES) == 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s: the Parquet file is encrypted; write it without encryption",
                           file->name);
    if (memcmp(tail + 4, MARK, MARK_BYTES) != 0)
        return parquet_fail(file, "its last bytes are not those of a Parquet file", err);
    bytes = (uint32_t) tail[0] | (uint32_t) tail[1] << 8 | (uint32_t) tail[2] << 16 |
            (uint32_t) tail[3] << 24;
    if (bytes > FOOTER_MAX || bytes > file->length - MARK_BYTES - TAIL_BYTES)
        return parquet_fail(file, "its footer has an impossible length", err);
    *offset = file->length - TAIL_BYTES - bytes;
    *length = bytes;
out:
    return status;
}

static cellar_status open_footer(parquet_file *file, cellar_error *err)
{
    unsigned char *footer = NULL;
    uint64_t offset = 0;
    size_t length = 0;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(find_footer(file, &offset, &length, err));
    footer = cellar_alloc(length, 1);
    if (footer == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the footer of a Parquet file"));
    CELLAR_TRY(parquet_read(file, offset, length, footer, err));
    CELLAR_TRY(parquet_read_footer(file, footer, length, err));
out:
    cellar_free(footer);
    return status;
}

static cellar_status file_create(const char *name, parquet_file **out, cellar_error *err)
{
    parquet_file *file = cellar_alloc(1, sizeof *file);
    *out = NULL;
    if (file == NULL)
        return cellar_fail_memory(err, "a Parquet file");
    file->fd = -1;
    file->arena = cellar_arena_create(ARENA_MAX);
    if (file->arena != NULL)
        file->name = cellar_arena_copy(file->arena, name, strlen(name));
    if (file->name == NULL) {
        parquet_close(file);
        return cellar_fail_memory(err, "a Parquet file");
    }
    *out = file;
    return CELLAR_OK;
}

cellar_status parquet_open(const char *path, parquet_file **out, cellar_error *err)
{
    parquet_file *file = NULL;
    struct stat facts;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    CELLAR_TRY(file_create(path, &file, err));
    file->fd = cellar_file_open_plain(path, O_RDONLY, err);
    if (file->fd < 0)
        CELLAR_TRY(CELLAR_ERR_IO);
    if (fstat(file->fd, &facts) != 0)
        CELLAR_TRY(cellar_fail_errno(err, path, "read the file"));
    file->length = (uint64_t) facts.st_size;
    CELLAR_TRY(open_footer(file, err));
    *out = file;
    file = NULL;
out:
    parquet_close(file);
    return status;
}

cellar_status parquet_open_memory(const char *name, const void *bytes, size_t length,
                                  parquet_file **out, cellar_error *err)
{
    parquet_file *file = NULL;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    CELLAR_TRY(file_create(name, &file, err));
    file->bytes = bytes;
    file->length = length;
    CELLAR_TRY(open_footer(file, err));
    *out = file;
    file = NULL;
out:
    parquet_close(file);
    return status;
}

void parquet_close(parquet_file *file)
{
    if (file == NULL)
        return;
    if (file->fd >= 0)
        close(file->fd);
    cellar_arena_free(file->arena);
    cellar_free(file);
}
