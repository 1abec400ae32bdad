/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of a cube (docs/file-formats.md): 32 bytes that say what it is, a heading in JSON, and
 * the values as 64-bit numbers, little-endian, where readers can map them. */
#include "cube/file.h"

#include <string.h>

#include "base/error.h"
#include "data/codelist.h"
#include "release/files/digest.h"
#include "table/formats/extension.h"

static json_t *variable_json(const cube_variable *v)
{
    cellar_text list = {0};
    json_t *out;
    cellar_codelist_add_text(v->codelist, &list);
    out = list.failed ? NULL
                      : json_pack("{s:s, s:s, s:b, s:s#}", "name", v->name, "domain",
                                  cellar_domain_name(v->domain), "levels", v->axis.n_levels > 1,
                                  "codelist", list.bytes, (int) list.length);
    cellar_text_clear(&list);
    return out;
}

static json_t *table_json(const cellar_cube *cube, size_t t)
{
    const cube_space *space = &cube->lattice.spaces[t];
    const cube_measure *measure = &cube->tables[t];
    json_t *by = json_array(), *levels = json_array(), *out;
    int failed = 0;
    for (size_t i = 0; i < space->order; i++) {
        failed |= json_array_append_new(by, json_integer(space->variable[i]));
        failed |= json_array_append_new(levels, json_integer(space->level[i]));
    }
    out = json_pack("{s:o, s:o, s:s}", "by", by, "levels", levels, "digest", measure->digest);
    if (measure->mechanism != NULL) {
        failed |= json_object_set_new(out, "mechanism", json_string(measure->mechanism));
        failed |= json_object_set_new(out, "variance", json_real(measure->variance));
    }
    if (failed == 0)
        return out;
    json_decref(out);
    return NULL;
}

json_t *cellar_cube_heading(const cellar_cube *cube)
{
    json_t *variables = json_array(), *tables = json_array();
    int failed = 0;
    for (size_t v = 0; v < cube->n_variables; v++)
        failed |= json_array_append_new(variables, variable_json(&cube->variables[v]));
    for (size_t t = 0; t < cube->lattice.n; t++)
        failed |= json_array_append_new(tables, table_json(cube, t));
    if (failed != 0) {
        json_decref(variables);
        json_decref(tables);
        return NULL;
    }
    return json_pack("{s:s, s:i, s:i, s:o, s:o, s:O}", "kind", "cube", "version", CUBE_FILE_VERSION,
                     "decimals", cube->decimals, "variables", variables, "tables", tables,
                     "description", cube->description);
}

cellar_status cellar_cube_table_digest(const cellar_cube *cube, uint32_t table,
                                       char out[CUBE_DIGEST_TEXT], cellar_error *err)
{
    const cube_measure *measure = &cube->tables[table];
    const size_t bytes = (size_t) cube->lattice.n_cells[table] * sizeof(int64_t);
    cellar_digest *digest = NULL;
    cellar_status status = cellar_digest_create(&digest, err);
    if (status == CELLAR_OK && measure->measured != NULL)
        cellar_digest_add(digest, measure->measured, bytes);
    if (status == CELLAR_OK) {
        cellar_digest_add(digest, measure->values, bytes);
        status = cellar_digest_finish(digest, out, err);
    }
    cellar_digest_free(digest);
    return status;
}

/* The heading, filled up with blanks so that what follows lies on a multiple of eight bytes. */
static cellar_status write_heading(const cellar_cube *cube, cellar_output *output,
                                   cellar_error *err)
{
    json_t *heading = json_pack("{s:o}", "cellar", cellar_cube_heading(cube));
    char *text = heading != NULL ? cellar_json_text(heading, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    cube_file_start start = {.version = CUBE_FILE_VERSION};
    json_decref(heading);
    if (text == NULL)
        return cellar_fail_memory(err, "a cube");
    memcpy(start.mark, CUBE_FILE_MARK, sizeof start.mark);
    start.heading_length = strlen(text);
    start.values_start = (sizeof start + start.heading_length + CUBE_FILE_ALIGN - 1) /
                         CUBE_FILE_ALIGN * CUBE_FILE_ALIGN;
    cellar_output_write(output, &start, sizeof start);
    cellar_output_write(output, text, start.heading_length);
    for (size_t at = sizeof start + start.heading_length; at < start.values_start; at++)
        cellar_output_write(output, " ", 1);
    cellar_free(text);
    return CELLAR_OK;
}

cellar_status cellar_cube_write(cellar_cube *cube, cellar_output *output, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (!cellar_cube_file_fits_machine())
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "cubes are written and read on little-endian machines only");
    for (size_t t = 0; t < cube->lattice.n; t++)
        CELLAR_TRY(cellar_cube_table_digest(cube, (uint32_t) t, cube->tables[t].digest, err));
    CELLAR_TRY(write_heading(cube, output, err));
    for (size_t t = 0; t < cube->lattice.n; t++) {
        const size_t bytes = (size_t) cube->lattice.n_cells[t] * sizeof(int64_t);
        if (cube->tables[t].measured != NULL)
            cellar_output_write(output, cube->tables[t].measured, bytes);
        cellar_output_write(output, cube->tables[t].values, bytes);
    }
out:
    return status;
}
