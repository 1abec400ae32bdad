/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/files/numbers_read.h"

#include <stdio.h>
#include <string.h>

#include "base/csv_record.h"
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

/* The columns after the variables, in order; CELLAR_CSV_NO_COLUMN for those that are not there. */
typedef struct csv_columns {
    size_t value, se, status, n;
} csv_columns;

static csv_columns csv_columns_of(const cellar_csv *csv, const cellar_loaded *loaded)
{
    const size_t n = cellar_schema_n_variables(loaded->schema);
    csv_columns columns = {n, CELLAR_CSV_NO_COLUMN, CELLAR_CSV_NO_COLUMN, n + 1};
    if (loaded->with_errors)
        columns.se = columns.n++;
    if (csv->n_columns > columns.n)
        columns.status = columns.n++;
    return columns;
}

/* The name that a column has to have. */
static const char *csv_column_name(const csv_columns *columns, const cellar_loaded *loaded,
                                   const char *value, size_t column)
{
    return column < columns->value     ? cellar_schema_variable(loaded->schema, column)
           : column == columns->value  ? value
           : column == columns->se     ? CELLAR_SHEET_ERROR_NAME
           : column == columns->status ? "status"
                                       : NULL;
}

static cellar_status csv_check_header(const cellar_csv *csv, const csv_columns *columns,
                                      const cellar_loaded *loaded, const char *value,
                                      cellar_error *err)
{
    for (size_t c = 0; c < csv->n_columns; c++) {
        const char *expected = csv_column_name(columns, loaded, value, c);
        if (expected == NULL)
            return cellar_csv_fail(csv, c, err, "expected no further column");
        if (strcmp(csv->header[c], expected) != 0)
            return cellar_csv_fail(csv, c, err, "expected the column '%s'", expected);
    }
    return csv->n_columns >= columns->n
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_INPUT, "%s:1: no column '%s'", csv->name,
                             csv_column_name(columns, loaded, value, csv->n_columns));
}

/* A field in units of 10^-decimals. */
static int csv_parse_units(const cellar_csv_field *field, int decimals, int64_t *out)
{
    cellar_int128 units;
    int exact;
    if (decimals == 0)
        return cellar_parse_i64(field->bytes, field->length, out);
    if (!cellar_parse_decimal(field->bytes, field->length, decimals, &units, &exact) || !exact ||
        units > INT64_MAX || units < -INT64_MAX)
        return 0;
    *out = (int64_t) units;
    return 1;
}

static cellar_status csv_read_values(const cellar_csv *csv, const csv_columns *columns,
                                     const cellar_loaded *loaded, cellar_sheet_cell *cell,
                                     cellar_error *err)
{
    const cellar_csv_field *fields = csv->fields;
    if (columns->status != CELLAR_CSV_NO_COLUMN &&
        !cellar_cell_status_find(fields[columns->status].bytes, fields[columns->status].length,
                                 &cell->status))
        return cellar_csv_fail(csv, columns->status, err,
                               "expected nothing, structural-zero or suppressed");
    if ((cell->status != CELLAR_CELL_SUPPRESSED || fields[columns->value].length > 0) &&
        !csv_parse_units(&fields[columns->value], loaded->decimals, &cell->value))
        return cellar_csv_fail(csv, columns->value, err,
                               loaded->decimals > 0 ? "expected a number of at most %d decimals"
                                                    : "expected a whole number below 2^63",
                               loaded->decimals);
    cell->se = CELLAR_SHEET_NO_ERROR;
    if (loaded->with_errors && fields[columns->se].length > 0 &&
        (!csv_parse_units(&fields[columns->se], loaded->decimals, &cell->se) || cell->se < 0))
        return cellar_csv_fail(csv, columns->se, err,
                               "expected nothing or a number of at most %d decimals that is not "
                               "negative",
                               loaded->decimals);
    return CELLAR_OK;
}

static cellar_status csv_read_row(const cellar_csv *csv, const csv_columns *columns,
                                  const cellar_source *source, cellar_loaded *loaded,
                                  cellar_error *err)
{
    const size_t n = cellar_schema_n_variables(loaded->schema);
    uint32_t categories[CELLAR_MAX_VARIABLES];
    cellar_sheet_cell cell = {0};
    cellar_status status;

    for (size_t v = 0; v < n; v++) {
        size_t category =
            cellar_schema_find_code(loaded->schema, v, csv->fields[v].bytes, csv->fields[v].length);
        if (category == CELLAR_NO_CODE)
            return cellar_csv_fail(csv, v, err, "a code that the description does not have");
        categories[v] = (uint32_t) category;
    }
    cell.index = cellar_schema_index(loaded->schema, categories);
    status = csv_read_values(csv, columns, loaded, &cell, err);
    if (status != CELLAR_OK)
        return status;
    if (loaded->built.cells.n > 0 &&
        loaded->built.cells.index[loaded->built.cells.n - 1] >= cell.index)
        return cellar_csv_fail(csv, n, err, "the cells are not in canonical order");
    return cellar_extension_add_cell(source, loaded, &cell, err);
}

static cellar_status csv_read_rows(const cellar_source *source, const char *value,
                                   cellar_loaded *loaded, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_csv csv;
    int found;

    cellar_csv_init(&csv, source->name, source->bytes, source->length, ',');
    CELLAR_TRY(cellar_csv_read_header(&csv, err));
    const csv_columns columns = csv_columns_of(&csv, loaded);
    CELLAR_TRY(csv_check_header(&csv, &columns, loaded, value, err));
    for (;;) {
        CELLAR_TRY(cellar_csv_next(&csv, &found, err));
        if (!found)
            break;
        CELLAR_TRY(csv_read_row(&csv, &columns, source, loaded, err));
    }
out:
    cellar_csv_clear(&csv);
    return status;
}

/* The text of FILE.cellar.json. */
static cellar_status csv_read_sidecar(const cellar_source *source, char **bytes, size_t *length,
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
    CELLAR_TRY(csv_read_sidecar(&source, &beside, &n, err));
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
    CELLAR_TRY(csv_read_rows(source, value != NULL ? value : cellar_sheet_value_name(source->kind),
                             &out->loaded, err));
    CELLAR_TRY(read_finish(source, out, err));
out:
    return status;
}

/* 1 when what is said about the numbers stands in a file of its own. */
static int read_is_csv(cellar_table_format format)
{
    return format == CELLAR_TABLE_CSV || format == CELLAR_TABLE_CSVW;
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
    if (format == CELLAR_TABLE_AUTO)
        options.format = cellar_table_format_of_path(path);
    CELLAR_TRY(cellar_file_read(path, READ_DATA_BYTES, &bytes, &source.length, err));
    if (read_is_csv(options.format))
        CELLAR_TRY(csv_read_sidecar(&source, &beside, &length, err));
    source.bytes = bytes;
    CELLAR_TRY(cellar_numbers_parse(&source, beside, length, out, err));
out:
    cellar_free(bytes);
    cellar_free(beside);
    return status;
}
