/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "statread/parse.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

enum { STATFILE_BUFFER_BYTES = 256 * 1024 };
enum { STATFILE_DTA_UTF8 = 118 }; /* from this version on Stata's text is UTF-8 */
enum { STATFILE_NAME_BYTES = 256 };
enum { STATFILE_XPT_RECORD_BYTES = 80 };

/* ---- the file ------------------------------------------------------------- */

static cellar_status statfile_fail_read(cellar_error *err, int error)
{
    const char *reason = strerrordesc_np(error);
    if (error == ENOMEM)
        return cellar_fail_memory(err, "the file");
    return cellar_fail(err, CELLAR_ERR_IO, "cannot read the file: %s",
                       reason != NULL ? reason : "unknown");
}

/* Fills [start, start + size) from the file as far as it goes. 0 on an error. */
static int statfile_pread(cellar_statfile *file, unsigned char *out, size_t size, int64_t start,
                          size_t *got)
{
    *got = 0;
    while (*got < size) {
        ssize_t n = pread(file->fd, out + *got, size - *got, start + (int64_t) *got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            file->read_errno = errno;
            return 0;
        }
        if (n == 0)
            break;
        *got += (size_t) n;
    }
    return 1;
}

cellar_status cellar_statfile_open(int fd, cellar_data_format format, cellar_statfile *file,
                                   cellar_error *err)
{
    struct stat about;

    *file = (cellar_statfile){.format = format, .fd = fd};
    if (fstat(fd, &about) != 0)
        return statfile_fail_read(err, errno);
    file->size = about.st_size;
    file->owned_buffer = cellar_alloc_pages(STATFILE_BUFFER_BYTES);
    file->buffer = file->owned_buffer;
    return file->buffer != NULL ? CELLAR_OK : cellar_fail_memory(err, "the file");
}

void cellar_statfile_open_memory(const void *bytes, size_t length, cellar_data_format format,
                                 cellar_statfile *file)
{
    *file = (cellar_statfile){
        .format = format, .fd = -1, .size = (int64_t) length, .buffer = bytes, .n_buffer = length};
}

void cellar_statfile_close(cellar_statfile *file)
{
    cellar_free(file->owned_buffer);
    file->owned_buffer = NULL;
}

/* ---- what ReadStat reads through ------------------------------------------ */

static int statfile_io_open(const char *path, void *context)
{
    cellar_statfile *file = context;
    (void) path;
    file->position = 0;
    file->cut = 0;
    return 0;
}

static int statfile_io_close(void *context)
{
    (void) context;
    return 0;
}

static readstat_off_t statfile_io_seek(readstat_off_t offset, readstat_io_flags_t whence,
                                       void *context)
{
    cellar_statfile *file = context;
    int64_t base = 0, position;

    if (whence == READSTAT_SEEK_CUR)
        base = file->position;
    else if (whence == READSTAT_SEEK_END)
        base = file->size;
    if (__builtin_add_overflow(base, offset, &position) || position < 0)
        return -1;
    file->position = position;
    return position;
}

/* Bytes at the position that the buffer holds. */
static size_t statfile_buffered(const cellar_statfile *file)
{
    int64_t into = file->position - file->buffer_start;
    return into >= 0 && into < (int64_t) file->n_buffer ? file->n_buffer - (size_t) into : 0;
}

static void statfile_advance(cellar_statfile *file)
{
    int64_t end = file->buffer_start + (int64_t) file->n_buffer;
    if (end <= file->furthest)
        return;
    file->furthest = end;
    if (file->advance != NULL)
        file->advance(file->advance_context, end);
}

/* ReadStat asks for a few bytes or one row at a time, hence the buffer. */
static ssize_t statfile_io_read(void *out, size_t size, void *context)
{
    cellar_statfile *file = context;
    size_t done = 0;

    if (out == NULL) { /* of memory that ReadStat could not get, and does not look whether it did */
        file->read_errno = ENOMEM;
        return -1;
    }
    while (done < size) {
        size_t held = statfile_buffered(file), n = size - done < held ? size - done : held;
        if (n > 0) {
            memcpy((char *) out + done, file->buffer + (file->position - file->buffer_start), n);
            done += n;
            file->position += (int64_t) n;
            continue;
        }
        if (file->fd < 0)
            break;
        file->buffer_start = file->position;
        if (!statfile_pread(file, file->owned_buffer, STATFILE_BUFFER_BYTES, file->position,
                            &file->n_buffer))
            return -1;
        if (file->n_buffer == 0)
            break;
        statfile_advance(file);
    }
    file->cut |= done > 0 && done < size;
    return (ssize_t) done;
}

static readstat_error_t statfile_io_update(long size, readstat_progress_handler handler,
                                           void *user_context, void *context)
{
    (void) size;
    (void) handler;
    (void) user_context;
    (void) context;
    return READSTAT_OK; /* statfile_io_read tells */
}

/* ---- the parser ----------------------------------------------------------- */

