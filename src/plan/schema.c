/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { FIELDS_MAX = 32, ITEMS_MAX = 4096 };

/* ---- what goes wrong ------------------------------------------------------------------ */

cellar_status cellar_plan_fail_node(plan_reading *r, const plan_node *node, const char *expected)
{
    return cellar_fail(r->err, CELLAR_ERR_INPUT, "%s:%zu: %s: expected %s", r->name, node->line,
                       r->path.failed || r->path.length == 0 ? "the plan" : r->path.bytes,
                       expected);
}

cellar_status cellar_plan_fail(const char *name, const plan_place *place, const char *key,
                               cellar_error *err, const char *format, ...)
{
    char what[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%zu: %s%s%s: %s", name, place->line,
                       place->path != NULL ? place->path : "",
                       place->path != NULL && key != NULL ? "." : "", key != NULL ? key : "", what);
}

static cellar_status fail_unknown(plan_reading *r, const plan_node *node, const plan_field *fields)
{
    const char *keys[FIELDS_MAX + 1] = {0}, *nearest;
    for (size_t i = 0; fields[i].key != NULL && i < FIELDS_MAX; i++)
        keys[i] = fields[i].key;
    nearest = cellar_nearest_word(node->key, keys);
    return cellar_fail(r->err, CELLAR_ERR_INPUT, "%s:%zu: %s%sthere is no '%.60s' here%s%s%s",
                       r->name, node->line, r->path.length > 0 ? r->path.bytes : "",
                       r->path.length > 0 ? ": " : "", node->key,
                       nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "'?" : "");
}

/* ---- the path of what is read --------------------------------------------------------- */

static size_t path_enter(plan_reading *r, const char *key)
{
    size_t length = r->path.length;
    cellar_text_printf(&r->path, "%s%s", length > 0 ? "." : "", key);
    return length;
}

static size_t path_enter_item(plan_reading *r, size_t number)
{
    size_t length = r->path.length;
    cellar_text_printf(&r->path, "[%zu]", number);
    return length;
}

static void path_leave(plan_reading *r, size_t length)
{
    r->path.length = length;
    if (r->path.bytes != NULL)
        r->path.bytes[length] = '\0';
}

/* ---- single values -------------------------------------------------------------------- */

static cellar_status need_text(plan_reading *r, const plan_node *node, const char *expected)
{
    return node->kind == PLAN_NODE_TEXT && node->text[0] != '\0'
               ? CELLAR_OK
               : cellar_plan_fail_node(r, node, expected);
}

static cellar_status read_text(plan_reading *r, const plan_node *node, const char **out)
{
    cellar_status status = need_text(r, node, "a text");
    for (const char *c = node->text; status == CELLAR_OK && *c != '\0'; c++)
        if ((unsigned char) *c < 0x20 || *c == 0x7f)
            status = cellar_plan_fail_node(r, node, "a text of one line");
    *out = node->text;
    return status;
}

static cellar_status read_file(plan_reading *r, const plan_node *node, const char **out)
{
    cellar_status status = read_text(r, node, out);
    size_t folder = strlen(r->folder), length;
    char *path;
    if (status != CELLAR_OK || node->text[0] == '/' || folder == 0)
        return status;
    length = strlen(node->text);
    path = cellar_arena_alloc(r->arena, folder + length + 1, 1);
    if (path == NULL)
        return cellar_fail_memory(r->err, "a plan");
    memcpy(path, r->folder, folder);
    memcpy(path + folder, node->text, length);
    *out = path;
    return CELLAR_OK;
}

static cellar_status read_decimal(plan_reading *r, const plan_node *node, int above_zero,
                                  const char **out)
{
    const char *expected = above_zero ? "a positive decimal" : "a decimal number";
    cellar_int128 value;
    int exact;
    cellar_status status = need_text(r, node, expected);
    if (status != CELLAR_OK)
        return status;
    if (strlen(node->text) > 40 ||
        !cellar_parse_decimal(node->text, strlen(node->text), 18, &value, &exact) ||
        (above_zero && (node->text[0] == '-' || (value == 0 && exact))))
        return cellar_plan_fail_node(r, node, expected);
    *out = node->text;
    return CELLAR_OK;
}

static cellar_status read_count(plan_reading *r, const plan_node *node, uint64_t *out)
{
    cellar_status status = need_text(r, node, "a whole number of at least 1");
    if (status == CELLAR_OK &&
        (!cellar_parse_u64(node->text, strlen(node->text), out) || *out == 0 || *out > INT64_MAX))
        status = cellar_plan_fail_node(r, node, "a whole number of at least 1");
    return status;
}

static cellar_status read_truth(plan_reading *r, const plan_node *node, int *out)
{
    static const char *const words[] = {"true", "yes", "false", "no"};
    cellar_status status = need_text(r, node, "true or false");
    for (size_t i = 0; status == CELLAR_OK && i < 4; i++)
        if (strcmp(node->text, words[i]) == 0) {
            *out = i < 2 ? 1 : 2;
            return CELLAR_OK;
        }
    return status == CELLAR_OK ? cellar_plan_fail_node(r, node, "true or false") : status;
}

