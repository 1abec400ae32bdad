/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/release_file.h>

#include "release/files/description.h"
#include "release/files/numbers_read.h"

static cellar_status read_release(const char *name, cellar_numbers *numbers, cellar_release **out,
                                  cellar_error *err)
{
    cellar_description_prune(numbers->description);
    return cellar_release_create(numbers->loaded.schema, &numbers->loaded.built.cells,
                                 numbers->description, name, out, err);
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
