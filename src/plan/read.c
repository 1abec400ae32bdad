/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a plan, by the tables of fields.c. */
#include "plan/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/error.h"
#include "base/file.h"

enum { PLAN_BYTES_MAX = 1 << 20, PLAN_ARENA_BYTES = 1 << 26 };

/* ---- life cycle ------------------------------------------------------------------------ */

static void plan_digest(cellar_plan *plan, const char *bytes, size_t length)
{
    unsigned char hash[(CELLAR_PLAN_DIGEST_TEXT - 1) / 2];
    crypto_generichash(hash, sizeof hash, (const unsigned char *) bytes, length, NULL, 0);
    sodium_bin2hex(plan->digest, sizeof plan->digest, hash, sizeof hash);
}

cellar_status cellar_plan_parse_text(const char *name, const char *folder, const char *bytes,
                                     size_t length, cellar_plan **out, cellar_error *err)
{
    plan_reading reading = {.name = name, .folder = folder != NULL ? folder : "", .err = err};
    cellar_plan *plan = NULL;
    plan_node *tree = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (length > PLAN_BYTES_MAX)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: larger than any plan is", name);
    plan = cellar_alloc(1, sizeof *plan);
    if (plan != NULL)
        plan->arena = cellar_arena_create(PLAN_ARENA_BYTES);
    if (plan == NULL || plan->arena == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a plan"));
    reading.arena = plan->arena;
    plan_digest(plan, bytes, length);
    plan->name = cellar_arena_copy(plan->arena, name, strlen(name));
    if (plan->name == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a plan"));
    CELLAR_TRY(cellar_plan_yaml_parse(name, bytes, length, plan->arena, &tree, err));
    plan->tree = tree;
    CELLAR_TRY(cellar_plan_read_map(&reading, tree, cellar_plan_fields, plan));
    if (plan->version != 1)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s:%zu: plan: this program reads plans of version 1", name,
                               tree->line));
    CELLAR_TRY(cellar_plan_resolve(plan, err));
    *out = plan;
    plan = NULL;
out:
    cellar_text_clear(&reading.path);
    cellar_plan_free(plan);
    return status;
}

cellar_status cellar_plan_parse(const char *name, const char *folder, const char *bytes,
                                size_t length, cellar_plan **out, cellar_error *err)
{
    cellar_status status = cellar_plan_parse_text(name, folder, bytes, length, out, err);
    if (status == CELLAR_OK)
        status = cellar_plan_load(*out, err);
    if (status != CELLAR_OK) {
        cellar_plan_free(*out);
        *out = NULL;
    }
    return status;
}

cellar_status cellar_plan_read(const char *path, cellar_plan **out, cellar_error *err)
{
    const char *slash = strrchr(path, '/');
    cellar_text folder = {0};
    char *bytes = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (slash != NULL)
        cellar_text_add(&folder, path, (size_t) (slash - path) + 1);
    if (folder.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a plan"));
    CELLAR_TRY(cellar_file_read(path, PLAN_BYTES_MAX, &bytes, &length, err));
    CELLAR_TRY(cellar_plan_parse(path, folder.bytes, bytes, length, out, err));
out:
    cellar_free(bytes);
    cellar_text_clear(&folder);
    return status;
}

void cellar_plan_unload(cellar_plan *plan)
{
    for (size_t v = 0; v < plan->variables.n; v++) {
        cellar_codelist_free(plan_variable_at(plan, v)->codelist);
        cellar_recode_map_free(plan_variable_at(plan, v)->map);
    }
}

void cellar_plan_free(cellar_plan *plan)
{
    if (plan == NULL)
        return;
    cellar_plan_unload(plan);
    cellar_arena_free(plan->arena);
    cellar_free(plan);
}

/* ---- where ------------------------------------------------------------------------------ */

size_t cellar_plan_line(const cellar_plan *plan, const char *path)
{
    const plan_node *node = plan->tree;
    size_t line = node->line;
    while (*path != '\0') {
        const size_t length = strcspn(path, ".");
        for (node = node->first; node != NULL; node = node->next)
            if (node->key != NULL && strncmp(node->key, path, length) == 0 &&
                node->key[length] == '\0')
                break;
        if (node == NULL)
            break;
        line = node->line;
        path += length + (path[length] == '.');
    }
    return line;
}

cellar_status cellar_plan_fail_at(const cellar_plan *plan, const char *path, cellar_error *err,
                                  const char *format, ...)
{
    const plan_place place = {cellar_plan_line(plan, path), NULL};
    char what[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return cellar_plan_fail(plan->name, &place, path, err, "%s", what);
}

/* ---- queries ---------------------------------------------------------------------------- */

const char *cellar_plan_title(const cellar_plan *plan)
{
    return plan->title;
}

size_t cellar_plan_n_tables(const cellar_plan *plan)
{
    return plan->tables.n;
}

const char *cellar_plan_table_name(const cellar_plan *plan, size_t table)
{
    return plan_table_at(plan, table)->name;
}

const char *cellar_plan_folder(const cellar_plan *plan)
{
    return plan->outputs.folder;
}

const char *cellar_plan_cube_file(const cellar_plan *plan)
{
    return plan->universe.file;
}
