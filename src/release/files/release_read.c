/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/release_file.h>

#include "base/error.h"
#include "release/files/description.h"
#include "release/files/numbers_read.h"
#include "release/files/release_file.h"
#include "table/formats/extension.h"

static cellar_status read_release(const char *name, cellar_numbers *numbers, cellar_release **out,
                                  cellar_error *err)
{
    cellar_description_prune(numbers->description);
    return cellar_release_create(numbers->loaded.schema, &numbers->loaded.built.cells,
                                 numbers->description, name, out, err);
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
    CELLAR_TRY(cellar_extension_begin(&source, sidecar, &loaded, err));
    cellar_description_prune(sidecar);
    CELLAR_TRY(cellar_release_create(loaded.schema, &loaded.built.cells, sidecar, path, out, err));
out:
    cellar_loaded_clear(&loaded);
    return status;
}

cellar_status cellar_release_parse(const cellar_source *source, const char *beside, size_t length,
                                   cellar_release **out, cellar_error *err)
{
    cellar_numbers numbers;
    cellar_status status = cellar_numbers_parse(source, beside, length, &numbers, err);
    *out = NULL;
    if (status == CELLAR_OK)
        status = read_release(source->name, &numbers, out, err);
    cellar_numbers_clear(&numbers);
    return status;
}

cellar_status cellar_release_read(const char *path, cellar_table_format format,
                                  cellar_release **out, cellar_error *err)
{
    cellar_numbers numbers;
    cellar_status status = cellar_numbers_read(path, format, CELLAR_SHEET_RELEASE, &numbers, err);
    *out = NULL;
    if (status == CELLAR_OK)
        status = read_release(path, &numbers, out, err);
    cellar_numbers_clear(&numbers);
    return status;
}
