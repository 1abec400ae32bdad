/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/statwire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/limits.h"

enum { WIRE_FIRST_BYTES = 256 * 1024, WIRE_TEXT_BYTES = 1 << 26 };

/* A frame whose bytes are all there. */
typedef struct wire_frame {
    int kind;
    const unsigned char *bytes;
    size_t length;
} wire_frame;

void cellar_statwire_open(const char *file, cellar_data_format format, int64_t file_bytes, int fd,
                          int stall_ms, cellar_statwire *wire)
{
    *wire = (cellar_statwire){
        .file = file, .format = format, .fd = fd, .stall_ms = stall_ms, .file_bytes = file_bytes};
}

void cellar_statwire_open_memory(const void *bytes, size_t length, cellar_statwire *wire)
{
    *wire = (cellar_statwire){.file = "memory",
                              .format = CELLAR_DATA_SAV,
                              .fd = -1,
                              .file_bytes = INT64_MAX,
                              .buffer = bytes,
                              .capacity = length,
                              .end = length};
}

void cellar_statwire_clear(cellar_statwire *wire)
{
    cellar_free(wire->owned);
    wire->buffer = wire->owned = NULL;
}

/* ---- bytes ----------------------------------------------------------------- */

static cellar_status wire_nonsense(const cellar_statwire *wire, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s: the program that reads it answers nonsense: the file is damaged, or "
                       "made to do harm",
                       wire->file);
}

static cellar_status wire_broken_off(cellar_statwire *wire, cellar_error *err)
{
    wire->over = 1;
    return cellar_fail(err, CELLAR_ERR_IO, "%s: the answer of the program that reads it breaks off",
                       wire->file);
}

static cellar_status wire_receive(cellar_statwire *wire, cellar_error *err)
{
    struct pollfd ready = {.fd = wire->fd, .events = POLLIN};
    ssize_t got;
    int n;

    do
        n = poll(&ready, 1, wire->stall_ms);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: reading %s made no progress for %d seconds: the file is damaged, "
                           "or made to do harm",
                           wire->file, cellar_statfile_kind(wire->format), wire->stall_ms / 1000);
    do
        got = read(wire->fd, wire->owned + wire->end, wire->capacity - wire->end);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return wire_broken_off(wire, err);
    wire->end += (size_t) got;
    return CELLAR_OK;
}

/* Waits until so many bytes are there. */
static cellar_status wire_need(cellar_statwire *wire, size_t n, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t held = wire->end - wire->begin;

    if (held >= n)
        return CELLAR_OK;
    if (wire->fd < 0)
        return wire_broken_off(wire, err);
    if (wire->begin > 0)
        memmove(wire->owned, wire->owned + wire->begin, held);
    wire->begin = 0;
    wire->end = held;
    if (!cellar_grow(&wire->owned, &wire->capacity, n > WIRE_FIRST_BYTES ? n : WIRE_FIRST_BYTES, 1))
        return cellar_fail_memory(err, wire->file);
    wire->buffer = wire->owned;
    while (status == CELLAR_OK && wire->end < n)
        status = wire_receive(wire, err);
    return status;
}

static uint32_t get_u32(const unsigned char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint64_t get_u64(const unsigned char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* ---- frames ---------------------------------------------------------------- */

static int is_sentence(const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] < 0x20 || bytes[i] == 0x7f)
            return 0;
    return length > 0 && length <= CELLAR_STATWIRE_SENTENCE_BYTES &&
           cellar_utf8_valid((const char *) bytes, length);
}

static cellar_status wire_fault(const cellar_statwire *wire, const wire_frame *frame,
                                cellar_error *err)
{
    uint32_t status;

    if (frame->length < 4 || !is_sentence(frame->bytes + 4, frame->length - 4))
        return wire_nonsense(wire, err);
    status = get_u32(frame->bytes);
    if (status != CELLAR_ERR_ARGUMENT && status != CELLAR_ERR_INPUT && status != CELLAR_ERR_IO &&
        status != CELLAR_ERR_MEMORY && status != CELLAR_ERR_UNSUPPORTED)
        return wire_nonsense(wire, err);
    if (status == CELLAR_ERR_MEMORY)
        return cellar_fail(err, CELLAR_ERR_MEMORY,
                           "%s: reading %s takes more memory than it may, or the file is damaged; "
                           "--reader-memory-mib raises that limit",
                           wire->file, cellar_statfile_kind(wire->format));
    return cellar_fail(err, (cellar_status) status, "%s: %.*s", wire->file,
                       (int) (frame->length - 4), (const char *) frame->bytes + 4);
}