static cellar_status read_choice(plan_reading *r, const plan_node *node, const char *words,
                                 int *out)
{
    char expected[200];
    size_t length = node->kind == PLAN_NODE_TEXT ? strlen(node->text) : 0;
    int position = 1;
    for (const char *word = words; length > 0; position++) {
        size_t n = strcspn(word, "|");
        if (n == length && memcmp(word, node->text, n) == 0) {
            *out = position;
            return CELLAR_OK;
        }
        if (word[n] == '\0')
            break;
        word += n + 1;
    }
    snprintf(expected, sizeof expected, "one of %s", words);
    return cellar_plan_fail_node(r, node, expected);
}

/* ---- several -------------------------------------------------------------------------- */

static cellar_status read_texts(plan_reading *r, const plan_node *node, plan_list *out)
{
    const char **items;
    size_t n = 0;
    cellar_status status = CELLAR_OK;
    if (node->kind == PLAN_NODE_MAP || node->n > ITEMS_MAX)
        return cellar_plan_fail_node(r, node, "a list of texts");
    items = cellar_arena_alloc(r->arena, node->kind == PLAN_NODE_LIST ? node->n : 1, sizeof *items);
    if (items == NULL)
        return cellar_fail_memory(r->err, "a plan");
    if (node->kind == PLAN_NODE_TEXT)
        status = read_text(r, node, &items[n++]);
    for (const plan_node *item = node->kind == PLAN_NODE_LIST ? node->first : NULL;
         item != NULL && status == CELLAR_OK; item = item->next) {
        size_t length = path_enter_item(r, n + 1);
        status = read_text(r, item, &items[n++]);
        path_leave(r, length);
    }
    *out = (plan_list){items, n};
    return status;
}

static cellar_status read_maps(plan_reading *r, const plan_node *node, const plan_field *field,
                               plan_list *out)
{
    char *items;
    cellar_status status = CELLAR_OK;
    if (node->kind != PLAN_NODE_LIST || node->n == 0 || node->n > ITEMS_MAX)
        return cellar_plan_fail_node(r, node, "a list, each item beginning with '- '");
    items = cellar_arena_alloc(r->arena, node->n, field->size);
    if (items == NULL)
        return cellar_fail_memory(r->err, "a plan");
    out->items = items;
    for (const plan_node *item = node->first; item != NULL; item = item->next) {
        size_t length = path_enter_item(r, out->n + 1);
        plan_place *place = (plan_place *) (void *) (items + out->n * field->size);
        place->line = item->line;
        if (!r->path.failed)
            place->path = cellar_arena_copy(r->arena, r->path.bytes, r->path.length);
        if (place->path == NULL)
            return cellar_fail_memory(r->err, "a plan");
        CELLAR_TRY(cellar_plan_read_map(r, item, field->fields, place));
        path_leave(r, length);
        out->n++;
    }
out:
    return status;
}

static cellar_status read_field(plan_reading *r, const plan_node *node, const plan_field *field,
                                char *out)
{
    void *at = out + field->offset;
    switch (field->kind) {
    case PLAN_TEXT:
        return read_text(r, node, at);
    case PLAN_FILE:
        return read_file(r, node, at);
    case PLAN_DECIMAL:
        return read_decimal(r, node, 1, at);
    case PLAN_NUMBER:
        return read_decimal(r, node, 0, at);
    case PLAN_COUNT:
        return read_count(r, node, at);
    case PLAN_TRUTH:
        return read_truth(r, node, at);
    case PLAN_CHOICE:
        return read_choice(r, node, field->words, at);
    case PLAN_TEXTS:
        return read_texts(r, node, at);
    case PLAN_MAP:
        return cellar_plan_read_map(r, node, field->fields, at);
    case PLAN_ANY:
        *(const plan_node **) at = node;
        return CELLAR_OK;
    case PLAN_MAPS:
        break;
    }
    return read_maps(r, node, field, at);
}

cellar_status cellar_plan_read_map(plan_reading *r, const plan_node *map, const plan_field *fields,
                                   void *out)
{
    unsigned char given[FIELDS_MAX] = {0};
    cellar_status status = CELLAR_OK;
    if (map->kind != PLAN_NODE_MAP)
        return cellar_plan_fail_node(r, map, "'name: value' lines");
    for (const plan_node *node = map->first; node != NULL; node = node->next) {
        size_t i = 0, length;
        while (fields[i].key != NULL && strcmp(fields[i].key, node->key) != 0)
            i++;
        if (fields[i].key == NULL)
            return fail_unknown(r, node, fields);
        length = path_enter(r, fields[i].key);
        if (r->path.failed)
            return cellar_fail_memory(r->err, "a plan");
        CELLAR_TRY(read_field(r, node, &fields[i], out));
        path_leave(r, length);
        given[i] = 1;
    }
    for (size_t i = 0; fields[i].key != NULL; i++)
        if (fields[i].required && !given[i])
            return cellar_fail(r->err, CELLAR_ERR_INPUT, "%s:%zu: %s%s'%s' is missing", r->name,
                               map->line, r->path.length > 0 ? r->path.bytes : "",
                               r->path.length > 0 ? ": " : "", fields[i].key);
out:
    return status;
}
