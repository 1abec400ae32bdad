/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/files/numbers_read.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "release/files/digest.h"
#include "release/files/release_file.h"
#include "table/formats/extension.h"
#include "table/formats/format.h"

/* Larger files are refused; the description holds code lists only. */
static const size_t READ_DATA_BYTES = (size_t) 4 << 30, READ_SIDECAR_BYTES = (size_t) 256 << 20;

/* Fuzzers get behind digests, which they would never guess. */
static int read_agrees(const char *stated, const char *found)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void) found;
    return stated != NULL;
#else
    return stated != NULL && strcmp(stated, found) == 0;
#endif
}

static cellar_status read_fail_digest(const char *path, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s: the released values are not those its description was written for (the "
                       "digests differ)",
                       path);
}

/* Suppressed cells are those that a release which suppresses does not list: they go. What it lists
 * is not below its threshold. */
static cellar_status read_suppressed(const char *path, const json_t *description,
                                     cellar_cells *cells, cellar_error *err)
{
    const char *below = json_string_value(json_object_get(description, "below"));
    const json_int_t threshold = json_integer_value(json_object_get(description, "threshold"));
    size_t n = 0;

    if (below == NULL || strcmp(below, "suppress") != 0)
        return CELLAR_OK;
    for (size_t i = 0; i < cells->n; i++) {
        const uint8_t status = cells->status != NULL ? cells->status[i] : CELLAR_CELL_NORMAL;
        if (status == CELLAR_CELL_SUPPRESSED)
            continue;
        if (status == CELLAR_CELL_NORMAL && (int64_t) cells->count[i] < threshold)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: a value below the threshold, where the release suppresses it",
                               path);
        cells->index[n] = cells->index[i];
        cells->count[n] = cells->count[i];
        if (cells->status != NULL)
            cells->status[n] = status;
        n++;
    }
    cells->n = n;
    return CELLAR_OK;
}

/* Refuses other statuses than structural zeros (those that the schema knows are not among the
 * cells); without any, no array of statuses is kept. */
static cellar_status read_statuses(const char *path, cellar_cells *cells, cellar_error *err)
{
    size_t n_marks = 0;
    for (size_t i = 0; i < cells->n; i++)
        if (cells->status != NULL && cells->status[i] != CELLAR_CELL_NORMAL) {
            n_marks++;
            if (cells->status[i] != CELLAR_CELL_STRUCTURAL_ZERO)
                return cellar_fail(
                    err, CELLAR_ERR_INPUT,
                    "%s: a release has no status but structural zeros, and suppressed cells where "
                    "it says that it suppresses",
                    path);
        }
    if (n_marks == 0) {
        cellar_free(cells->status);
        cells->status = NULL;
    }
    return CELLAR_OK;
}

/* The values are those that the description was written for. */
static cellar_status read_finish(const cellar_source *source, cellar_numbers *numbers,
                                 cellar_error *err)
{
    cellar_cells *cells = &numbers->loaded.built.cells;
    const char *stated = json_string_value(json_object_get(numbers->description, "cells_sha256"));
    char digest[CELLAR_DIGEST_TEXT];
    cellar_status status = read_suppressed(source->name, numbers->description, cells, err);
    if (status == CELLAR_OK)
        status = read_statuses(source->name, cells, err);
    if (status == CELLAR_OK)
        status = cellar_digest_cells(cells, digest, err);
    if (status == CELLAR_OK && !read_agrees(stated, digest))
        status = read_fail_digest(source->name, err);
    return status;
}

/* `ending` is that of the file beside `path` that the bytes are from, or nothing. */
static cellar_status read_json(const char *path, const char *ending, const char *bytes,
                               size_t length, json_t **out, cellar_error *err)
{
    json_error_t where;
    *out = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(*out))
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s%s:%d: not a JSON object", path, ending,
                           where.line);
    return CELLAR_OK;
}

/* ---- one file ---------------------------------------------------------------- */

static cellar_status read_whole(const cellar_source *source, cellar_numbers *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_sheet_parse(source, &out->loaded, err));
    if (out->loaded.extension == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: carries no certificate, so it is not %s",
                           source->name, cellar_source_wanted(source));
    CELLAR_TRY(read_json(source->name, "", out->loaded.extension, strlen(out->loaded.extension),
                         &out->description, err));
    CELLAR_TRY(read_finish(source, out, err));
out:
    return status;
}

/* ---- a CSV and what stands beside it ------------------------------------------- */

static cellar_status csv_check_digest(const cellar_source *source, const json_t *sidecar,
                                      cellar_error *err)
{
    const char *stated =
        json_string_value(json_object_get(json_object_get(sidecar, "data"), "sha256"));
    char found[CELLAR_DIGEST_TEXT];
    cellar_digest *digest = NULL;
    cellar_status status = cellar_digest_create(&digest, err);

    if (status != CELLAR_OK)
        return status;
    cellar_digest_add(digest, source->bytes, source->length);
    status = cellar_digest_finish(digest, found, err);
    cellar_digest_free(digest);
    if (status == CELLAR_OK && !read_agrees(stated, found))
        status = read_fail_digest(source->name, err);
    return status;
}

