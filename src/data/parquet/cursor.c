/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/parquet/cursor.h"

#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/text.h"
#include "data/parquet/bits.h"
#include "data/parquet/texts.h"
#include "data/parquet/thrift.h"
#include "data/parquet/unpack.h"

enum { HEAD_BYTES_MAX = 1 << 16, PAGE_BYTES_MAX = 1 << 30, SOME_ROWS = 1024 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2, PAGE_DATA_2 = 3 };

struct parquet_cursor {
    const parquet_file *file;
    const parquet_column *column;
    const parquet_chunk *chunk;
    uint64_t at, end; /* of the chunk in the file: the next page, and where it ends */
    uint64_t values;  /* of the pages that were not read yet */

    parquet_texts texts;
    size_t n_dictionary;

    /* The present page. */
    unsigned char *head, *packed, *page;
    size_t packed_capacity, page_capacity;
    uint64_t left;        /* rows */
    parquet_runs levels;  /* of an optional column: 0 where the value is missing */
    int is_listed;        /* 1: its values are texts of their own; 0: numbers in the dictionary */
    parquet_runs numbers; /* of entries */
    size_t next;          /* text */
};

static cellar_status fail_column(const parquet_cursor *c, const char *what, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s: the Parquet file is damaged: column '%.200s': %s", c->file->name,
                       c->column->name, what);
}

cellar_status parquet_cursor_create(const parquet_file *file, size_t column, parquet_cursor **out,
                                    cellar_error *err)
{
    parquet_cursor *c;
    *out = NULL;
    if (file->columns[column].meaning == PARQUET_UNREADABLE)
        return cellar_fail(
            err, CELLAR_ERR_UNSUPPORTED,
            "%s: column '%.200s' holds lists, structures, intervals, UUIDs or "
            "numbers of half precision; expected texts, other numbers, truth values, "
            "dates or times",
            file->name, file->columns[column].name);
    c = cellar_alloc(1, sizeof *c);
    if (c != NULL)
        c->head = cellar_alloc(HEAD_BYTES_MAX, 1);
    if (c == NULL || c->head == NULL) {
        cellar_free(c);
        return cellar_fail_memory(err, "a column of a Parquet file");
    }
    c->file = file;
    c->column = &file->columns[column];
    *out = c;
    return CELLAR_OK;
}

void parquet_cursor_free(parquet_cursor *c)
{
    if (c == NULL)
        return;
    parquet_texts_clear(&c->texts);
    cellar_free(c->head);
    cellar_free(c->packed);
    cellar_free(c->page);
    cellar_free(c);
}

/* Truth values are numbers of the two entries of a dictionary of ours. */
static int begin_texts(parquet_cursor *c)
{
    parquet_texts_drop(&c->texts, 0, c->texts.n);
    c->n_dictionary = 0;
    if (c->column->physical != PARQUET_BOOLEAN)
        return 1;
    c->n_dictionary = 2;
    return parquet_texts_add_text(&c->texts, "false") && parquet_texts_add_text(&c->texts, "true");
}

cellar_status parquet_cursor_begin(parquet_cursor *c, size_t group, cellar_error *err)
{
    const parquet_group *g = &c->file->groups[group];
    c->chunk = &g->chunks[c->column->leaf];
    if (c->chunk->physical != (int) c->column->physical || c->chunk->n_values != g->n_rows)
        return fail_column(c, "its values are in another file, encrypted, or others than declared",
                           err);
    if (c->chunk->codec == PARQUET_LZO)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s: column '%.200s' is compressed by LZO; expected snappy, gzip, "
                           "brotli, zstd, lz4 or none",
                           c->file->name, c->column->name);
    c->at = c->chunk->offset;
    c->end = c->at + c->chunk->length;
    c->values = c->chunk->n_values;
    c->left = 0;
    if (c->end < c->at || c->end > c->file->length)
        return fail_column(c, "it lies beyond the end of the file", err);
    return begin_texts(c) ? CELLAR_OK : cellar_fail_memory(err, "a column of a Parquet file");
}

/* ---- pages ----------------------------------------------------------------------- */

