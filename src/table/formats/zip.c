/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PKWARE's APPNOTE 6.3: local headers with their data, the central directory, its end. */
#include "table/formats/zip.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum {
    ZIP_VERSION = 20,   /* 2.0: deflate */
    ZIP_UTF8 = 1 << 11, /* flag: names are UTF-8 */
    ZIP_STORED = 0,     /* methods */
    ZIP_DEFLATED = 8,
    ZIP_DATE = 1 << 5 | 1, /* 1 January 1980, the first day there is */
    ZIP_CHUNK = 1 << 16
};

/* ---- headers ------------------------------------------------------------------ */

static void zip_add_16(cellar_text *out, unsigned value)
{
    cellar_text_add_char(out, (char) (value & 0xff));
    cellar_text_add_char(out, (char) (value >> 8 & 0xff));
}

static void zip_add_32(cellar_text *out, uint64_t value)
{
    zip_add_16(out, (unsigned) value & 0xffff);
    zip_add_16(out, (unsigned) (value >> 16) & 0xffff);
}

/* What a local header and an entry of the directory have in common. */
static void zip_add_common(cellar_text *out, const struct cellar_zip_file *file)
{
    zip_add_16(out, ZIP_VERSION);
    zip_add_16(out, ZIP_UTF8);
    zip_add_16(out, file->method);
    zip_add_16(out, 0); /* midnight */
    zip_add_16(out, ZIP_DATE);
    zip_add_32(out, file->crc);
    zip_add_32(out, file->packed);
    zip_add_32(out, file->plain);
    zip_add_16(out, (unsigned) strlen(file->name));
    zip_add_16(out, 0); /* no extra field */
}

static void zip_add_header(cellar_text *out, const struct cellar_zip_file *file)
{
    zip_add_32(out, 0x04034b50);
    zip_add_common(out, file);
    cellar_text_add_string(out, file->name);
}

/* ---- files ---------------------------------------------------------------------- */

static uint64_t zip_size(const cellar_zip *zip)
{
    return zip->out->length - zip->start;
}

static struct cellar_zip_file *zip_file(cellar_zip *zip)
{
    return &zip->files[zip->n_files - 1];
}

/* Puts the header of the last file, whose sizes are not known before its end. */
static void zip_open_file(cellar_zip *zip, const char *name, unsigned method)
{
    CELLAR_ASSERT(zip->n_files < CELLAR_ZIP_MAX_FILES);
    zip->files[zip->n_files++] = (struct cellar_zip_file){.name = name,
                                                          .crc = (uint32_t) crc32_z(0, NULL, 0),
                                                          .offset = zip_size(zip),
                                                          .method = method};
    zip_add_header(zip->out, zip_file(zip));
}

/* Now they are. */
static void zip_close_file(cellar_zip *zip)
{
    struct cellar_zip_file *file = zip_file(zip);
    const size_t n_header = strlen(file->name) + 30;
    cellar_text header = {0};
    if (zip->out->failed)
        return;
    file->packed = zip_size(zip) - file->offset - n_header;
    zip->too_large |= file->plain > UINT32_MAX || zip_size(zip) > UINT32_MAX;
    zip_add_header(&header, file);
    if (header.failed)
        zip->out->failed = 1;
    else
        memcpy(zip->out->bytes + zip->start + file->offset, header.bytes, n_header);
    cellar_text_clear(&header);
}

static void zip_count(cellar_zip *zip, const char *bytes, size_t length)
{
    struct cellar_zip_file *file = zip_file(zip);
    file->crc = (uint32_t) crc32_z(file->crc, (const unsigned char *) bytes, length);
    file->plain += length;
}

void cellar_zip_init(cellar_zip *zip, cellar_text *out)
{
    *zip = (cellar_zip){.out = out, .start = out->length};
}

void cellar_zip_store(cellar_zip *zip, const char *name, const char *content)
{
    zip_open_file(zip, name, ZIP_STORED);
    cellar_text_add_string(zip->out, content);
    zip_count(zip, content, strlen(content));
    zip_close_file(zip);
}

