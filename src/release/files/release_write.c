/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/release_file.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/output.h"
#include "release/files/digest.h"
#include "release/release.h"
#include "release/files/release_file.h"
#include "release/files/statements.h"
#include "table/formats/extension.h"
#include "table/formats/format.h"

struct cellar_release_file {
    cellar_table_write_options options; /* the format is decided */
    cellar_output *data;
    cellar_output *sidecar; /* FILE.cellar.json; NULL when the format holds everything */
    cellar_output *csvw;    /* FILE-metadata.json */
    char *sidecar_path, *csvw_path;
};

/* ---- opening --------------------------------------------------------------- */

static int file_is_whole(cellar_table_format format)
{
    return format == CELLAR_TABLE_JSONSTAT || format == CELLAR_TABLE_PX;
}

static cellar_status file_choose_format(cellar_release_file *file, const char *path,
                                        cellar_error *err)
{
    cellar_table_format *format = &file->options.format;
    if (*format == CELLAR_TABLE_AUTO)
        *format = cellar_table_format_of_path(path);
    if (*format == CELLAR_TABLE_AUTO)
        return cellar_fail(
            err, CELLAR_ERR_ARGUMENT,
            "%s: the name does not show the format; it ends in none of .csv, .json, .px, .ods and "
            ".xlsx",
            path);
    if (strcmp(path, "-") == 0 && !file_is_whole(*format))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a release in this format is two files, the values and their "
                           "description, and needs the name of a file; JSON-stat and PC-Axis hold "
                           "both in one");
    return CELLAR_OK;
}

/* Opens the file called path + ending. */
static cellar_status file_open_beside(const char *path, const char *ending,
                                      const cellar_output_options *how, char **name,
                                      cellar_output **out, cellar_error *err)
{
    size_t size = strlen(path) + strlen(ending) + 1;
    *name = cellar_alloc(size, 1);
    if (*name == NULL)
        return cellar_fail_memory(err, "the name of a file");
    snprintf(*name, size, "%s%s", path, ending);
    return cellar_output_open(*name, how, out, err);
}

static cellar_status file_open(const char *path, const cellar_table_write_options *options,
                               const cellar_output_options *how, cellar_release_file **out,
                               cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_release_file *file = cellar_alloc(1, sizeof *file);

    *out = NULL;
    if (file == NULL)
        return cellar_fail_memory(err, "a release");
    if (options != NULL)
        file->options = *options;
    CELLAR_TRY(file_choose_format(file, path, err));
    CELLAR_TRY(cellar_output_open(path, how, &file->data, err));
    if (!file_is_whole(file->options.format))
        CELLAR_TRY(
            file_open_beside(path, ".cellar.json", how, &file->sidecar_path, &file->sidecar, err));
    if (file->options.format == CELLAR_TABLE_CSVW) {
        const char *slash = strrchr(path, '/');
        if (file->options.csv_name == NULL)
            file->options.csv_name = slash != NULL ? slash + 1 : path;
        CELLAR_TRY(
            file_open_beside(path, "-metadata.json", how, &file->csvw_path, &file->csvw, err));
    }
    *out = file;
    file = NULL;
out:
    cellar_release_file_discard(file);
    return status;
}

cellar_status cellar_release_file_open(const char *path, const cellar_table_write_options *options,
                                       int replace, cellar_release_file **out, cellar_error *err)
{
    cellar_output_options how = cellar_output_options_default();
    how.replace = replace;
    how.shared = 1;
    return file_open(path, options, &how, out, err);
}

cellar_status cellar_release_file_open_confidential(const char *path,
                                                    const cellar_table_write_options *options,
                                                    int replace, cellar_release_file **out,
                                                    cellar_error *err)
{
    cellar_output_options how = cellar_output_options_default();
    how.replace = replace;
    return file_open(path, options, &how, out, err);
}

cellar_status cellar_release_file_stage(const char *staged_path,
                                        const cellar_table_write_options *options,
                                        cellar_release_file **out, cellar_error *err)
{
    return file_open(staged_path, options, NULL, out, err);
}

