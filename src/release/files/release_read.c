/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/release_file.h>

#include <stdio.h>
#include <string.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "release/files/description.h"
#include "release/files/digest.h"
#include "release/files/release_file.h"
#include "table/formats/extension.h"
#include "table/formats/format.h"

/* Larger files are no releases; the description holds code lists only. */
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
                       "%s: its numbers are not those its description was written for (the "
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

/* Cells with a release's description; structural zeros that the schema knows are not among them.
 */
static cellar_status read_finish(const char *path, cellar_schema *schema, cells_builder *built,
                                 json_t *description, cellar_release **out, cellar_error *err)
{
    cellar_cells *cells = &built->cells;
    char digest[CELLAR_DIGEST_TEXT];
    const char *stated = json_string_value(json_object_get(description, "cells_sha256"));
    cellar_status status = CELLAR_OK;
    size_t n_marks = 0;

    CELLAR_TRY(read_suppressed(path, description, cells, err));
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
    CELLAR_TRY(cellar_digest_cells(cells, digest, err));
    if (!read_agrees(stated, digest)) {
        status = read_fail_digest(path, err);
        goto out;
    }
    cellar_description_prune(description);
    CELLAR_TRY(cellar_release_create(schema, cells, description, path, out, err));
out:
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

static cellar_status read_whole(const cellar_source *source, cellar_release **out,
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_loaded loaded = {0};
    json_t *description = NULL;

    CELLAR_TRY(cellar_sheet_parse(source, &loaded, err));
    if (loaded.extension == NULL) {
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "%s: carries no certificate, so it is not a release", source->name);
        goto out;
    }
    CELLAR_TRY(
        read_json(source->name, "", loaded.extension, strlen(loaded.extension), &description, err));
    CELLAR_TRY(read_finish(source->name, loaded.schema, &loaded.built, description, out, err));
out:
    json_decref(description);
    cellar_loaded_clear(&loaded);
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

/* The columns are the schema's variables, `released`, and perhaps `status`. */
static cellar_status csv_check_header(const cellar_csv *csv, const cellar_schema *schema,
                                      cellar_error *err)
{
    size_t n = cellar_schema_n_variables(schema);
    for (size_t v = 0; v < csv->n_columns; v++) {
        const char *expected = v < n    ? cellar_schema_variable(schema, v)
                               : v == n ? cellar_sheet_value_name(CELLAR_SHEET_RELEASE)
                                        : "status";
        if (v > n + 1 || strcmp(csv->header[v], expected) != 0)
            return cellar_csv_fail(csv, v, err, "expected the column '%s'", expected);
    }
    return csv->n_columns > n ? CELLAR_OK
                              : cellar_fail(err, CELLAR_ERR_INPUT,
                                            "%s:1: no column 'released': not a release", csv->name);
}

static cellar_status csv_read_row(const cellar_csv *csv, const cellar_source *source,
                                  cellar_loaded *loaded, cellar_error *err)
{
    size_t n = cellar_schema_n_variables(loaded->schema);
    uint32_t categories[CELLAR_MAX_VARIABLES];
    const cellar_csv_field *field = &csv->fields[n];
    cellar_sheet_cell cell = {0};

    for (size_t v = 0; v < n; v++) {
        size_t category =
            cellar_schema_find_code(loaded->schema, v, csv->fields[v].bytes, csv->fields[v].length);
        if (category == CELLAR_NO_CODE)
            return cellar_csv_fail(csv, v, err, "a code that the description does not have");
        categories[v] = (uint32_t) category;
    }
    cell.index = cellar_schema_index(loaded->schema, categories);
    if (csv->n_columns == n + 2 &&
        !cellar_cell_status_find(csv->fields[n + 1].bytes, csv->fields[n + 1].length, &cell.status))
        return cellar_csv_fail(csv, n + 1, err, "expected nothing, structural-zero or suppressed");
    if ((cell.status != CELLAR_CELL_SUPPRESSED || field->length > 0) &&
        !cellar_parse_i64(field->bytes, field->length, &cell.value))
        return cellar_csv_fail(csv, n, err, "expected a whole number below 2^63");
    if (loaded->built.cells.n > 0 &&
        loaded->built.cells.index[loaded->built.cells.n - 1] >= cell.index)
        return cellar_csv_fail(csv, n, err, "the cells are not in canonical order");
    return cellar_extension_add_cell(source, loaded, &cell, err);
}

static cellar_status csv_read_rows(const cellar_source *source, cellar_loaded *loaded,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_csv csv;
    int found;

    cellar_csv_init(&csv, source->name, source->bytes, source->length, ',');
    CELLAR_TRY(cellar_csv_read_header(&csv, err));
    CELLAR_TRY(csv_check_header(&csv, loaded->schema, err));
    for (;;) {
        CELLAR_TRY(cellar_csv_next(&csv, &found, err));
        if (!found)
            break;
        CELLAR_TRY(csv_read_row(&csv, source, loaded, err));
    }
out:
    cellar_csv_clear(&csv);
    return status;
}

/* The text of FILE.cellar.json. */
static cellar_status csv_read_sidecar(const char *path, char **bytes, size_t *length,
                                      cellar_error *err)
{
    static const char ending[] = ".cellar.json";
    size_t size = strlen(path) + sizeof ending;
    char *name = cellar_alloc(size, 1);
    cellar_status status;

    if (name == NULL)
        return cellar_fail_memory(err, "the name of a file");
    snprintf(name, size, "%s%s", path, ending);
    status = cellar_file_read_plain(name, READ_SIDECAR_BYTES, bytes, length, err);
    if (status == CELLAR_ERR_IO)
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "%s: carries no certificate, so it is not a release: %s is not there "
                             "or cannot be read",
                             path, name);
    cellar_free(name);
    return status;
}

