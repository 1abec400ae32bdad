/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/piece.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include <cellar/release_file.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/release.h"

enum { TABLES_MAX = 1 << 16, NAME_MAX_BYTES = 256 };

/* ---- reading -----------------------------------------------------------------------------------
 */

static cellar_status describe(piece_file *file, cellar_error *err)
{
    const char *certificate = cellar_release_certificate(file->release);
    const char *stamp = cellar_protection_level_stamp(cellar_release_level(file->release));
    cellar_text guarantee = {0}, origin = {0};
    serve_digest(certificate, strlen(certificate), file->id);
    cellar_promise_add("The released values of this table",
                       json_object_get(file->release->description, "certificate"), &guarantee);
    if (stamp != NULL)
        cellar_text_printf(&guarantee, " %s", stamp);
    cellar_text_printf(&origin, "Released on %s.", cellar_release_date(file->release));
    file->guarantee = guarantee.bytes;
    file->origin = origin.bytes;
    return guarantee.failed || origin.failed ? cellar_fail_memory(err, "a release") : CELLAR_OK;
}

cellar_status piece_file_read(const char *folder, const char *name, piece_file **out,
                              cellar_error *err)
{
    piece_file *file = cellar_alloc(1, sizeof *file);
    cellar_text path = {0};
    int is_checked;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    cellar_text_printf(&path, "%s/%s", folder, name);
    if (file != NULL)
        file->name = cellar_alloc(strlen(name) + 1, 1);
    if (file == NULL || file->name == NULL || path.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a release"));
    memcpy(file->name, name, strlen(name));
    CELLAR_TRY(cellar_release_read(path.bytes, CELLAR_TABLE_AUTO, &file->release, err));
    CELLAR_TRY(cellar_release_recertify(file->release, path.bytes, &is_checked, err));
    CELLAR_TRY(serve_noise_init(&file->noise, file->release, err));
    CELLAR_TRY(describe(file, err));
    *out = file;
    file = NULL;
out:
    piece_file_free(file);
    cellar_text_clear(&path);
    return status;
}

static void sides_free(piece_file *file)
{
    for (size_t s = 0; s < file->n_sides; s++)
        for (size_t l = 0; l <= CUBE_LEVELS_MAX; l++)
            cellar_free(file->sides[s].categories[l]);
    cellar_free(file->sides);
    file->sides = NULL;
    file->n_sides = 0;
}

void piece_file_free(piece_file *file)
{
    if (file == NULL)
        return;
    sides_free(file);
    cellar_free(file->tables);
    cellar_free(file->guarantee);
    cellar_free(file->origin);
    serve_noise_clear(&file->noise);
    cellar_release_free(file->release);
    cellar_free(file->name);
    cellar_free(file);
}

/* ---- its variables and categories --------------------------------------------------------------
 */

/* The position of each category of a level in the schema; NULL in *out when it lacks one. */
static cellar_status find_level(const cellar_schema *schema, size_t s, const serve_level *level,
                                uint32_t **out, cellar_error *err)
{
    uint32_t *found = cellar_alloc(level->n_categories, sizeof *found);
    *out = NULL;
    if (found == NULL)
        return cellar_fail_memory(err, "a release");
    for (size_t i = 0; i < level->n_categories; i++) {
        const char *code = level->categories[i].code;
        const size_t at = cellar_schema_find_code(schema, s, code, strlen(code));
        if (at == CELLAR_NO_CODE) {
            cellar_free(found);
            return CELLAR_OK;
        }
        found[i] = (uint32_t) at;
    }
    *out = found;
    return CELLAR_OK;
}

static uint32_t total_of(const cellar_schema *schema, size_t s)
{
    const size_t n = cellar_schema_n_categories(schema, s);
    const size_t n_leaves = cellar_schema_n_leaves(schema, s);
    size_t n_members;
    if (n == n_leaves)
        return UINT32_MAX;
    cellar_schema_members(schema, s, n - 1, &n_members); /* the total stands last */
    return n_members == n_leaves ? (uint32_t) n - 1 : UINT32_MAX;
}

/* A release of "region^1" has that level only; one of "region" has every level all of whose
 * categories it names. Its leaves are all categories of one of them. */
static cellar_status fit_side(piece_file *file, const serve_dataset *dataset, size_t s,
                              cellar_error *err)
{
    const cellar_schema *schema = cellar_release_schema(file->release);
    const char *name = cellar_schema_variable(schema, s);
    const size_t length = strcspn(name, "^");
    piece_side *side = &file->sides[s];
    const serve_variable *v;
    char code[NAME_MAX_BYTES];
    int has_leaves = 0;
    snprintf(code, sizeof code, "%.*s", (int) (length < sizeof code ? length : 0), name);
    v = serve_find_variable(dataset, code);
    if (v == NULL || v->is_constant)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the data set has no variable '%.200s'",
                           file->name, name);
    side->variable = (size_t) (v - dataset->variables);
    side->total = total_of(schema, s);
    for (size_t l = 1; l <= v->n_levels; l++) {
        cellar_status status = CELLAR_OK;
        if (name[length] == '\0' || strcmp(v->levels[l - 1].id, name) == 0)
            status = find_level(schema, s, &v->levels[l - 1], &side->categories[l], err);
        if (status != CELLAR_OK)
            return status;
        has_leaves |= side->categories[l] != NULL &&
                      v->levels[l - 1].n_categories == cellar_schema_n_leaves(schema, s);
    }
    return has_leaves ? CELLAR_OK
                      : cellar_fail(err, CELLAR_ERR_INPUT,
                                    "%s: its categories of '%.200s' are those of no level",
                                    file->name, name);
}