/* ReadStat hands out the names of Stata's label sets where they stand in the file's table, whose
 * entries have this width and, in a damaged file, no NUL. */
static size_t statfile_name_bytes(const cellar_statfile_run *run, int version)
{
    if (run->file->format != CELLAR_DATA_DTA)
        return STATFILE_NAME_BYTES;
    return version < 110 ? 9 : version < STATFILE_DTA_UTF8 ? 33 : 129;
}

static int statfile_on_metadata(readstat_metadata_t *metadata, void *context)
{
    cellar_statfile_run *run = context;
    const char *encoding = readstat_get_file_encoding(metadata);
    int version = readstat_get_file_format_version(metadata);
    run->encoding_known = (encoding != NULL && encoding[0] != '\0') ||
                          (run->file->format == CELLAR_DATA_DTA && version >= STATFILE_DTA_UTF8);
    run->name_bytes = statfile_name_bytes(run, version);
    run->n_rows = metadata->row_count; /* the accessor answers an int: too small */
    return READSTAT_HANDLER_OK;
}

static readstat_parser_t *statfile_parser(cellar_statfile_run *run,
                                          const readstat_callbacks_t *handlers)
{
    readstat_parser_t *parser = readstat_parser_init();
    if (parser == NULL)
        return NULL;
    readstat_set_metadata_handler(parser, statfile_on_metadata);
    readstat_set_variable_handler(parser, handlers->variable);
    readstat_set_value_handler(parser, handlers->value);
    readstat_set_value_label_handler(parser, handlers->value_label);
    readstat_set_io_ctx(parser, run->file);
    readstat_set_open_handler(parser, statfile_io_open);
    readstat_set_close_handler(parser, statfile_io_close);
    readstat_set_seek_handler(parser, statfile_io_seek);
    readstat_set_read_handler(parser, statfile_io_read);
    readstat_set_update_handler(parser, statfile_io_update);
    return parser;
}

/* ReadStat's own messages may quote the file, hence sentences of ours. */
static cellar_status statfile_fail(const cellar_statfile_run *run, readstat_error_t error)
{
    const char *kind = cellar_statfile_kind(run->file->format);
    cellar_error *err = run->err;

    if (run->status != CELLAR_OK)
        return run->status;
    if (run->file->read_errno != 0)
        return statfile_fail_read(err, run->file->read_errno);
    switch (error) {
    case READSTAT_ERROR_MALLOC:
        return cellar_fail(err, CELLAR_ERR_MEMORY, "not enough memory for %s", kind);
    case READSTAT_ERROR_READ:
    case READSTAT_ERROR_SEEK:
    case READSTAT_ERROR_ROW_COUNT_MISMATCH:
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "the file ends too early for %s: it is cut short or damaged", kind);
    case READSTAT_ERROR_UNSUPPORTED_COMPRESSION:
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s with a compression that is not supported", kind);
    case READSTAT_ERROR_UNSUPPORTED_CHARSET:
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s with text in an encoding that is not supported", kind);
    case READSTAT_ERROR_UNSUPPORTED_FILE_FORMAT_VERSION:
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s in a version of the format that is not supported", kind);
    case READSTAT_ERROR_CONVERT:
    case READSTAT_ERROR_CONVERT_BAD_STRING:
    case READSTAT_ERROR_CONVERT_SHORT_STRING:
    case READSTAT_ERROR_CONVERT_LONG_STRING:
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "some text is not in the encoding the file declares");
    default:
        return cellar_fail(err, CELLAR_ERR_INPUT, "not %s, or a damaged one", kind);
    }
}

cellar_status cellar_statfile_parse(cellar_statfile_run *run, const readstat_callbacks_t *handlers)
{
    readstat_parser_t *parser = statfile_parser(run, handlers);
    readstat_error_t error = READSTAT_OK;

    if (parser == NULL)
        return cellar_fail_memory(run->err, "the file");
    run->n_rows = -1;
    run->name_bytes = STATFILE_NAME_BYTES;
    switch (run->file->format) {
    case CELLAR_DATA_SAV:
        error = readstat_parse_sav(parser, "", run);
        break;
    case CELLAR_DATA_POR:
        error = readstat_parse_por(parser, "", run);
        break;
    case CELLAR_DATA_DTA:
        error = readstat_parse_dta(parser, "", run);
        break;
    case CELLAR_DATA_SAS:
        error = readstat_parse_sas7bdat(parser, "", run);
        break;
    case CELLAR_DATA_XPT:
        error = readstat_parse_xport(parser, "", run);
        if (error == READSTAT_OK && run->file->size % STATFILE_XPT_RECORD_BYTES != 0)
            error = READSTAT_ERROR_READ; /* ReadStat takes half a row for padding */
        break;
    default:
        run->status = cellar_fail(run->err, CELLAR_ERR_ARGUMENT, "not %s",
                                  cellar_statfile_kind(run->file->format));
    }
    readstat_parser_free(parser);
    if (error != READSTAT_OK || run->status != CELLAR_OK)
        return statfile_fail(run, error);
    return CELLAR_OK;
}