/* Going on counts only forwards, and at most to the end of the file: it cannot go on for ever. */
static cellar_status wire_advance(cellar_statwire *wire, const wire_frame *frame, cellar_error *err)
{
    int64_t furthest = frame->length == 8 ? (int64_t) get_u64(frame->bytes) : -1;
    if (furthest <= wire->furthest || furthest > wire->file_bytes)
        return wire_nonsense(wire, err);
    wire->furthest = furthest;
    return CELLAR_OK;
}

/* The next frame of the kind asked for, or the end. It lives until the next call. */
static cellar_status wire_next(cellar_statwire *wire, int kind, wire_frame *frame,
                               cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    do {
        CELLAR_TRY(wire_need(wire, CELLAR_STATWIRE_HEAD_BYTES, err));
        frame->kind = wire->buffer[wire->begin];
        frame->length = get_u32(wire->buffer + wire->begin + 1);
        if (frame->length > CELLAR_STATWIRE_FRAME_BYTES)
            return wire_nonsense(wire, err);
        CELLAR_TRY(wire_need(wire, CELLAR_STATWIRE_HEAD_BYTES + frame->length, err));
        frame->bytes = wire->buffer + wire->begin + CELLAR_STATWIRE_HEAD_BYTES;
        wire->begin += CELLAR_STATWIRE_HEAD_BYTES + frame->length;
        if (frame->kind == CELLAR_STATWIRE_FAULT)
            return wire_fault(wire, frame, err);
        if (frame->kind == CELLAR_STATWIRE_ADVANCE)
            CELLAR_TRY(wire_advance(wire, frame, err));
    } while (frame->kind == CELLAR_STATWIRE_ADVANCE);
    if (frame->kind != kind && (frame->kind != CELLAR_STATWIRE_END || frame->length != 0))
        return wire_nonsense(wire, err);
out:
    return status;
}

static int is_text(const unsigned char *bytes, size_t length)
{
    return length == 0 ||
           (memchr(bytes, '\0', length) == NULL && cellar_utf8_valid((const char *) bytes, length));
}

/* ---- columns --------------------------------------------------------------- */

typedef struct wire_names {
    char **names;
    size_t n, capacity, bytes;
} wire_names;

static cellar_status names_add(wire_names *names, const cellar_statwire *wire,
                               const wire_frame *frame, cellar_error *err)
{
    char *copy;

    names->bytes += frame->length;
    if (!is_text(frame->bytes, frame->length) || names->bytes > WIRE_TEXT_BYTES)
        return wire_nonsense(wire, err);
    copy = cellar_alloc(frame->length + 1, 1);
    if (copy == NULL ||
        !cellar_grow(&names->names, &names->capacity, names->n + 1, sizeof *names->names)) {
        cellar_free(copy);
        return cellar_fail_memory(err, "the names of columns");
    }
    memcpy(copy, frame->bytes, frame->length);
    names->names[names->n++] = copy;
    return CELLAR_OK;
}

cellar_status cellar_statwire_read_columns(cellar_statwire *wire, size_t max_columns, char ***names,
                                           size_t *n_names, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    wire_names got = {0};
    wire_frame frame;

    *names = NULL;
    *n_names = 0;
    for (;;) {
        CELLAR_TRY(wire_next(wire, CELLAR_STATWIRE_NAME, &frame, err));
        if (frame.kind == CELLAR_STATWIRE_END)
            break;
        if (got.n == max_columns) {
            status = cellar_fail_columns(err, wire->file, max_columns);
            goto out;
        }
        CELLAR_TRY(names_add(&got, wire, &frame, err));
    }
    if (got.n == 0) {
        status = wire_nonsense(wire, err);
        goto out;
    }
    *names = got.names;
    *n_names = got.n;
    return CELLAR_OK;
out:
    cellar_columns_free(got.names, got.n);
    return status;
}

/* ---- rows ------------------------------------------------------------------ */

