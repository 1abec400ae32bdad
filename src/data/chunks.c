/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading is serial and cheap: under a lock a thread copies the cut row the last piece ended with,
 * reads the next bytes behind it and finds the last row that ended. Newlines inside quotes end no
 * row, so the quotes are followed, by the same rule as in rows.c: a field is quoted if its first
 * byte is a quote, a doubled quote stays inside, any other quote inside closes it. A quote
 * elsewhere is a fault of its row and changes nothing here. */
#include "data/chunks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/counts.h"
#include "data/encoding.h"
#include "data/limits.h"
#include "data/recognise.h"
#include "data/rows.h"

enum { FIRST_HEADROOM = 4096 };

/* Positions in a chunk are 32-bit numbers, and a chunk is at most a few times its longest row. */
_Static_assert(CELLAR_MAX_ROW_MIB <= 512, "a chunk may not reach 4 GiB");

struct cellar_chunks {
    pthread_mutex_t lock;
    cellar_stream *stream;
    cellar_reader_options options;
    char delimiter;
    size_t target_bytes;
    char *carry; /* the beginning of a row that the last piece could not hold */
    size_t n_carry, carry_capacity;
    uint64_t n_given;
    uint64_t lines_before;
    char **columns;
    size_t n_columns;
    int started; /* the byte order mark was looked for */
    int at_end;
};

/* ---- where rows end ------------------------------------------------------- */

/* The quotes of a text, followed from the start of a row. Remembers the latest stretches outside
 * quotes, among which the last row end nearly always lies. */
enum { STRETCHES = 64 };
typedef struct quote_walk {
    size_t begin[STRETCHES], end[STRETCHES]; /* a ring */
    size_t n;
} quote_walk;

static void walk_stretch(quote_walk *walk, size_t begin, size_t end)
{
    walk->begin[walk->n % STRETCHES] = begin;
    walk->end[walk->n % STRETCHES] = end;
    walk->n++;
}

static void walk_quotes(quote_walk *walk, const char *text, size_t length, char delimiter)
{
    size_t at = 0, outside = 0;
    const char *quote;

    walk->n = 0;
    while (at < length && (quote = memchr(text + at, '"', length - at)) != NULL) {
        size_t open = (size_t) (quote - text);
        at = open + 1;
        if (open > 0 && text[open - 1] != delimiter && text[open - 1] != '\n')
            continue; /* a quote inside an unquoted field */
        walk_stretch(walk, outside, open);
        outside = length;
        while (at < length && (quote = memchr(text + at, '"', length - at)) != NULL) {
            at = (size_t) (quote - text) + 1;
            if (at < length && text[at] == '"') {
                at++;
                continue;
            }
            outside = at;
            break;
        }
        if (outside == length)
            return; /* the text ends inside quotes, or right behind them */
    }
    walk_stretch(walk, outside, length);
}

/* How many bytes of the text are whole rows. */
static size_t whole_rows(const char *text, size_t length, char delimiter)
{
    const char *newline = memrchr(text, '\n', length);
    quote_walk walk;
    size_t first;

    if (newline == NULL)
        return 0;
    if (memchr(text, '"', length) == NULL)
        return (size_t) (newline - text) + 1;
    walk_quotes(&walk, text, length, delimiter);
    first = walk.n > STRETCHES ? walk.n - STRETCHES : 0;
    for (size_t i = walk.n; i-- > first;) {
        size_t begin = walk.begin[i % STRETCHES], end = walk.end[i % STRETCHES];
        newline = memrchr(text + begin, '\n', end - begin);
        if (newline != NULL)
            return (size_t) (newline - text) + 1;
    }
    /* The last rows hold more quotes than the ring: the first half of the text must do. */
    return first == 0 ? 0 : whole_rows(text, walk.begin[first % STRETCHES], delimiter);
}

/* ---- reading -------------------------------------------------------------- */

void cellar_chunk_clear(cellar_chunk *chunk)
{
    cellar_free(chunk->buffer);
    *chunk = (cellar_chunk){0};
}

/* The bytes read land on a page boundary (reading elsewhere is much slower), the carried row just
 * before it. */
