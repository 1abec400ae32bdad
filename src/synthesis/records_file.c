/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two files that appear together: records, compressed where the name says so, and beside them what
 * they are. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/output.h"
#include "release/files/digest.h"
#include "synthesis/synthesis.h"
#include "table/formats/extension.h"

enum { PACKED_BYTES = 1 << 16 };

struct cellar_records_file {
    cellar_output *data, *beside;
    char *beside_path;
    cellar_digest *digest; /* of the bytes of the file, as they are stored */
    int is_packed;
    z_stream zip;
    unsigned char packed[PACKED_BYTES];
    char delimiter;
};

static int ends(const char *path, size_t length, const char *ending)
{
    const size_t n = strlen(ending);
    return length > n && memcmp(path + length - n, ending, n) == 0;
}

/* Delimiter and compression, as the name says. */
static cellar_status choose(cellar_records_file *file, const char *path, cellar_error *err)
{
    size_t length = strlen(path);
    int is_packed = ends(path, length, ".gz");
    length -= is_packed ? 3 : 0;
    file->delimiter = ends(path, length, ".csv") ? ',' : ends(path, length, ".tsv") ? '\t' : '\0';
    if (file->delimiter == '\0')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: records are written as .csv, .tsv, .csv.gz or .tsv.gz", path);
    if (is_packed && deflateInit2(&file->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                                  Z_DEFAULT_STRATEGY) != Z_OK)
        return cellar_fail_memory(err, "compressed records");
    file->is_packed = is_packed;
    return CELLAR_OK;
}

cellar_status cellar_records_file_open(const char *path, int replace, cellar_records_file **out,
                                       cellar_error *err)
{
    const cellar_output_options how = {.replace = replace, .shared = 1};
    static const char ending[] = ".synthetic.json";
    cellar_records_file *file = cellar_alloc(1, sizeof *file);
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (file == NULL)
        return cellar_fail_memory(err, "synthetic records");
    CELLAR_TRY(choose(file, path, err));
    file->beside_path = cellar_alloc(strlen(path) + sizeof ending, 1);
    if (file->beside_path == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "synthetic records"));
    sprintf(file->beside_path, "%s%s", path, ending);
    CELLAR_TRY(cellar_output_open(path, &how, &file->data, err));
    CELLAR_TRY(cellar_output_open(file->beside_path, &how, &file->beside, err));
    CELLAR_TRY(cellar_digest_create(&file->digest, err));
    cellar_output_listen(file->data, cellar_digest_add, file->digest);
    *out = file;
    file = NULL;
out:
    cellar_records_file_discard(file);
    return status;
}

void cellar_records_file_discard(cellar_records_file *file)
{
    if (file == NULL)
        return;
    cellar_output_discard(file->data);
    cellar_output_discard(file->beside);
    cellar_digest_free(file->digest);
    if (file->is_packed)
        deflateEnd(&file->zip);
    cellar_free(file->beside_path);
    cellar_free(file);
}

char cellar_records_file_delimiter(const cellar_records_file *file)
{
    return file->delimiter;
}

/* Compresses the bytes; `flush` is Z_NO_FLUSH, or Z_FINISH at the end. */
static void pack(cellar_records_file *file, const char *bytes, size_t length, int flush)
{
    file->zip.next_in = (Bytef *) bytes;
    file->zip.avail_in = (uInt) length;
    do {
        file->zip.next_out = file->packed;
        file->zip.avail_out = PACKED_BYTES;
        deflate(&file->zip, flush); /* fails only when it is called wrongly */
        cellar_output_write(file->data, file->packed, PACKED_BYTES - file->zip.avail_out);
    } while (file->zip.avail_out == 0);
}

cellar_status cellar_records_file_add(cellar_records_file *file, cellar_text *text,
                                      cellar_error *err)
{
    if (text->failed)
        return cellar_fail_memory(err, "rows of synthetic records");
    if (file->is_packed)
        pack(file, text->bytes, text->length, Z_NO_FLUSH);
    else
        cellar_output_write(file->data, text->bytes, text->length);
    cellar_text_reset(text);
    return CELLAR_OK;
}

static cellar_status write_beside(cellar_records_file *file, const json_t *description,
                                  cellar_error *err)
{
    char digest[CELLAR_DIGEST_TEXT], *text = NULL;
    json_t *all = json_copy((json_t *) description), *data;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_digest_finish(file->digest, digest, err));
    data = json_pack("{s:s, s:I}", "sha256", digest, "bytes",
                     (json_int_t) cellar_output_size_bytes(file->data));
    if (json_object_set_new(all, "data", data) == 0)
        text = cellar_json_text(all, JSON_INDENT(2));
    if (text == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the description of synthetic records"));
    cellar_output_string(file->beside, text);
    cellar_output_string(file->beside, "\n");
out:
    cellar_free(text);
    json_decref(all);
    return status;
}

/* Lets one file appear; the pointer to it is spent whatever happens. */
static cellar_status appear(cellar_output **output, cellar_error *err)
{
    cellar_output *whole = *output;
    *output = NULL;
    return cellar_output_commit(whole, err);
}

cellar_status cellar_records_file_commit(cellar_records_file *file, const json_t *description,
                                         cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (file->is_packed)
        pack(file, NULL, 0, Z_FINISH);
    cellar_output_listen(file->data, NULL, NULL);
    CELLAR_TRY(write_beside(file, description, err));
    CELLAR_TRY(appear(&file->beside, err));
    status = appear(&file->data, err);
    if (status != CELLAR_OK)
        unlink(file->beside_path);
out:
    return status;
}