/* ---- its tables --------------------------------------------------------------------------------
 */

static cellar_status add_table(piece_file *file, size_t *room, const serve_table *table,
                               cellar_error *err)
{
    if (file->n_tables == TABLES_MAX)
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: it holds more than %d tables", file->name,
                           TABLES_MAX);
    if (!cellar_grow(&file->tables, room, file->n_tables + 1, sizeof *file->tables))
        return cellar_fail_memory(err, "a release");
    file->tables[file->n_tables++] = *table;
    return CELLAR_OK;
}

/* All tables of a margin: each kept variable at each level that the release has. */
static cellar_status add_margin(piece_file *file, uint64_t mask, size_t s, size_t *room,
                                serve_table *table, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (s == file->n_sides)
        return add_table(file, room, table, err);
    if (!(mask >> s & 1))
        return file->sides[s].total == UINT32_MAX ? CELLAR_OK
                                                  : add_margin(file, mask, s + 1, room, table, err);
    for (size_t l = 1; status == CELLAR_OK && l <= CUBE_LEVELS_MAX; l++)
        if (file->sides[s].categories[l] != NULL) {
            table->levels[file->sides[s].variable] = (unsigned char) l;
            status = add_margin(file, mask, s + 1, room, table, err);
        }
    table->levels[file->sides[s].variable] = 0;
    return status;
}

cellar_status piece_file_fit(piece_file *file, const serve_dataset *dataset, cellar_error *err)
{
    const cellar_schema *schema = cellar_release_schema(file->release);
    size_t n_margins, room = 0;
    const uint64_t *margins = cellar_schema_margins(schema, &n_margins);
    serve_table table = {{0}};
    cellar_status status = CELLAR_OK;
    file->n_sides = cellar_schema_n_variables(schema);
    file->sides = cellar_alloc(file->n_sides, sizeof *file->sides);
    if (file->sides == NULL) {
        file->n_sides = 0;
        return cellar_fail_memory(err, "a release");
    }
    for (size_t s = 0; s < file->n_sides; s++) {
        CELLAR_TRY(fit_side(file, dataset, s, err));
        for (size_t r = 0; r < s; r++)
            if (file->sides[r].variable == file->sides[s].variable)
                CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: two variables are levels of one",
                                       file->name));
    }
    for (size_t m = 0; m < n_margins; m++)
        CELLAR_TRY(add_margin(file, margins[m], 0, &room, &table, err));
out:
    if (status != CELLAR_OK)
        sides_free(file);
    return status;
}