typedef struct page_head {
    int64_t type, size, packed_size, n_values, n_nulls, encoding;
    int64_t level_encoding, level_bytes, repetition_bytes;
    int64_t checksum; /* of what follows the head; -1: none */
    int is_packed;
    size_t length; /* of the head itself */
} page_head;

/* Data pages have 1 n_values, 2 encoding, 3 that of levels; dictionaries the first two; data pages
 * of the second kind 1 n_values, 2 n_nulls, 4 encoding, 5 and 6 bytes of levels, 7 is_packed. */
static void read_page_facts(thrift_fields f, int is_second, page_head *h)
{
    while (thrift_next(&f)) {
        if (f.id == 1)
            h->n_values = thrift_integer(&f);
        else if (f.id == (is_second ? 4 : 2))
            h->encoding = thrift_integer(&f);
        else if (is_second && f.id == 5)
            h->level_bytes = thrift_integer(&f);
        else if (is_second && f.id == 6)
            h->repetition_bytes = thrift_integer(&f);
        else if (is_second && f.id == 7)
            h->is_packed = thrift_bool(&f);
        else if (!is_second && f.id == 3 && h->type == PAGE_DATA)
            h->level_encoding = thrift_integer(&f);
        else
            thrift_skip(&f);
    }
}

/* Bytes of levels in a page of the second kind, which are not packed. There are none of repetition
 * in a column without lists, but some programs write that all are 0. */
static int64_t levels_of(const page_head *h)
{
    return h->repetition_bytes + h->level_bytes;
}

static cellar_status read_head(parquet_cursor *c, page_head *h, cellar_error *err)
{
    const size_t n =
        c->end - c->at < HEAD_BYTES_MAX ? (size_t) (c->end - c->at) : (size_t) HEAD_BYTES_MAX;
    thrift_reader reader = {.at = c->head, .end = c->head + n};
    thrift_fields f = thrift_begin(&reader);
    cellar_status status = parquet_read(c->file, c->at, n, c->head, err);
    if (status != CELLAR_OK)
        return status;
    *h = (page_head){
        .type = -1, .level_encoding = PARQUET_ENCODING_RLE, .checksum = -1, .is_packed = 1};
    while (thrift_next(&f)) {
        if (f.id == 1)
            h->type = thrift_integer(&f);
        else if (f.id == 2)
            h->size = thrift_integer(&f);
        else if (f.id == 3)
            h->packed_size = thrift_integer(&f);
        else if (f.id == 4)
            h->checksum = (int64_t) (uint32_t) thrift_integer(&f);
        else if (f.id == 5 || f.id == 7 || f.id == 8)
            read_page_facts(thrift_struct(&f), f.id == 8, h);
        else
            thrift_skip(&f);
    }
    h->length = (size_t) (reader.at - c->head);
    if (reader.failed || h->size < 0 || h->size > PAGE_BYTES_MAX || h->packed_size < 0 ||
        h->packed_size > PAGE_BYTES_MAX || h->n_values < 0 || h->level_bytes < 0 ||
        h->repetition_bytes < 0 || h->level_bytes > PAGE_BYTES_MAX ||
        h->repetition_bytes > PAGE_BYTES_MAX || levels_of(h) > h->size ||
        levels_of(h) > h->packed_size || (uint64_t) h->packed_size > c->end - c->at - h->length)
        return fail_column(c, "the head of a page", err);
    return CELLAR_OK;
}

static cellar_status read_page(parquet_cursor *c, const page_head *h, cellar_error *err)
{
    const size_t before = (size_t) levels_of(h);
    cellar_status status;
    if (!cellar_grow(&c->packed, &c->packed_capacity, (size_t) h->packed_size + 1, 1) ||
        !cellar_grow(&c->page, &c->page_capacity, (size_t) h->size + 1, 1))
        return cellar_fail_memory(err, "a page of a Parquet file");
    status = parquet_read(c->file, c->at + h->length, (size_t) h->packed_size, c->packed, err);
    if (status != CELLAR_OK)
        return status;
    c->at += h->length + (uint64_t) h->packed_size;
    if (h->checksum >= 0 && h->checksum != (int64_t) crc32_z(0, c->packed, (size_t) h->packed_size))
        return fail_column(c, "the checksum of a page", err);
    memcpy(c->page, c->packed, before);
    return parquet_unpack(h->is_packed ? c->chunk->codec : PARQUET_PLAIN, c->packed + before,
                          (size_t) h->packed_size - before, c->page + before,
                          (size_t) h->size - before)
               ? CELLAR_OK
               : fail_column(c, "a page cannot be unpacked", err);
}