/* 0 when the frame is not exactly so many fields. */
static int row_split(const wire_frame *frame, cellar_field *fields, size_t n_columns)
{
    size_t at = 0;
    for (size_t i = 0; i < n_columns; i++) {
        uint32_t length;
        if (frame->length - at < 4)
            return 0;
        length = get_u32(frame->bytes + at);
        at += 4;
        fields[i] = (cellar_field){.text = (const char *) frame->bytes + at,
                                   .missing = length == CELLAR_STATWIRE_MISSING};
        if (fields[i].missing)
            continue;
        if (frame->length - at < length)
            return 0;
        fields[i].length = length;
        at += length;
    }
    return at == frame->length;
}

cellar_status cellar_statwire_read_rows(cellar_statwire *wire, size_t n_columns,
                                        cellar_row_callback *row, void *context,
                                        double *fraction_done, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_field *fields = cellar_alloc(n_columns, sizeof *fields);
    uint64_t n_rows = 0;
    wire_frame frame;

    if (fields == NULL)
        return cellar_fail_memory(err, wire->file);
    for (;;) {
        CELLAR_TRY(wire_next(wire, CELLAR_STATWIRE_ROW, &frame, err));
        if (frame.kind == CELLAR_STATWIRE_END)
            break;
        if (!row_split(&frame, fields, n_columns)) {
            status = wire_nonsense(wire, err);
            goto out;
        }
        if (fraction_done != NULL && wire->file_bytes > 0)
            *fraction_done = (double) wire->furthest / (double) wire->file_bytes;
        CELLAR_TRY(row(context, fields, n_rows++, err));
    }
out:
    cellar_free(fields);
    return status;
}

/* ---- labels ---------------------------------------------------------------- */

/* A text of the frame with a NUL behind it. */
static const char *label_text(cellar_text *text, const unsigned char *bytes, size_t length)
{
    cellar_text_reset(text);
    cellar_text_add(text, (const char *) bytes, length);
    return text->failed ? NULL : text->bytes;
}

static cellar_status label_add(const cellar_statwire *wire, const wire_frame *frame,
                               size_t n_columns, cellar_codelist **lists, cellar_text texts[2],
                               cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const size_t head = 12;
    const char *code, *label;
    uint64_t column;
    size_t length;

    if (frame->length < head)
        return wire_nonsense(wire, err);
    column = get_u64(frame->bytes);
    length = get_u32(frame->bytes + 8);
    if (column >= n_columns || length > frame->length - head || length == 0 ||
        !is_text(frame->bytes + head, length) ||
        !is_text(frame->bytes + head + length, frame->length - head - length))
        return wire_nonsense(wire, err);
    code = label_text(&texts[0], frame->bytes + head, length);
    label = label_text(&texts[1], frame->bytes + head + length, frame->length - head - length);
    if (code == NULL || label == NULL)
        return cellar_fail_memory(err, "value labels");
    if (lists[column] == NULL)
        CELLAR_TRY(cellar_codelist_create(&lists[column], err));
    CELLAR_TRY(cellar_codelist_add(lists[column], code, label[0] != '\0' ? label : NULL, NULL,
                                   CELLAR_CODE_PLAIN, err));
out:
    return status;
}

cellar_status cellar_statwire_read_labels(cellar_statwire *wire, size_t n_columns,
                                          cellar_codelist **lists, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_text texts[2] = {{0}, {0}};
    size_t bytes = 0;
    wire_frame frame;

    for (size_t i = 0; i < n_columns; i++)
        lists[i] = NULL;
    for (;;) {
        CELLAR_TRY(wire_next(wire, CELLAR_STATWIRE_LABEL, &frame, err));
        if (frame.kind == CELLAR_STATWIRE_END)
            break;
        bytes += frame.length;
        if (bytes > WIRE_TEXT_BYTES) {
            status =
                cellar_fail(err, CELLAR_ERR_MEMORY, "%s: the value labels are longer than %d bytes",
                            wire->file, WIRE_TEXT_BYTES);
            goto out;
        }
        CELLAR_TRY(label_add(wire, &frame, n_columns, lists, texts, err));
    }
    for (size_t i = 0; i < n_columns; i++)
        if (lists[i] != NULL)
            CELLAR_TRY(cellar_codelist_finish(lists[i], err));
out:
    cellar_text_clear(&texts[0]);
    cellar_text_clear(&texts[1]);
    for (size_t i = 0; status != CELLAR_OK && i < n_columns; i++) {
        cellar_codelist_free(lists[i]);
        lists[i] = NULL;
    }
    return status;
}
