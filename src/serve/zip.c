/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PKWARE's APPNOTE 6.3: local headers with their data, the central directory, its end. */
#include "serve/zip.h"

#include <string.h>
#include <zlib.h>

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

/* Adds the bytes as a raw deflate stream. */
static void zip_deflate(cellar_text *out, const cellar_text *content)
{
    unsigned char *chunk = cellar_alloc(ZIP_CHUNK, 1);
    z_stream stream = {.zalloc = zip_alloc, .zfree = zip_free};
    int result = Z_OK;

    if (chunk == NULL || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                                      Z_DEFAULT_STRATEGY) != Z_OK) {
        out->failed = 1;
        cellar_free(chunk);
        return;
    }
    stream.next_in = (unsigned char *) content->bytes;
    stream.avail_in = (unsigned) content->length;
    while (result == Z_OK) {
        stream.next_out = chunk;
        stream.avail_out = ZIP_CHUNK;
        result = deflate(&stream, Z_FINISH);
        cellar_text_add(out, (const char *) chunk, ZIP_CHUNK - stream.avail_out);
    }
    deflateEnd(&stream);
    cellar_free(chunk);
}

/* ---- headers ------------------------------------------------------------------ */

static void zip_add_16(cellar_text *out, unsigned value)
{
    cellar_text_add_char(out, (char) (value & 0xff));
    cellar_text_add_char(out, (char) (value >> 8 & 0xff));
}

static void zip_add_32(cellar_text *out, uint32_t value)
{
    zip_add_16(out, value & 0xffff);
    zip_add_16(out, value >> 16);
}

/* What a local header and an entry of the directory have in common. */
static void zip_add_common(cellar_text *out, const struct serve_zip_file *file)
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

void serve_zip_init(serve_zip *zip, cellar_text *out)
{
    *zip = (serve_zip){.out = out, .start = out->length};
}

/* `packed` is what stands in the archive for the content. */
static void zip_add_file(serve_zip *zip, const char *name, unsigned method,
                         const cellar_text *content, const cellar_text *packed)
{
    struct serve_zip_file *file = &zip->files[zip->n_files];

    CELLAR_ASSERT(zip->n_files < SERVE_ZIP_MAX_FILES);
    if (packed->failed) {
        zip->out->failed = 1;
        return;
    }
    *file = (struct serve_zip_file){
        .name = name,
        .crc = (uint32_t) crc32_z(0, (const unsigned char *) content->bytes, content->length),
        .packed = (uint32_t) packed->length,
        .plain = (uint32_t) content->length,
        .offset = (uint32_t) (zip->out->length - zip->start),
        .method = method};
    zip->n_files++;
    zip_add_32(zip->out, 0x04034b50);
    zip_add_common(zip->out, file);
    cellar_text_add_string(zip->out, name);
    cellar_text_add(zip->out, packed->bytes, packed->length);
}

/* 0, and `out` has failed, where there is no room for the content. */
static int zip_has_room(serve_zip *zip, const cellar_text *content)
{
    if (!content->failed && content->length > 0 && content->length <= UINT32_MAX / 2 &&
        zip->out->length - zip->start <= UINT32_MAX / 2)
        return 1;
    zip->out->failed = 1;
    return 0;
}

void serve_zip_add(serve_zip *zip, const char *name, const cellar_text *content)
{
    cellar_text packed = {0};
    if (!zip_has_room(zip, content))
        return;
    zip_deflate(&packed, content);
    zip_add_file(zip, name, ZIP_DEFLATED, content, &packed);
    cellar_text_clear(&packed);
}

void serve_zip_store(serve_zip *zip, const char *name, const cellar_text *content)
{
    if (zip_has_room(zip, content))
        zip_add_file(zip, name, ZIP_STORED, content, content);
}

void serve_zip_end(serve_zip *zip)
{
    const uint32_t directory = (uint32_t) (zip->out->length - zip->start);
    for (size_t i = 0; i < zip->n_files; i++) {
        zip_add_32(zip->out, 0x02014b50);
        zip_add_16(zip->out, ZIP_VERSION); /* made by */
        zip_add_common(zip->out, &zip->files[i]);
        zip_add_16(zip->out, 0); /* no comment */
        zip_add_16(zip->out, 0); /* the first disk */
        zip_add_16(zip->out, 0); /* internal and */
        zip_add_32(zip->out, 0); /* external attributes: none */
        zip_add_32(zip->out, zip->files[i].offset);
        cellar_text_add_string(zip->out, zip->files[i].name);
    }
    const uint32_t end = (uint32_t) (zip->out->length - zip->start);
    zip_add_32(zip->out, 0x06054b50);
    zip_add_32(zip->out, 0); /* one disk */
    zip_add_16(zip->out, (unsigned) zip->n_files);
    zip_add_16(zip->out, (unsigned) zip->n_files);
    zip_add_32(zip->out, end - directory);
    zip_add_32(zip->out, directory);
    zip_add_16(zip->out, 0); /* no comment */
}