/* Bytes with their length before them. NULL when they are not there. */
static const unsigned char *read_part(const unsigned char *at, const unsigned char *end,
                                      size_t *length)
{
    if (end - at < 4)
        return NULL;
    *length = (size_t) at[0] | (size_t) at[1] << 8 | (size_t) at[2] << 16 | (size_t) at[3] << 24;
    return *length <= (size_t) (end - at - 4) ? at + 4 : NULL;
}

/* How many values of the page are there. */
static int count_present(const parquet_cursor *c, uint64_t n, size_t *present)
{
    parquet_runs levels = c->levels;
    uint32_t some[SOME_ROWS];
    *present = 0;
    while (n > 0) {
        const size_t k = n < SOME_ROWS ? (size_t) n : SOME_ROWS;
        if (!parquet_runs_next(&levels, some, k))
            return 0;
        for (size_t i = 0; i < k; i++)
            *present += some[i];
        n -= k;
    }
    return 1;
}

/* Finds the values behind the levels. 0 when they are not there. */
static int begin_values(parquet_cursor *c, const page_head *h, const unsigned char *at,
                        const unsigned char *end)
{
    size_t n = (size_t) h->n_values;
    c->is_listed = 0;
    if (c->column->physical == PARQUET_BOOLEAN) {
        c->numbers = (parquet_runs){.at = at, .end = end, .width = 1};
        if (h->encoding == PARQUET_ENCODING_PLAIN) { /* bits side by side: one run */
            c->numbers.is_packed = 1;
            c->numbers.left = UINT64_MAX;
            return 1;
        }
        at = read_part(at, end, &n);
        if (h->encoding != PARQUET_ENCODING_RLE || at == NULL)
            return 0;
        c->numbers = (parquet_runs){.at = at, .end = at + n, .width = 1};
        return 1;
    }
    if (h->encoding == PARQUET_ENCODING_DICTIONARY ||
        h->encoding == PARQUET_ENCODING_PLAIN_DICTIONARY) {
        if (at == end) /* every value is missing */
            return 1;
        c->numbers = (parquet_runs){.at = at + 1, .end = end, .width = *at};
        return *at <= 32;
    }
    c->is_listed = 1;
    c->next = c->texts.n;
    return (!c->column->is_optional || count_present(c, (uint64_t) h->n_values, &n)) &&
           parquet_texts_add(&c->texts, c->column, (parquet_encoding) h->encoding, at, end, n);
}

static cellar_status begin_page(parquet_cursor *c, const page_head *h, cellar_error *err)
{
    const unsigned char *at = c->page + h->repetition_bytes, *end = c->page + h->size;
    size_t level_bytes = (size_t) h->level_bytes;
    if ((uint64_t) h->n_values > c->values)
        return fail_column(c, "it has more values than rows", err);
    c->values -= (uint64_t) h->n_values;
    c->left = (uint64_t) h->n_values;
    c->numbers = (parquet_runs){0};
    if (c->column->is_optional) {
        if (h->type == PAGE_DATA)
            at =
                h->level_encoding == PARQUET_ENCODING_RLE ? read_part(at, end, &level_bytes) : NULL;
        if (at == NULL)
            return fail_column(c, "which values are missing", err);
        c->levels = (parquet_runs){.at = at, .end = at + level_bytes, .width = 1};
        at += level_bytes;
    }
    if (begin_values(c, h, at, end))
        return CELLAR_OK;
    return c->texts.bytes.failed
               ? cellar_fail_memory(err, "a page of a Parquet file")
               : fail_column(c, "the values of a page, or their encoding is not known", err);
}