static cellar_status chunk_reserve(cellar_chunk *chunk, size_t headroom, size_t body,
                                   cellar_error *err)
{
    const size_t page = 4096;
    size_t bytes;
    char *buffer;

    headroom = (headroom + page - 1) / page * page;
    if (__builtin_add_overflow(headroom, body, &bytes) ||
        __builtin_add_overflow(bytes, CELLAR_TEXT_SLACK + 1, &bytes))
        return cellar_fail_memory(err, "a row");
    if (chunk->buffer != NULL && chunk->headroom_bytes >= headroom && chunk->buffer_bytes >= bytes)
        return CELLAR_OK;
    buffer = cellar_alloc_pages(bytes);
    if (buffer == NULL)
        return cellar_fail_memory(err, "a row");
    memset(buffer, 0, bytes);
    cellar_free(chunk->buffer);
    chunk->buffer = buffer;
    chunk->buffer_bytes = bytes;
    chunk->headroom_bytes = headroom;
    return CELLAR_OK;
}

static cellar_status chunks_keep(cellar_chunks *chunks, const char *text, size_t length,
                                 cellar_error *err)
{
    if (!cellar_grow(&chunks->carry, &chunks->carry_capacity, length + 1, 1))
        return cellar_fail_memory(err, "a row");
    if (length > 0)
        memmove(chunks->carry, text, length);
    chunks->n_carry = length;
    return CELLAR_OK;
}

/* Empty lines at the end of the file are no rows (where a row has more than one field). */
static size_t without_empty_lines(const char *text, size_t length, size_t n_columns)
{
    if (n_columns <= 1)
        return length;
    while (length > 1 && text[length - 1] == '\n') {
        size_t before = length - 1;
        if (before > 0 && text[before - 1] == '\r')
            before--;
        if (before > 0 && text[before - 1] != '\n')
            break;
        length = before;
    }
    return length == 1 && text[0] == '\n' ? 0 : length;
}

/* A byte order mark is no part of the first field: it must be gone before quotes are looked for. */
static size_t chunks_skip_mark(cellar_chunks *chunks, cellar_chunk *chunk, size_t length)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (!chunks->started && length >= 3 && memcmp(chunk->text, byte_order_mark, 3) == 0) {
        chunk->text += 3;
        length -= 3;
    }
    chunks->started = 1;
    return length;
}

/* Reads on until at least one whole row is there or the file ends. */
static cellar_status chunks_fill(cellar_chunks *chunks, cellar_chunk *chunk, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t want = chunks->target_bytes < 4 && !chunks->started ? 4 : chunks->target_bytes;
    size_t longest = cellar_limit_row_bytes(&chunks->options);

    for (;;) {
        size_t got = 0, length, whole;
        CELLAR_TRY(chunk_reserve(
            chunk, chunks->n_carry > FIRST_HEADROOM ? chunks->n_carry : FIRST_HEADROOM, want, err));
        chunk->text = chunk->buffer + chunk->headroom_bytes - chunks->n_carry;
        if (chunks->n_carry > 0)
            memcpy(chunk->text, chunks->carry, chunks->n_carry);
        if (!chunks->at_end)
            CELLAR_TRY(cellar_stream_read(chunks->stream, chunk->buffer + chunk->headroom_bytes,
                                          want, &got, err));
        if (!chunks->started)
            CELLAR_TRY(cellar_recognise_refuse(cellar_stream_name(chunks->stream), chunk->text,
                                               chunks->n_carry + got, err));
        length = chunks_skip_mark(chunks, chunk, chunks->n_carry + got);
        chunks->at_end |= got < want;
        if (chunks->at_end) {
            if (length > 0 && chunk->text[length - 1] != '\n')
                chunk->text[length++] = '\n';
            chunks->n_carry = 0;
            chunk->length = without_empty_lines(chunk->text, length, chunks->n_columns);
            return CELLAR_OK;
        }
        whole = whole_rows(chunk->text, length, chunks->delimiter);
        /* whether empty lines are the file's last is not known yet: they wait with the cut row */
        whole = without_empty_lines(chunk->text, whole, chunks->n_columns);
        CELLAR_TRY(chunks_keep(chunks, chunk->text + whole, length - whole, err));
        chunk->length = whole;
        if (whole > 0)
            return CELLAR_OK;
        if (length > longest) {
            status = cellar_fail(err, CELLAR_ERR_MEMORY,
                                 "%s: a row is longer than %zu MiB; is a quote never closed? "
                                 "Otherwise --max-row-mib raises that limit",
                                 cellar_stream_name(chunks->stream), longest >> 20);
            goto out;
        }
        want *=
            2; /* a row longer than a chunk: read ever larger pieces, so the work stays linear */
    }
out:
    chunk->length = 0;
    return status;
}

