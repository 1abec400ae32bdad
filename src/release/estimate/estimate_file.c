/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates in files: the same writers and readers as releases have. */
#include "base/error.h"
#include "base/memory.h"
#include "release/estimate/estimate.h"
#include "release/files/digest.h"
#include "release/files/release_file.h"
#include "table/formats/extension.h"

static cellar_sheet_cell estimate_sheet_value(const void *source, size_t position)
{
    const cellar_estimate *estimate = source;
    const cellar_cells *cells = &estimate->cells;
    return (cellar_sheet_cell){.index = cells->index[position],
                               .value = (int64_t) cells->count[position],
                               .se = cells->key != NULL ? (int64_t) cells->key[position] : 0,
                               .status = cells->status != NULL
                                             ? (cellar_cell_status) cells->status[position]
                                             : CELLAR_CELL_NORMAL};
}

static cellar_sheet_cell estimate_sheet_whole(const void *source, size_t position)
{
    const cellar_estimate *estimate = source;
    return (cellar_sheet_cell){.index = estimate->cells.index[position],
                               .value = estimate->whole[position]};
}

static cellar_sheet estimate_sheet(const cellar_estimate *estimate, cellar_estimate_view view)
{
    const int whole = view == CELLAR_ESTIMATE_WHOLE;
    return (cellar_sheet){.schema = estimate->schema,
                          .kind = whole ? CELLAR_SHEET_FIT : CELLAR_SHEET_ESTIMATE,
                          .decimals = whole ? 0 : estimate->decimals,
                          .with_errors = !whole && estimate->cells.key != NULL,
                          .stamp = cellar_protection_level_stamp(estimate->level),
                          .n_cells = estimate->cells.n,
                          .source = estimate,
                          .cell = whole ? estimate_sheet_whole : estimate_sheet_value};
}

/* The digest of what a reader will have. */
static cellar_status estimate_digest(const cellar_estimate *estimate, const cellar_sheet *sheet,
                                     char out[CELLAR_DIGEST_TEXT], cellar_error *err)
{
    cellar_cells cells = estimate->cells;
    cells.status = NULL;
    if (sheet->kind == CELLAR_SHEET_FIT) {
        cells.count = (uint64_t *) estimate->whole;
        cells.key = NULL;
    }
    return cellar_digest_cells(&cells, out, err);
}

cellar_status cellar_estimate_write(const cellar_estimate *estimate, cellar_estimate_view view,
                                    cellar_release_file *file, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_sheet sheet = estimate_sheet(estimate, view);
    char digest[CELLAR_DIGEST_TEXT], *attachment = NULL;
    json_t *all = json_copy(estimate->description);

    if (view == CELLAR_ESTIMATE_WHOLE && estimate->whole == NULL)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT, "this estimate has no whole numbers"));
    CELLAR_TRY(estimate_digest(estimate, &sheet, digest, err));
    if (json_object_set_new(all, "cells_sha256", json_string(digest)) == 0)
        attachment = cellar_json_text(all, JSON_COMPACT);
    if (attachment == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the description of an estimate"));
    sheet.attachment = attachment;
    CELLAR_TRY(cellar_release_file_put(file, &sheet, err));
out:
    cellar_free(attachment);
    json_decref(all);
    return status;
}

cellar_status cellar_estimate_parse(const cellar_source *source, const char *beside, size_t length,
                                    cellar_estimate **out, cellar_error *err)
{
    cellar_numbers numbers;
    cellar_status status = cellar_numbers_parse(source, beside, length, &numbers, err);
    *out = NULL;
    if (status == CELLAR_OK)
        status = cellar_estimate_of_numbers(source->name, &numbers, out, err);
    cellar_numbers_clear(&numbers);
    return status;
}

cellar_status cellar_estimate_read(const char *path, cellar_table_format format,
                                   cellar_estimate **out, cellar_error *err)
{
    cellar_numbers numbers;
    cellar_status status = cellar_numbers_read(path, format, CELLAR_SHEET_ESTIMATE, &numbers, err);
    *out = NULL;
    if (status == CELLAR_OK)
        status = cellar_estimate_of_numbers(path, &numbers, out, err);
    cellar_numbers_clear(&numbers);
    return status;
}

cellar_status cellar_sidecar_estimate(const char *path, json_t *sidecar, cellar_estimate **out,
                                      cellar_error *err)
{
    const cellar_table_read_options options = {.format = CELLAR_TABLE_SDMX};
    const cellar_source source = {
        .name = path, .bytes = "", .options = &options, .kind = CELLAR_SHEET_ESTIMATE};
    cellar_numbers numbers = {.description = json_incref(sidecar)};
    cellar_status status = cellar_extension_begin(&source, sidecar, &numbers.loaded, err);
    *out = NULL;
    if (status == CELLAR_OK)
        status = cellar_estimate_of_numbers(path, &numbers, out, err);
    cellar_numbers_clear(&numbers);
    return status;
}