cellar_status cellar_sidecar_read(const char *path, const char *bytes, size_t length, json_t **out,
                                  cellar_error *err)
{
    const cellar_source source = {.name = path, .bytes = bytes, .length = length};
    char *beside = NULL;
    size_t n;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(csv_read_sidecar(path, &beside, &n, err));
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

cellar_status cellar_sidecar_release(const char *path, json_t *sidecar, cellar_release **out,
                                     cellar_error *err)
{
    const cellar_table_read_options options = {.format = CELLAR_TABLE_SDMX};
    const cellar_source source = {
        .name = path, .bytes = "", .options = &options, .kind = CELLAR_SHEET_RELEASE};
    cellar_loaded loaded = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(cellar_extension_schema(&source, sidecar, &loaded.schema, err));
    cellar_description_prune(sidecar);
    CELLAR_TRY(cellar_release_create(loaded.schema, &loaded.built.cells, sidecar, path, out, err));
out:
    cellar_loaded_clear(&loaded);
    return status;
}

static cellar_status read_csv(const cellar_source *source, const char *beside, size_t length,
                              cellar_release **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_loaded loaded = {0};
    json_t *sidecar = NULL;

    CELLAR_TRY(read_json(source->name, ".cellar.json", beside, length, &sidecar, err));
    CELLAR_TRY(csv_check_digest(source, sidecar, err));
    CELLAR_TRY(cellar_extension_schema(source, sidecar, &loaded.schema, err));
    CELLAR_TRY(csv_read_rows(source, &loaded, err));
    CELLAR_TRY(read_finish(source->name, loaded.schema, &loaded.built, sidecar, out, err));
out:
    json_decref(sidecar);
    cellar_loaded_clear(&loaded);
    return status;
}

/* 1 when what is said about the numbers stands in a file of its own. */
static int read_is_csv(cellar_table_format format)
{
    return format == CELLAR_TABLE_CSV || format == CELLAR_TABLE_CSVW;
}

cellar_status cellar_release_parse(const cellar_source *source, const char *beside, size_t length,
                                   cellar_release **out, cellar_error *err)
{
    *out = NULL;
    return read_is_csv(source->options->format) ? read_csv(source, beside, length, out, err)
                                                : read_whole(source, out, err);
}

cellar_status cellar_release_read(const char *path, cellar_table_format format,
                                  cellar_release **out, cellar_error *err)
{
    cellar_table_read_options options = cellar_table_read_options_default();
    cellar_source source = {.name = path, .options = &options, .kind = CELLAR_SHEET_RELEASE};
    cellar_status status = CELLAR_OK;
    char *bytes = NULL, *beside = NULL;
    size_t length = 0;

    options.format = format;
    *out = NULL;
    if (format == CELLAR_TABLE_AUTO)
        options.format = cellar_table_format_of_path(path);
    CELLAR_TRY(cellar_file_read(path, READ_DATA_BYTES, &bytes, &source.length, err));
    if (read_is_csv(options.format))
        CELLAR_TRY(csv_read_sidecar(path, &beside, &length, err));
    source.bytes = bytes;
    CELLAR_TRY(cellar_release_parse(&source, beside, length, out, err));
out:
    cellar_free(bytes);
    cellar_free(beside);
    return status;
}