void cellar_release_file_discard(cellar_release_file *file)
{
    if (file == NULL)
        return;
    cellar_output_discard(file->data);
    cellar_output_discard(file->sidecar);
    cellar_output_discard(file->csvw);
    cellar_free(file->sidecar_path);
    cellar_free(file->csvw_path);
    cellar_free(file);
}

/* ---- writing --------------------------------------------------------------- */

static cellar_sheet_cell release_sheet_cell(const void *source, size_t position)
{
    cellar_released_cell cell = cellar_release_cell(source, position);
    return (cellar_sheet_cell){.index = cell.index, .value = cell.released, .status = cell.status};
}

/* What a cell that is not listed is. */
static cellar_cell_status absent_status(cellar_below below)
{
    return below == CELLAR_BELOW_SUPPRESS ? CELLAR_CELL_SUPPRESSED : CELLAR_CELL_NORMAL;
}

static cellar_sheet release_sheet(const cellar_release *release, const char *attachment)
{
    return (cellar_sheet){.schema = release->schema,
                          .kind = CELLAR_SHEET_RELEASE,
                          .stamp = cellar_protection_level_stamp(release->facts.level),
                          .attachment = attachment,
                          .absent = absent_status(release->facts.below),
                          .n_cells = release->cells.n,
                          .source = release,
                          .cell = release_sheet_cell};
}

/* The schema and the marks are those of the table, and so is what a format cannot hold. */
cellar_status cellar_release_file_check(const cellar_table *table, cellar_below below,
                                        const cellar_table_write_options *options,
                                        cellar_error *err)
{
    cellar_table_write_options how = *options;
    cellar_sheet sheet;
    cellar_status status = cellar_sheet_of_table(table, &sheet, err);
    if (status != CELLAR_OK)
        return status;
    sheet.kind = CELLAR_SHEET_RELEASE;
    sheet.confidential = sheet.weighted = sheet.keyed = 0;
    sheet.absent = absent_status(below);
    if (how.format == CELLAR_TABLE_CSVW)
        how.format = CELLAR_TABLE_CSV;
    return cellar_sheet_write(&sheet, &how, NULL, err);
}

/* The description with the digest of the numbers it belongs to; freed with cellar_free(). */
static cellar_status release_attachment(const cellar_release *release, char **out,
                                        cellar_error *err)
{
    char digest[CELLAR_DIGEST_TEXT];
    json_t *all = json_copy(release->description);
    cellar_status status = cellar_digest_cells(&release->cells, digest, err);

    *out = NULL;
    if (status == CELLAR_OK && json_object_set_new(all, "cells_sha256", json_string(digest)) == 0)
        *out = cellar_json_text(all, JSON_COMPACT);
    if (status == CELLAR_OK && *out == NULL)
        status = cellar_fail_memory(err, "the description of a release");
    json_decref(all);
    return status;
}

/* The numbers, and the digest of the file they make. */
static cellar_status file_write_data(cellar_release_file *file, const cellar_sheet *sheet,
                                     char digest[CELLAR_DIGEST_TEXT], cellar_error *err)
{
    cellar_table_write_options options = file->options;
    cellar_digest *sha = NULL;
    cellar_status status = CELLAR_OK;

    if (options.format == CELLAR_TABLE_CSVW)
        options.format = CELLAR_TABLE_CSV;
    CELLAR_TRY(cellar_digest_create(&sha, err));
    cellar_output_listen(file->data, cellar_digest_add, sha);
    CELLAR_TRY(cellar_sheet_write(sheet, &options, file->data, err));
    CELLAR_TRY(cellar_digest_finish(sha, digest, err));
out:
    cellar_output_listen(file->data, NULL, NULL);
    cellar_digest_free(sha);
    return status;
}

static int file_is_book(cellar_table_format format)
{
    return format == CELLAR_TABLE_ODS || format == CELLAR_TABLE_XLSX;
}