cellar_status cellar_chunks_next(cellar_chunks *chunks, cellar_chunk *chunk,
                                 const cellar_progress *progress, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    pthread_mutex_lock(&chunks->lock);
    chunk->length = 0;
    if (progress->report != NULL &&
        progress->report(progress->context, "reading", cellar_stream_fraction(chunks->stream)))
        status = cellar_fail(err, CELLAR_ERR_CANCELLED, "%s: reading was cancelled",
                             cellar_stream_name(chunks->stream));
    else if (!chunks->at_end || chunks->n_carry > 0)
        status = chunks_fill(chunks, chunk, err);
    chunk->sequence = chunks->n_given++;
    pthread_mutex_unlock(&chunks->lock);
    return status;
}

/* ---- the header ----------------------------------------------------------- */

/* A file whose lines end with CR alone would be one long header. */
static int holds_lone_cr(const char *text)
{
    const char *cr = strchr(text, '\r');
    while (cr != NULL && cr[1] == '\n')
        cr = strchr(cr + 1, '\r');
    return cr != NULL;
}

static cellar_status chunks_name_column(cellar_chunks *chunks, size_t column, const char *text,
                                        size_t length, cellar_error *err)
{
    cellar_text name = {0};
    const char *file = cellar_stream_name(chunks->stream);
    cellar_status status = CELLAR_OK;

    if (chunks->options.no_header)
        cellar_text_printf(&name, "V%zu", column + 1);
    else if (!cellar_encoding_to_utf8(chunks->options.encoding, text, length, &name) &&
             !name.failed)
        status =
            cellar_fail(err, CELLAR_ERR_INPUT,
                        "%s:1: the name of column %zu is not text in the encoding of the file; "
                        "--encoding latin1 or windows-1252 names another",
                        file, column + 1);
    else
        cellar_text_add_string(&name, "");
    if (status == CELLAR_OK && name.failed)
        status = cellar_fail_memory(err, "the names of columns");
    if (status == CELLAR_OK && holds_lone_cr(name.bytes))
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "%s:1: the name of column %zu holds a carriage return; lines end with "
                             "LF or CRLF",
                             file, column + 1);
    if (status != CELLAR_OK) {
        cellar_text_clear(&name);
        return status;
    }
    chunks->columns[column] = name.bytes;
    chunks->n_columns = column + 1;
    return CELLAR_OK;
}

/* By name, and those of the same name from left to right. */
static int compare_columns(const void *a, const void *b)
{
    char *const *x = *(char **const *) a, *const *y = *(char **const *) b;
    int order = strcmp(*x, *y);
    return order != 0 ? order : (x > y) - (x < y);
}

/* Sorted, because a file may have very many columns. Tells of the leftmost that repeats another. */
static cellar_status chunks_check_names(const cellar_chunks *chunks, cellar_error *err)
{
    size_t n = chunks->n_columns, repeated = n, first = n;
    char ***sorted = cellar_alloc(n, sizeof *sorted);

    if (sorted == NULL)
        return cellar_fail_memory(err, "the names of columns");
    for (size_t i = 0; i < n; i++)
        sorted[i] = &chunks->columns[i];
    qsort(sorted, n, sizeof *sorted, compare_columns);
    for (size_t i = 1; i < n; i++) {
        size_t column = (size_t) (sorted[i] - chunks->columns);
        if (strcmp(*sorted[i - 1], *sorted[i]) == 0 && column < repeated) {
            repeated = column;
            first = (size_t) (sorted[i - 1] - chunks->columns);
        }
    }
    cellar_free(sorted);
    if (repeated == n)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s:1: columns %zu and %zu have the same name; or has the file no header "
                       "(--no-header)?",
                       cellar_stream_name(chunks->stream), first + 1, repeated + 1);
}