/* ---- compression -------------------------------------------------------------- */

static void *zip_alloc(void *context, unsigned n, unsigned size)
{
    (void) context;
    return cellar_alloc(n, size);
}

static void zip_free(void *context, void *pointer)
{
    (void) context;
    cellar_free(pointer);
}

/* Adds what the stream makes of its input, to its end where `flush` is Z_FINISH. */
static void zip_deflate(cellar_zip *zip, int flush)
{
    unsigned char *chunk = cellar_alloc(ZIP_CHUNK, 1);
    if (chunk == NULL) {
        zip->out->failed = 1;
        zip->stream.avail_in = 0; /* the piece goes */
        return;
    }
    do {
        zip->stream.next_out = chunk;
        zip->stream.avail_out = ZIP_CHUNK;
        (void) deflate(&zip->stream, flush);
        cellar_text_add(zip->out, (const char *) chunk, ZIP_CHUNK - zip->stream.avail_out);
    } while (zip->stream.avail_out == 0);
    cellar_free(chunk);
}

void cellar_zip_begin(cellar_zip *zip, const char *name)
{
    zip->stream = (z_stream){.zalloc = zip_alloc, .zfree = zip_free};
    zip->is_open = deflateInit2(&zip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                                Z_DEFAULT_STRATEGY) == Z_OK;
    if (zip->is_open)
        zip_open_file(zip, name, ZIP_DEFLATED);
    else
        zip->out->failed = 1;
}

void cellar_zip_feed(cellar_zip *zip, cellar_text *piece)
{
    zip->too_large |= piece->length > UINT32_MAX / 2;
    zip->out->failed |= piece->failed;
    if (zip->is_open && !zip->out->failed && !zip->too_large && piece->length > 0) {
        zip_count(zip, piece->bytes, piece->length);
        zip->stream.next_in = (unsigned char *) piece->bytes;
        zip->stream.avail_in = (unsigned) piece->length;
        zip_deflate(zip, Z_NO_FLUSH);
    }
    cellar_text_reset(piece);
}

void cellar_zip_finish(cellar_zip *zip)
{
    if (!zip->is_open)
        return;
    zip_deflate(zip, Z_FINISH);
    deflateEnd(&zip->stream);
    zip->is_open = 0;
    zip_close_file(zip);
}

void cellar_zip_add(cellar_zip *zip, const char *name, cellar_text *content)
{
    cellar_zip_begin(zip, name);
    cellar_zip_feed(zip, content);
    cellar_zip_finish(zip);
    cellar_text_clear(content);
}

/* ---- the directory -------------------------------------------------------------- */

static void zip_add_entry(cellar_text *out, const struct cellar_zip_file *file)
{
    zip_add_32(out, 0x02014b50);
    zip_add_16(out, ZIP_VERSION); /* made by */
    zip_add_common(out, file);
    zip_add_16(out, 0); /* no comment */
    zip_add_16(out, 0); /* the first disk */
    zip_add_16(out, 0); /* internal and */
    zip_add_32(out, 0); /* external attributes: none */
    zip_add_32(out, file->offset);
    cellar_text_add_string(out, file->name);
}

cellar_status cellar_zip_end(cellar_zip *zip, cellar_error *err)
{
    const uint64_t directory = zip_size(zip);
    for (size_t i = 0; i < zip->n_files; i++)
        zip_add_entry(zip->out, &zip->files[i]);
    const uint64_t end = zip_size(zip);
    zip_add_32(zip->out, 0x06054b50);
    zip_add_32(zip->out, 0); /* one disk */
    zip_add_16(zip->out, (unsigned) zip->n_files);
    zip_add_16(zip->out, (unsigned) zip->n_files);
    zip_add_32(zip->out, end - directory);
    zip_add_32(zip->out, directory);
    zip_add_16(zip->out, 0); /* no comment */
    if (zip->too_large || end > UINT32_MAX)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "a spreadsheet of 4 GiB or more cannot be written: write CSV");
    return zip->out->failed ? cellar_fail_memory(err, "a spreadsheet") : CELLAR_OK;
}