cellar_status cellar_numbers_beside(const cellar_source *source, char **bytes, size_t *length,
                                    cellar_error *err)
{
    static const char ending[] = ".cellar.json";
    const char *path = source->name;
    size_t size = strlen(path) + sizeof ending;
    char *name = cellar_alloc(size, 1);
    cellar_status status;

    if (name == NULL)
        return cellar_fail_memory(err, "the name of a file");
    snprintf(name, size, "%s%s", path, ending);
    status = cellar_file_read_plain(name, READ_SIDECAR_BYTES, bytes, length, err);
    if (status == CELLAR_ERR_IO)
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "%s: carries no certificate, so it is not %s: %s is not there or "
                             "cannot be read",
                             path, cellar_source_wanted(source), name);
    cellar_free(name);
    return status;
}

cellar_status cellar_sidecar_read(const char *path, const char *bytes, size_t length, json_t **out,
                                  cellar_error *err)
{
    const cellar_source source = {
        .name = path, .bytes = bytes, .length = length, .kind = CELLAR_SHEET_RELEASE};
    char *beside = NULL;
    size_t n;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(cellar_numbers_beside(&source, &beside, &n, err));
    CELLAR_TRY(read_json(path, ".cellar.json", beside, n, out, err));
    CELLAR_TRY(csv_check_digest(&source, *out, err));
out:
    if (status != CELLAR_OK) {
        json_decref(*out);
        *out = NULL;
    }
    cellar_free(beside);
    return status;
}

static cellar_status read_csv(const cellar_source *source, const char *beside, size_t length,
                              cellar_numbers *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const char *value;
    CELLAR_TRY(read_json(source->name, ".cellar.json", beside, length, &out->description, err));
    CELLAR_TRY(csv_check_digest(source, out->description, err));
    CELLAR_TRY(cellar_extension_begin(source, out->description, &out->loaded, err));
    value = json_string_value(json_object_get(out->description, "value"));
    CELLAR_TRY(cellar_numbers_rows(
        source, value != NULL ? value : cellar_sheet_value_name(source->kind), &out->loaded, err));
    if (source->kind == CELLAR_SHEET_TABLE)
        status = cellar_extension_finish(source, out->description, &out->loaded, err);
    else
        status = read_finish(source, out, err);
out:
    return status;
}

/* 1 when what is said about the numbers stands in a file of its own. */
static int read_is_csv(cellar_table_format format)
{
    return format == CELLAR_TABLE_CSV || format == CELLAR_TABLE_CSVW || format == CELLAR_TABLE_SDMX;
}

cellar_table_format cellar_numbers_format(const char *path, cellar_table_format format)
{
    return format != CELLAR_TABLE_AUTO ? format : cellar_table_format_of_path(path);
}

cellar_status cellar_numbers_check_format(const char *path, cellar_table_format format,
                                          cellar_error *err)
{
    if (format == CELLAR_TABLE_ODS || format == CELLAR_TABLE_XLSX)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s: spreadsheets are written and not read: name the same table in CSV, "
                           "JSON-stat or PC-Axis",
                           path);
    return CELLAR_OK;
}

void cellar_numbers_clear(cellar_numbers *numbers)
{
    cellar_loaded_clear(&numbers->loaded);
    json_decref(numbers->description);
    *numbers = (cellar_numbers){0};
}

cellar_status cellar_numbers_parse(const cellar_source *source, const char *beside, size_t length,
                                   cellar_numbers *out, cellar_error *err)
{
    *out = (cellar_numbers){0};
    return read_is_csv(source->options->format) ? read_csv(source, beside, length, out, err)
                                                : read_whole(source, out, err);
}

cellar_status cellar_numbers_read(const char *path, cellar_table_format format,
                                  cellar_sheet_kind kind, cellar_numbers *out, cellar_error *err)
{
    cellar_table_read_options options = {.format = format};
    cellar_source source = {.name = path, .options = &options, .kind = kind};
    cellar_status status = CELLAR_OK;
    char *bytes = NULL, *beside = NULL;
    size_t length = 0;

    *out = (cellar_numbers){0};
    options.format = cellar_numbers_format(path, format);
    CELLAR_TRY(cellar_numbers_check_format(path, options.format, err));
    CELLAR_TRY(cellar_file_read(path, READ_DATA_BYTES, &bytes, &source.length, err));
    if (read_is_csv(options.format))
        CELLAR_TRY(cellar_numbers_beside(&source, &beside, &length, err));
    source.bytes = bytes;
    CELLAR_TRY(cellar_numbers_parse(&source, beside, length, out, err));
out:
    cellar_free(bytes);
    cellar_free(beside);
    return status;
}