/* The row at the start of `text` as fields, without changing the text. */
static cellar_status chunks_read_header(cellar_chunks *chunks, const char *text, size_t length,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_row_fields fields = {0};
    char *copy = cellar_alloc(length + CELLAR_TEXT_SLACK, 1);
    const char *fault = NULL;

    if (copy == NULL)
        return cellar_fail_memory(err, "the header");
    memcpy(copy, text, length);
    CELLAR_TRY(cellar_row_split(copy, length, chunks->delimiter, &fields, &fault, err));
    if (fault != NULL) {
        status = cellar_fail(err, CELLAR_ERR_INPUT, "%s:1: column %zu: %s",
                             cellar_stream_name(chunks->stream), fields.n, fault);
        goto out;
    }
    if (fields.n > cellar_limit_columns(&chunks->options)) {
        status = cellar_fail_columns(err, cellar_stream_name(chunks->stream),
                                     cellar_limit_columns(&chunks->options));
        goto out;
    }
    chunks->columns = cellar_alloc(fields.n, sizeof *chunks->columns);
    if (chunks->columns == NULL) {
        status = cellar_fail_memory(err, "the names of columns");
        goto out;
    }
    for (size_t i = 0; i < fields.n; i++)
        CELLAR_TRY(chunks_name_column(chunks, i, copy + fields.begin[i],
                                      fields.end[i] - fields.begin[i], err));
    CELLAR_TRY(chunks_check_names(chunks, err));
out:
    cellar_row_fields_clear(&fields);
    cellar_free(copy);
    return status;
}

static size_t count_newlines(const char *text, size_t length)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++)
        n += text[i] == '\n';
    return n;
}

static cellar_status chunks_start(cellar_chunks *chunks, cellar_error *err)
{
    const char *name = cellar_stream_name(chunks->stream);
    cellar_status status = CELLAR_OK;
    cellar_chunk first = {0};
    size_t row = 0;

    CELLAR_TRY(chunks_fill(chunks, &first, err));
    if (first.length == 0 || first.text[0] == '\n') {
        status = cellar_fail(err, CELLAR_ERR_INPUT, "%s:1: the file is empty; expected %s", name,
                             chunks->options.no_header ? "rows" : "a header");
        goto out;
    }
    CELLAR_TRY(cellar_counts_refuse_table(name, first.text, first.length, err));
    row = cellar_row_length(first.text, first.length, chunks->delimiter);
    CELLAR_TRY(chunks_read_header(chunks, first.text, row, err));
    if (chunks->options.no_header)
        row = 0; /* it is data too */
    chunks->lines_before = count_newlines(first.text, row);
    /* What follows the header goes back in front of what is yet to be read. */
    if (chunks->n_carry > 0) {
        size_t rest = first.length - row;
        if (!cellar_grow(&chunks->carry, &chunks->carry_capacity, rest + chunks->n_carry + 1, 1)) {
            status = cellar_fail_memory(err, "a row");
            goto out;
        }
        memmove(chunks->carry + rest, chunks->carry, chunks->n_carry);
        memcpy(chunks->carry, first.text + row, rest);
        chunks->n_carry += rest;
    } else
        CELLAR_TRY(chunks_keep(chunks, first.text + row, first.length - row, err));
out:
    cellar_chunk_clear(&first);
    return status;
}

cellar_status cellar_chunks_open(cellar_stream *stream, const cellar_reader_options *options,
                                 char delimiter, size_t target_bytes, cellar_chunks **out,
                                 cellar_error *err)
{
    cellar_status status;
    cellar_chunks *chunks = cellar_alloc(1, sizeof *chunks);

    *out = NULL;
    if (chunks == NULL) {
        cellar_stream_close(stream);
        return cellar_fail_memory(err, "a reader");
    }
    pthread_mutex_init(&chunks->lock, NULL);
    chunks->stream = stream;
    chunks->options = *options;
    chunks->delimiter = delimiter;
    chunks->target_bytes = target_bytes;
    status = chunks_start(chunks, err);
    if (status != CELLAR_OK)
        cellar_chunks_close(chunks);
    else
        *out = chunks;
    return status;
}

void cellar_chunks_close(cellar_chunks *chunks)
{
    if (chunks == NULL)
        return;
    cellar_columns_free(chunks->columns, chunks->n_columns);
    cellar_free(chunks->carry);
    cellar_stream_close(chunks->stream);
    pthread_mutex_destroy(&chunks->lock);
    cellar_free(chunks);
}

size_t cellar_chunks_n_columns(const cellar_chunks *chunks)
{
    return chunks->n_columns;
}

const char *cellar_chunks_column(const cellar_chunks *chunks, size_t column)
{
    return chunks->columns[column];
}

uint64_t cellar_chunks_lines_before(const cellar_chunks *chunks)
{
    return chunks->lines_before;
}
