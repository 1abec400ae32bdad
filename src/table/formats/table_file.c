/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/table_file.h>

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/recognise.h"
#include "table/formats/about.h"
#include "table/formats/format.h"
#include "table/table.h"

#define DEFAULT_LIMIT_BYTES (UINT64_C(4) << 30)

static const struct table_file_format {
    cellar_table_format format;
    const char *name;
    const char *ending; /* NULL: never chosen by a file's name */
    cellar_sheet_writer *write;
    cellar_sheet_parser *read; /* NULL: write only */
} table_file_formats[] = {
    {CELLAR_TABLE_CSV, "CSV", ".csv", cellar_format_csv_write, cellar_format_csv_read},
    {CELLAR_TABLE_JSONSTAT, "JSON-stat", ".json", cellar_format_jsonstat_write,
     cellar_format_jsonstat_read},
    {CELLAR_TABLE_PX, "PC-Axis", ".px", cellar_format_px_write, cellar_format_px_read},
    {CELLAR_TABLE_SDMX, "SDMX-CSV", NULL, cellar_format_sdmx_write, NULL},
    {CELLAR_TABLE_CSVW, "CSVW", NULL, cellar_format_csvw_write, NULL},
    {CELLAR_TABLE_ODS, "ODS", ".ods", cellar_format_book_write, NULL},
    {CELLAR_TABLE_XLSX, "XLSX", ".xlsx", cellar_format_book_write, NULL},
};

enum { TABLE_FILE_N_FORMATS = sizeof table_file_formats / sizeof *table_file_formats };

static const struct table_file_format *table_file_find(cellar_table_format format)
{
    for (size_t i = 0; i < TABLE_FILE_N_FORMATS; i++)
        if (table_file_formats[i].format == format)
            return &table_file_formats[i];
    return NULL;
}

cellar_table_format cellar_table_format_of_path(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < TABLE_FILE_N_FORMATS; i++) {
        const char *ending = table_file_formats[i].ending;
        if (ending != NULL && length >= strlen(ending) &&
            strcasecmp(path + length - strlen(ending), ending) == 0)
            return table_file_formats[i].format;
    }
    return CELLAR_TABLE_AUTO;
}

/* ---- writing --------------------------------------------------------------- */

cellar_status cellar_sheet_write(const cellar_sheet *sheet,
                                 const cellar_table_write_options *options, cellar_output *output,
                                 cellar_error *err)
{
    const struct table_file_format *format =
        table_file_find(options->format == CELLAR_TABLE_AUTO ? CELLAR_TABLE_CSV : options->format);
    cellar_status status = cellar_about_check(options, sheet->schema, err);
    if (status != CELLAR_OK)
        return status;
    if (format == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is no table format number %d",
                           (int) options->format);
    return format->write(sheet, options, output, err);
}

const char *cellar_role_name(cellar_role role)
{
    return role == CELLAR_ROLE_TIME ? "time" : "geo";
}

cellar_table_write_options cellar_table_write_options_default(void)
{
    return (cellar_table_write_options){0};
}

cellar_status cellar_table_write(const cellar_table *table,
                                 const cellar_table_write_options *options, cellar_output *output,
                                 cellar_error *err)
{
    static const cellar_table_write_options defaults = {0};
    cellar_sheet sheet;
    cellar_status status = cellar_sheet_of_table(table, &sheet, err);
    if (status != CELLAR_OK)
        return status;
    return cellar_sheet_write(&sheet, options != NULL ? options : &defaults, output, err);
}

/* ---- reading --------------------------------------------------------------- */

void cellar_loaded_clear(cellar_loaded *loaded)
{
    cellar_schema_free(loaded->schema);
    cellar_cells_clear(&loaded->built.cells);
    cellar_free(loaded->tabulation);
    cellar_free(loaded->extension);
    *loaded = (cellar_loaded){0};
}

static const char *const table_file_kinds[] = {"a table of true counts", "a release",
                                               "a fitted table", "an estimate"};

const char *cellar_source_wanted(const cellar_source *source)
{
    return table_file_kinds[source->kind];
}

cellar_status cellar_source_fail_kind(const cellar_source *source, cellar_sheet_kind found,
                                      cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is %s (its values are '%s'), not %s%s",
                       source->name, table_file_kinds[found], cellar_sheet_value_name(found),
                       cellar_source_wanted(source),
                       found >= CELLAR_SHEET_FIT ? "; tests, intervals and further fits belong to "
                                                   "the releases it was computed from"
                                                 : "");
}

cellar_status cellar_sheet_parse(const cellar_source *source, cellar_loaded *out, cellar_error *err)
{
    cellar_table_format wanted = source->options->format;
    const struct table_file_format *format;
    cellar_status status;

    status = cellar_recognise_refuse(source->name, source->bytes, source->length, err);
    if (status != CELLAR_OK)
        return status;
    if (wanted == CELLAR_TABLE_AUTO)
        wanted = cellar_table_format_of_path(source->name);
    format = table_file_find(wanted);
    if (format == NULL)
        return cellar_fail(
            err, CELLAR_ERR_ARGUMENT,
            "%s: the name does not show the format; it ends in neither .csv, .json nor .px",
            source->name);
    if (format->read == NULL)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s: this verb does not read %s files; cellar convert reads them with "
                           "%s.cellar.json beside them",
                           source->name, format->name, source->name);
    return format->read(source, out, err);
}

cellar_table_read_options cellar_table_read_options_default(void)
{
    return (cellar_table_read_options){.limit_bytes = DEFAULT_LIMIT_BYTES};
}

cellar_status cellar_loaded_table(const char *name, cellar_loaded *loaded, cellar_table **out,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(
        cellar_table_from_cells(loaded->schema, &loaded->built.cells, loaded->key_range, out, err));
    CELLAR_TRY(cellar_table_set_max_weight(*out, loaded->max_weight, err));
    CELLAR_TRY(cellar_table_set_tabulation(*out, loaded->tabulation, err));
    CELLAR_TRY(cellar_table_check_sums(*out, name, err));
out:
    if (status != CELLAR_OK) {
        cellar_table_free(*out);
        *out = NULL;
    }
    return status;
}

cellar_status cellar_table_parse(const char *name, const char *bytes, size_t length,
                                 const cellar_table_read_options *options, cellar_table **out,
                                 cellar_error *err)
{
    static const cellar_table_read_options defaults = {0};
    cellar_status status = CELLAR_OK;
    cellar_loaded loaded = {0};
    cellar_source source = {.name = name,
                            .bytes = bytes,
                            .length = length,
                            .options = options != NULL ? options : &defaults,
                            .kind = CELLAR_SHEET_TABLE};

    *out = NULL;
    CELLAR_TRY(cellar_sheet_parse(&source, &loaded, err));
    CELLAR_TRY(cellar_loaded_table(name, &loaded, out, err));
out:
    cellar_loaded_clear(&loaded);
    return status;
}

cellar_status cellar_table_read(const char *path, const cellar_table_read_options *options,
                                cellar_table **out, cellar_error *err)
{
    uint64_t limit =
        options != NULL && options->limit_bytes != 0 ? options->limit_bytes : DEFAULT_LIMIT_BYTES;
    cellar_status status;
    char *bytes;
    size_t length;

    *out = NULL;
    status = cellar_file_read(path, limit, &bytes, &length, err);
    if (status != CELLAR_OK)
        return status;
    status = cellar_table_parse(path, bytes, length, options, out, err);
    cellar_wipe(bytes, length);
    cellar_free(bytes);
    return status;
}