/* A spreadsheet tells people what else is only in its description. */
static cellar_status file_write_book(cellar_release_file *file, const cellar_sheet *sheet,
                                     char digest[CELLAR_DIGEST_TEXT], cellar_error *err)
{
    json_t *description = json_loads(sheet->attachment != NULL ? sheet->attachment : "{}", 0, NULL);
    cellar_sheet telling = *sheet;
    cellar_status status;
    if (description == NULL)
        return cellar_fail_memory(err, "a spreadsheet");
    telling.state = cellar_statements;
    telling.statements = description;
    status = file_write_data(file, &telling, digest, err);
    json_decref(description);
    return status;
}

static cellar_status file_write_sidecar(cellar_release_file *file, const cellar_sheet *sheet,
                                        const char *digest, cellar_error *err)
{
    const cellar_extension_layout layout = {.about = &file->options};
    cellar_status status = CELLAR_OK;
    json_t *extension = NULL;
    char *text = NULL;

    CELLAR_TRY(cellar_extension_create(sheet, &layout, &extension, err));
    if (json_object_set_new(extension, "data",
                            json_pack("{s:s, s:I}", "sha256", digest, "bytes",
                                      (json_int_t) cellar_output_size_bytes(file->data))) == 0)
        text = cellar_json_text(extension, JSON_INDENT(2));
    if (text == NULL) {
        status = cellar_fail_memory(err, "the description of a release");
        goto out;
    }
    cellar_output_string(file->sidecar, text);
    cellar_output_string(file->sidecar, "\n");
out:
    cellar_free(text);
    json_decref(extension);
    return status;
}

/* Lets one file appear; the pointer to it is spent whatever happens. */
static cellar_status file_commit(cellar_output **output, cellar_error *err)
{
    cellar_output *whole = *output;
    *output = NULL;
    return whole == NULL ? CELLAR_OK : cellar_output_commit(whole, err);
}

/* What goes along first, so that numbers never stand alone; if they cannot appear, it goes
 * again. */
static cellar_status file_commit_all(cellar_release_file *file, cellar_error *err)
{
    cellar_status status = file_commit(&file->sidecar, err);
    int has_sidecar = status == CELLAR_OK && file->sidecar_path != NULL, has_csvw;
    if (status != CELLAR_OK)
        return status;
    status = file_commit(&file->csvw, err);
    has_csvw = status == CELLAR_OK && file->csvw_path != NULL;
    if (status == CELLAR_OK)
        status = file_commit(&file->data, err);
    if (status != CELLAR_OK && has_sidecar)
        unlink(file->sidecar_path);
    if (status != CELLAR_OK && has_csvw)
        unlink(file->csvw_path);
    return status;
}

cellar_status cellar_release_file_put(cellar_release_file *file, const cellar_sheet *sheet,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    char digest[CELLAR_DIGEST_TEXT];

    CELLAR_ASSERT(file->data != NULL);
    CELLAR_TRY(file_is_book(file->options.format) ? file_write_book(file, sheet, digest, err)
                                                  : file_write_data(file, sheet, digest, err));
    if (file->csvw != NULL)
        CELLAR_TRY(cellar_sheet_write(sheet, &file->options, file->csvw, err));
    if (file->sidecar != NULL)
        CELLAR_TRY(file_write_sidecar(file, sheet, digest, err));
    CELLAR_TRY(file_commit_all(file, err));
out:
    return status;
}

cellar_status cellar_release_file_write(cellar_release_file *file, const cellar_release *release,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    char *attachment = NULL;
    cellar_sheet sheet;

    if (release->facts.noise == CELLAR_NOISE_SEEDED)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "a simulation drawn from a seed is never written as a release");
    CELLAR_TRY(release_attachment(release, &attachment, err));
    sheet = release_sheet(release, attachment);
    CELLAR_TRY(cellar_release_file_put(file, &sheet, err));
out:
    cellar_free(attachment);
    return status;
}