/* Entries of a dictionary stand before all texts. */
static cellar_status read_dictionary(parquet_cursor *c, const page_head *h, cellar_error *err)
{
    if (c->texts.n > 0 || c->column->physical == PARQUET_BOOLEAN)
        return fail_column(c, "a dictionary in the middle", err);
    if (!parquet_texts_add(&c->texts, c->column, PARQUET_ENCODING_PLAIN, c->page, c->page + h->size,
                           (size_t) h->n_values))
        return c->texts.bytes.failed ? cellar_fail_memory(err, "a dictionary of a Parquet file")
                                     : fail_column(c, "its dictionary", err);
    c->n_dictionary = c->texts.n;
    return CELLAR_OK;
}

static cellar_status next_page(parquet_cursor *c, cellar_error *err)
{
    page_head h;
    cellar_status status = CELLAR_OK;
    if (c->at >= c->end)
        return fail_column(c, "it has fewer values than rows", err);
    CELLAR_TRY(read_head(c, &h, err));
    CELLAR_TRY(read_page(c, &h, err));
    if (h.type == PAGE_DICTIONARY)
        CELLAR_TRY(read_dictionary(c, &h, err));
    else if (h.type == PAGE_DATA || h.type == PAGE_DATA_2)
        CELLAR_TRY(begin_page(c, &h, err));
out:
    return status;
}

/* ---- rows ------------------------------------------------------------------------ */

/* The numbers of the next n values that are there. */
static int next_values(parquet_cursor *c, uint32_t *out, size_t n)
{
    if (c->is_listed) {
        if (n > c->texts.n - c->next)
            return 0;
        for (size_t i = 0; i < n; i++)
            out[i] = (uint32_t) (c->next + i);
        c->next += n;
        return 1;
    }
    if (!parquet_runs_next(&c->numbers, out, n))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (out[i] >= c->n_dictionary)
            return 0;
    return 1;
}

/* Puts missing values between them. */
static int next_rows(parquet_cursor *c, uint32_t *out, size_t n)
{
    uint32_t levels[SOME_ROWS], values[SOME_ROWS];
    size_t n_present = 0, used = 0;
    if (!c->column->is_optional)
        return next_values(c, out, n);
    if (!parquet_runs_next(&c->levels, levels, n))
        return 0;
    for (size_t i = 0; i < n; i++)
        n_present += levels[i];
    if (n_present == n)
        return next_values(c, out, n);
    if (!next_values(c, values, n_present))
        return 0;
    for (size_t i = 0; i < n; i++)
        out[i] = levels[i] ? values[used++] : PARQUET_MISSING;
    return 1;
}

/* Texts of pages whose rows were all given out. */
static void forget(parquet_cursor *c)
{
    const size_t last = c->left > 0 && c->is_listed ? c->next : c->texts.n;
    if (last == c->n_dictionary)
        return;
    parquet_texts_drop(&c->texts, c->n_dictionary, last);
    c->next = c->n_dictionary;
}

cellar_status parquet_cursor_next(parquet_cursor *c, size_t n, uint32_t *texts, cellar_error *err)
{
    size_t done = 0;
    if (c->left == 0 || c->next - c->n_dictionary > c->texts.n / 2) /* else it costs too much */
        forget(c);
    while (done < n) {
        size_t some = n - done < SOME_ROWS ? n - done : SOME_ROWS;
        if (c->left == 0) {
            const cellar_status status = next_page(c, err);
            if (status != CELLAR_OK)
                return status;
            continue;
        }
        if (some > c->left)
            some = (size_t) c->left;
        if (!next_rows(c, texts + done, some))
            return fail_column(c, "the values of a page end too early", err);
        c->left -= some;
        done += some;
    }
    return CELLAR_OK;
}

size_t parquet_cursor_n_dictionary(const parquet_cursor *c)
{
    return c->n_dictionary;
}

const parquet_texts *parquet_cursor_texts(const parquet_cursor *c)
{
    return &c->texts;
}
